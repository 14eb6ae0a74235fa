#include "baselines/gradient_tolerance.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "baselines/tolerance.hpp"
#include "kernels/case/rounding.hpp"

namespace hilbench {
namespace {

constexpr double kMostRelative = 0.5;

}  // namespace

GradientScale gradient_scale(const GradientRow& exact, const GradientRow& plain, double lse) {
  GradientScale scale{.size = exact.size,
                      .moved = exact.moved,
                      .coherent = exact.coherent,
                      .pairs = static_cast<double>(exact.pairs),
                      .lse = std::isfinite(lse) ? std::abs(lse) : 0};
  for (std::size_t d = 0; d < exact.values.size(); ++d) {
    const double value = exact.values[d], apart = std::abs(plain.values[d] - value);
    scale.largest = std::max(scale.largest, std::abs(value));
    scale.exact_square += value * value;
    if (!std::isfinite(apart)) {
      scale.overflows = true;
      continue;
    }
    scale.error = std::max(scale.error, apart);
    scale.square_error += apart * apart;
  }
  if (scale.overflows) scale.error = scale.square_error = 0;
  return scale;
}

GradientTolerances::GradientTolerances(const Case& work, std::span<const GradientScale> rows)
    : unit_(unit_roundoff(work.dtype)),
      coherent_unit_((work.pass == Pass::both ? 3 : 2) * unit_),
      underflow_(underflow_error(work.dtype)),
      sum_unit_(2 * std::sqrt(static_cast<double>(work.head_dim)) * unit_roundoff(Dtype::fp32)),
      lse_unit_(lse_roundings(work) * unit_roundoff(Dtype::fp32)),
      dtype_lse_(unit_ / 32) {
  std::vector<double> ratios;
  double square_error = 0, size = 0, rounding_square = 0;
  for (const GradientScale& row : rows) {
    if (row.size > 0 && !row.overflows) ratios.push_back(row.error / row.size);
    square_error += row.square_error;
    size += row.exact_square;
    const double rounding =
        roundings(row, row.size, std::sqrt(row.exact_square)) * std::sqrt(static_cast<double>(work.head_dim));
    rounding_square += rounding * rounding;
  }
  if (!ratios.empty()) {
    const auto middle = ratios.begin() + std::ssize(ratios) / 2;
    std::nth_element(ratios.begin(), middle, ratios.end());
    median_ = *middle;
  }
  relative_ =
      size > 0 ? 2 * std::sqrt(square_error / size) + std::sqrt(rounding_square / size) : kMostRelative;
  relative_ = std::min(relative_, kMostRelative);
}

double GradientTolerances::roundings(const GradientScale& row, double size, double largest) const {
  return 4 * unit_ * size + coherent_unit_ * row.coherent + sum_unit_ * (row.moved + row.coherent) +
         std::sqrt(row.pairs) * 2 * unit_roundoff(Dtype::fp32) * size +
         2 * (lse_unit_ * std::max(row.lse, 1.0) + dtype_lse_) * largest;
}

double GradientTolerances::of(const GradientScale& row) const {
  return 2 * std::max(row.error, median_ * row.size) + roundings(row, row.size, row.largest) + underflow_;
}

}  // namespace hilbench
