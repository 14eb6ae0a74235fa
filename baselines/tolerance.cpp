#include "baselines/tolerance.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "kernels/case/rounding.hpp"

namespace hilbench {
namespace {

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double size_of_lse(const RowScale& row) {
  return std::max(row.exact_lse, 1.0);
}

}  // namespace

PlainErrors plain_errors(const ReferenceRow& plain, const ReferenceRow& exact) {
  PlainErrors errors;
  for (std::size_t i = 0; i < exact.o.size(); ++i) {
    const double error = std::abs(exact.o[i] - plain.o[i]);
    errors.o = std::max(errors.o, error);
    errors.square_o += error * error;
  }
  if (std::isfinite(exact.lse)) errors.lse = std::abs(exact.lse - plain.lse);
  return errors;
}

RowScale row_scale(const ReferenceRow& exact, const PlainErrors& plain) {
  RowScale scale{.plain = plain,
                 .size_o = exact.o_size,
                 .lost = exact.lost,
                 .score_o = exact.score_o,
                 .score_lse = exact.score_lse};
  for (const double value : exact.o) {
    scale.size_o = std::max(scale.size_o, std::abs(value));
    scale.exact_square += value * value;
  }
  if (std::isfinite(exact.lse)) scale.exact_lse = std::abs(exact.lse);
  return scale;
}

double lse_roundings(const Case& work) {
  return static_cast<double>(8 + 2 * std::ssize(work.pattern) * work.ring_size);
}

RowTolerances::RowTolerances(const Case& work, std::span<const RowScale> rows)
    : unit_(unit_roundoff(work.dtype)),
      lse_roundings_(lse_roundings(work)),
      score_unit_(2 * std::sqrt(static_cast<double>(work.head_dim)) * unit_roundoff(Dtype::fp32)) {
  std::vector<double> o, lse;
  double square = 0, size = 0, largest_score = 0;
  for (const RowScale& row : rows) {
    if (row.size_o > 0) {  // some branch covers it
      o.push_back(row.plain.o / row.size_o);
      lse.push_back(row.plain.lse / size_of_lse(row));
    }
    square += row.plain.square_o;
    size += row.exact_square;
    largest_score = std::max(largest_score, row.exact_lse);
  }
  median_o_ = median_of(std::move(o));
  median_lse_ = median_of(std::move(lse));
  const double rounding = work.dtype == Dtype::fp32 ? unit_ : unit_ / 2;  // the largest; here rows average it
  relative_ = 4 * (rounding + unit_roundoff(Dtype::fp32) * largest_score) +
              (size > 0 ? 2 * std::sqrt(square / size) : 0);
}

double RowTolerances::o(const RowScale& row) const {
  return 2 * std::max(row.plain.o, median_o_ * row.size_o) +
         4 * (unit_ + unit_roundoff(Dtype::fp32) * row.exact_lse) * row.size_o + score_unit_ * row.score_o +
         2 * row.lost * row.size_o;
}

double RowTolerances::lse(const RowScale& row) const {
  const double size = size_of_lse(row);
  return 2 * std::max(row.plain.lse, median_lse_ * size) +
         lse_roundings_ * unit_roundoff(Dtype::fp32) * size + unit_ / 32 + score_unit_ * row.score_lse +
         2 * row.lost;
}

}  // namespace hilbench
