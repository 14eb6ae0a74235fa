#include "baselines/tolerance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "kernels/case/rounding.hpp"

namespace hilbench {
namespace {

// What other terms than the roundings of the dtype may reach, of the largest |O| of a row.
constexpr double kMostOfRow = 0.5;

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double square_of(double value) {
  return value * value;
}

double size_of_lse(const RowScale& row) {
  return std::max(row.exact_lse, 1.0);
}

std::int64_t partial_results(const Case& work) {
  return std::ssize(work.pattern) * work.ring_size;
}

// In roundings of fp32, what roundings of scores and sums do to an O of this size; `spread` likewise.
double moved_o(const RowScale& row, double size, double spread, bool merged) {
  return size_of_lse(row) * (merged ? size : std::min(size, spread)) + std::sqrt(row.kept) * size / 2;
}

PlainError plain_error(std::span<const double> o, double lse, const ReferenceRow& exact) {
  PlainError error;
  for (std::size_t i = 0; i < exact.o.size(); ++i) {
    const double apart = std::abs(exact.o[i] - o[i]);
    if (!std::isfinite(apart)) return {.overflows = true};
    error.o = std::max(error.o, apart);
    error.square_o += apart * apart;
  }
  if (!std::isfinite(exact.lse)) return error;
  if (!std::isfinite(lse)) return {.overflows = true};
  error.lse = std::abs(exact.lse - lse);
  return error;
}

}  // namespace

PlainErrors plain_errors(const ReferenceRow& plain, const ReferenceRow& exact) {
  PlainErrors errors{plain_error(plain.o, plain.lse, exact), {}};
  errors.stored = plain.stored_o.empty() ? errors : plain_error(plain.stored_o, plain.stored_lse, exact);
  return errors;
}

RowScale row_scale(const ReferenceRow& exact, const PlainErrors& plain) {
  RowScale scale{.plain = plain,
                 .lost = exact.lost,
                 .kept = exact.kept,
                 .square_p = exact.square_p,
                 .score_o = exact.score_o,
                 .score_lse = exact.score_lse,
                 .spread = exact.spread,
                 .square_spread = exact.square_spread,
                 .underflow = exact.underflow};
  for (const double value : exact.o) {
    scale.largest_o = std::max(scale.largest_o, std::abs(value));
    scale.exact_square += value * value;
  }
  scale.size_o = std::max(scale.largest_o, exact.o_size);
  if (std::isfinite(exact.lse)) scale.exact_lse = std::abs(exact.lse);
  return scale;
}

bool fp32_holds_lse(const RowScale& row) {
  return row.exact_lse <= std::numeric_limits<float>::max();
}

double lse_roundings(const Case& work) {
  return static_cast<double>(8 + 2 * partial_results(work));
}

RowTolerances::RowTolerances(const Case& work, std::span<const RowScale> rows, Scores scores)
    : scores_(scores),
      merged_(partial_results(work) > 1),
      unit_(unit_roundoff(work.dtype)),
      underflow_(underflow_error(work.dtype)),
      lse_roundings_(lse_roundings(work)),
      score_unit_(2 * std::sqrt(static_cast<double>(work.head_dim)) * unit_roundoff(Dtype::fp32)) {
  std::vector<double> o, lse;
  double square = 0, moved = 0, size = 0;
  for (const RowScale& row : rows) {
    const PlainError error = plain(row);
    if (row.size_o > 0 && !error.overflows) {  // some branch covers it
      o.push_back(error.o / row.size_o);
      lse.push_back(error.lse / size_of_lse(row));
    }
    square += error.square_o;
    moved += square_of(moved_o(row, std::sqrt(row.exact_square), std::sqrt(row.square_spread), merged_));
    size += row.exact_square;
  }
  median_o_ = median_of(std::move(o));
  median_lse_ = median_of(std::move(lse));
  const double rounding = work.dtype == Dtype::fp32 ? unit_ : unit_ / 2;  // the largest; here rows average it
  relative_ = 4 * rounding;
  if (size > 0)
    relative_ += 4 * unit_roundoff(Dtype::fp32) * std::sqrt(moved / size) + 2 * std::sqrt(square / size);
  relative_ = std::min(relative_, kMostOfRow);
}

PlainError RowTolerances::plain(const RowScale& row) const {
  return scores_ == Scores::stored && !row.plain.stored.overflows ? row.plain.stored : row.plain;
}

double RowTolerances::o(const RowScale& row) const {
  const double plain_part = 2 * std::max(plain(row).o, median_o_ * row.size_o);
  const double score_part = 4 * unit_roundoff(Dtype::fp32) * moved_o(row, row.size_o, row.spread, merged_) +
                            score_unit_ * row.score_o + 2 * row.lost * row.size_o;
  const double most = kMostOfRow * row.largest_o;
  return 4 * unit_ * row.size_o + row.underflow + underflow_ +
         (scores_ == Scores::stored ? plain_part + std::min(score_part, most)
                                    : std::min(plain_part + score_part, most));
}

double RowTolerances::lse(const RowScale& row) const {
  const double size = size_of_lse(row);
  return 2 * std::max(plain(row).lse, median_lse_ * size) +
         lse_roundings_ * unit_roundoff(Dtype::fp32) * size + unit_ / 32 +
         unit_ / 2 * std::sqrt(row.square_p) + score_unit_ * row.score_lse + 2 * row.lost;
}

}  // namespace hilbench
