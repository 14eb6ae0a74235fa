#include "harness/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "harness/inputs.hpp"

namespace hilbench {
namespace {

constexpr std::int64_t kAlone = 1 << 16;  // values that are read sooner than threads start

template <class Bad>
std::int64_t count_bad(std::span<const float> values, Bad bad, int threads) {
  std::int64_t found = 0;
  const std::int64_t count = std::ssize(values);
#pragma omp parallel for num_threads(threads) schedule(static) reduction(+ : found) if (count > kAlone)
  for (std::int64_t i = 0; i < count; ++i) found += bad(values[static_cast<std::size_t>(i)]) ? 1 : 0;
  return found;
}

// The compared rows' errors, added up.
struct RowErrors {
  Verification found;
  double square_error = 0, square_expected = 0;

  void add(const ReferenceRow& expected, std::span<const float> o) {
    for (std::size_t d = 0; d < o.size(); ++d) {
      const double error = std::abs(o[d] - expected.o[d]);
      found.max_abs =
          std::isnan(error) ? std::numeric_limits<double>::infinity() : std::max(found.max_abs, error);
      square_error += error * error;
      square_expected += expected.o[d] * expected.o[d];
    }
  }
  void add_lse(const ReferenceRow& expected, float lse) {
    const double error = lse == expected.lse ? 0 : std::abs(lse - expected.lse);
    found.lse_max_abs =
        std::isnan(error) ? std::numeric_limits<double>::infinity() : std::max(found.lse_max_abs, error);
  }
};

std::int64_t row_number(const Case& work, const RowId& row) {
  return (row.batch * work.sequence_length + row.position) * work.heads + row.head;
}

}  // namespace

VerifyResult verify_output(const Case& work, const Oracle& oracle, const OutputReader& output, int threads) {
  const std::int64_t rows = work.batch * work.sequence_length * work.heads;
  const auto head_dim = static_cast<std::size_t>(work.head_dim);
  RowErrors errors;
  std::int64_t bad = 0, bad_lse = 0;
  std::size_t next = 0;  // compared row
  std::vector<float> o, lse;
  for_each_part(rows * work.head_dim, work.head_dim, [&](std::int64_t first, std::int64_t count) {
    const std::int64_t first_row = first / work.head_dim, part_rows = count / work.head_dim;
    o.resize(static_cast<std::size_t>(count));
    output.o(first, o);
    bad += count_bad(
        o, [](float value) { return !std::isfinite(value); }, threads);
    if (output.lse) {
      lse.resize(static_cast<std::size_t>(part_rows));
      output.lse(first_row, lse);
      bad_lse += count_bad(
          lse, [](float value) { return std::isnan(value) || value == HUGE_VALF; }, threads);
    }
    for (; next < oracle.rows.size(); ++next) {
      const std::int64_t row = row_number(work, oracle.rows[next]) - first_row;
      if (row >= part_rows) break;
      const auto at = static_cast<std::size_t>(row);
      errors.add(oracle.expected[next], std::span(o).subspan(at * head_dim, head_dim));
      if (output.lse) errors.add_lse(oracle.expected[next], lse[at]);
    }
  });
  VerifyResult result;
  Verification& found = result.verification;
  found = errors.found;
  found.tolerance = oracle.tolerance;
  found.rows = std::ssize(oracle.rows);
  if (!output.lse) found.lse_max_abs = std::numeric_limits<double>::quiet_NaN();
  found.rel_l2 = std::sqrt(errors.square_expected > 0 ? errors.square_error / errors.square_expected
                                                      : errors.square_error);
  if (bad > 0)
    result.fault = fmt::format("{} of {} output values are NaN, infinite or were never written", bad,
                               rows * work.head_dim);
  else if (bad_lse > 0)
    result.fault = fmt::format("{} of {} LSE values are NaN, infinite or were never written", bad_lse, rows);
  else if (found.max_abs > oracle.tolerance)
    result.fault = fmt::format("largest error {:.3g} of {} compared rows exceeds the tolerance {:.3g}",
                               found.max_abs, found.rows, oracle.tolerance);
  else if (errors.square_expected > 0 && found.rel_l2 > oracle.relative_tolerance)
    result.fault = fmt::format("relative error {:.3g} over {} compared rows exceeds the tolerance {:.3g}",
                               found.rel_l2, found.rows, oracle.relative_tolerance);
  else if (found.lse_max_abs > oracle.lse_tolerance)
    result.fault = fmt::format("largest LSE error {:.3g} of {} compared rows exceeds the tolerance {:.3g}",
                               found.lse_max_abs, found.rows, oracle.lse_tolerance);
  return result;
}

}  // namespace hilbench
