#include "harness/measure/gradient_verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <tuple>

namespace hilbench {
namespace {

auto place_of(const RowId& row) {
  return std::tuple(row.batch, row.position, row.head);
}

GradientRowErrors compare_row(const RowId& row, const GradientRow& expected, const GradientScale& scale,
                              std::span<const float> found, float sign) {
  GradientRowErrors errors{.row = row, .scale = scale};
  for (std::size_t d = 0; d < found.size(); ++d) {
    const double error = std::abs(static_cast<double>(sign * found[d]) - expected.values[d]);
    errors.error =
        std::isnan(error) ? std::numeric_limits<double>::infinity() : std::max(errors.error, error);
    errors.square += error * error;
  }
  return errors;
}

TensorCheck check_of(const Case& work, Gradient which, const GradientErrors& errors,
                     std::optional<std::string>& fault) {
  std::vector<GradientScale> scales;
  for (const GradientRowErrors& row : errors.rows) scales.push_back(row.scale);
  const GradientTolerances tolerances(work, scales);
  TensorCheck check{.name = std::string(to_string(which)), .rows = std::ssize(errors.rows)};
  double square = 0, size = 0;
  std::int64_t beyond = 0;
  const GradientRowErrors* worst = nullptr;
  for (const GradientRowErrors& row : errors.rows) {
    // What no pair gives is written as zeros, not as something small.
    const double tolerance = row.scale.pairs > 0 ? tolerances.of(row.scale) : 0;
    const double ratio = row.error == 0 ? 0 : row.error / tolerance;
    if (row.error > tolerance) ++beyond;
    if (worst == nullptr || ratio > check.worst)
      check.worst = ratio, check.tolerance = tolerance, worst = &row;
    check.max_abs = std::max(check.max_abs, row.error);
    square += row.square;
    size += row.scale.exact_square;
  }
  check.rel_l2 = std::sqrt(size > 0 ? square / size : square);
  if (beyond > 0)
    fault = fmt::format(
        "the error {:.3g} of {} in the row at {} exceeds the tolerance {:.3g} of that row; {} of {} compared "
        "rows "
        "exceed theirs",
        worst->error, check.name, row_text(worst->row), check.tolerance, beyond, check.rows);
  else if (size > 0 && check.rel_l2 > tolerances.relative())
    fault = fmt::format("the relative error {:.3g} of {} over {} compared rows exceeds the tolerance {:.3g}",
                        check.rel_l2, check.name, check.rows, tolerances.relative());
  return check;
}

}  // namespace

void add_errors(GradientErrors& to, const GradientErrors& from) {
  to.values += from.values;
  to.bad += from.bad;
  to.rows.insert(to.rows.end(), from.rows.begin(), from.rows.end());
}

void compare_gradients(const GradientOracle& oracle, const TakenRows& taken,
                       OfGradients<GradientErrors>& errors) {
  const float sign = taken.inputs == InputSet::negated ? -1 : 1;
  for (const Gradient which : kGradients) {
    const std::size_t i = number_of(which);
    errors[i].values = taken.gradient_values[i];
    errors[i].bad = taken.bad.gradients[i];
    if (taken.gradients[i].empty()) continue;
    std::map<decltype(place_of(RowId{})), std::size_t> number;  // in the oracle
    for (std::size_t row = 0; row < oracle[i].rows.size(); ++row) number[place_of(oracle[i].rows[row])] = row;
    const std::vector<RowId>& rows = which == Gradient::q ? taken.rows : taken.keys;
    const std::size_t width = taken.gradients[i].size() / rows.size();
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const std::size_t at = number.at(place_of(rows[row]));
      errors[i].rows.push_back(compare_row(rows[row], oracle[i].expected[at], oracle[i].scales[at],
                                           std::span(taken.gradients[i]).subspan(row * width, width), sign));
    }
  }
}

void judge_gradients(const Case& work, const OfGradients<GradientErrors>& errors, VerifyResult& result) {
  RowCheck& check = result.check;
  if (work.pass == Pass::backward) {
    check = {.lse_max_abs = std::numeric_limits<double>::quiet_NaN(), .worst = 0};
  } else {
    check.tensors.push_back({.name = "O",
                             .max_abs = check.max_abs,
                             .rel_l2 = check.rel_l2,
                             .rows = check.rows,
                             .tolerance = check.tolerance,
                             .worst = check.worst.value_or(0)});
  }
  for (const Gradient which : kGradients) {
    std::optional<std::string> fault;
    const TensorCheck found = check_of(work, which, errors[number_of(which)], fault);
    if (!result.fault) result.fault = fault;
    check.rows += found.rows;
    if (check.tensors.empty() || found.worst > *check.worst) {
      check.max_abs = found.max_abs, check.rel_l2 = found.rel_l2;
      check.tolerance = found.tolerance, check.worst = found.worst;
    }
    check.tensors.push_back(found);
  }
}

}  // namespace hilbench
