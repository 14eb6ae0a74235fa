#include "harness/measure/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "harness/measure/inputs.hpp"

namespace hilbench {
namespace {

constexpr std::int64_t kAlone = 1 << 16;  // one thread reads this many values before others would start

template <class Bad>
std::int64_t count_bad(std::span<const float> values, Bad bad, int threads) {
  std::int64_t found = 0;
  const std::int64_t count = std::ssize(values);
#pragma omp parallel for num_threads(threads) schedule(static) reduction(+ : found) if (count > kAlone)
  for (std::int64_t i = 0; i < count; ++i) found += bad(values[static_cast<std::size_t>(i)]) ? 1 : 0;
  return found;
}

// Every comparison with NaN is false, so NaN counts as an infinite error.
double larger_error(double largest, double error) {
  return std::isnan(error) ? std::numeric_limits<double>::infinity() : std::max(largest, error);
}

void compare_row(const ReferenceRow& expected, std::span<const float> o, OutputErrors& errors) {
  for (std::size_t d = 0; d < o.size(); ++d) {
    const double error = std::abs(o[d] - expected.o[d]);
    errors.max_abs = larger_error(errors.max_abs, error);
    errors.square_error += error * error;
    errors.square_expected += expected.o[d] * expected.o[d];
  }
}

void compare_lse(const ReferenceRow& expected, float lse, OutputErrors& errors) {
  const double error = lse == expected.lse ? 0 : std::abs(lse - expected.lse);
  errors.lse_max_abs = larger_error(errors.lse_max_abs, error);
}

}  // namespace

void OutputErrors::add(const OutputErrors& other) {
  plain.add(other.plain);
  values += other.values;
  lse_values += other.lse_values;
  bad += other.bad;
  bad_lse += other.bad_lse;
  rows += other.rows;
  max_abs = std::max(max_abs, other.max_abs);
  lse_max_abs = std::max(lse_max_abs, other.lse_max_abs);
  square_error += other.square_error;
  square_expected += other.square_expected;
}

nlohmann::json to_json(const OutputErrors& errors) {
  const PlainErrors& plain = errors.plain;
  return {plain.worst_o,  plain.worst_lse, plain.largest_o,    plain.largest_lse,   plain.square_error,
          plain.square_o, errors.values,   errors.lse_values,  errors.bad,          errors.bad_lse,
          errors.rows,    errors.max_abs,  errors.lse_max_abs, errors.square_error, errors.square_expected};
}

OutputErrors output_errors_from_json(const nlohmann::json& json) {
  return {.plain = {.worst_o = json.at(0),
                    .worst_lse = json.at(1),
                    .largest_o = json.at(2),
                    .largest_lse = json.at(3),
                    .square_error = json.at(4),
                    .square_o = json.at(5)},
          .values = json.at(6),
          .lse_values = json.at(7),
          .bad = json.at(8),
          .bad_lse = json.at(9),
          .rows = json.at(10),
          .max_abs = json.at(11),
          .lse_max_abs = json.at(12),
          .square_error = json.at(13),
          .square_expected = json.at(14)};
}

OutputErrors compare_output(const Oracle& oracle, const OutputReader& output, std::int64_t row_count,
                            std::int64_t head_dim,
                            const std::function<std::int64_t(const RowId&)>& row_number, int threads) {
  OutputErrors errors{.plain = oracle.plain,
                      .values = row_count * head_dim,
                      .lse_values = output.lse ? row_count : 0,
                      .rows = std::ssize(oracle.rows)};
  std::size_t next = 0;  // next row of the oracle
  std::vector<float> o, lse;
  for_each_part(row_count * head_dim, head_dim, [&](std::int64_t first, std::int64_t count) {
    const std::int64_t first_row = first / head_dim, part_rows = count / head_dim;
    o.resize(static_cast<std::size_t>(count));
    output.o(first, o);
    errors.bad += count_bad(
        o, [](float value) { return !std::isfinite(value); }, threads);
    if (output.lse) {
      lse.resize(static_cast<std::size_t>(part_rows));
      output.lse(first_row, lse);
      errors.bad_lse += count_bad(
          lse, [](float value) { return std::isnan(value) || value == HUGE_VALF; }, threads);
    }
    for (; next < oracle.rows.size(); ++next) {
      const std::int64_t row = row_number(oracle.rows[next]) - first_row;
      if (row >= part_rows) break;
      const auto at = static_cast<std::size_t>(row);
      compare_row(
          oracle.expected[next],
          std::span(o).subspan(at * static_cast<std::size_t>(head_dim), static_cast<std::size_t>(head_dim)),
          errors);
      if (output.lse) compare_lse(oracle.expected[next], lse[at], errors);
    }
  });
  return errors;
}

VerifyResult judge_output(const Case& work, const OutputErrors& errors) {
  const Tolerances tolerance = tolerances_of(work, errors.plain);
  VerifyResult result;
  Verification& found = result.verification;
  found = {
      .max_abs = errors.max_abs,
      .rel_l2 = std::sqrt(errors.square_expected > 0 ? errors.square_error / errors.square_expected
                                                     : errors.square_error),
      .lse_max_abs = errors.lse_values > 0 ? errors.lse_max_abs : std::numeric_limits<double>::quiet_NaN(),
      .rows = errors.rows,
      .tolerance = tolerance.o};
  if (errors.bad > 0)
    result.fault = fmt::format("{} of {} output values are NaN, infinite or were never written", errors.bad,
                               errors.values);
  else if (errors.bad_lse > 0)
    result.fault = fmt::format("{} of {} LSE values are NaN, infinite or were never written", errors.bad_lse,
                               errors.lse_values);
  else if (found.max_abs > tolerance.o)
    result.fault = fmt::format("largest error {:.3g} of {} compared rows exceeds the tolerance {:.3g}",
                               found.max_abs, found.rows, tolerance.o);
  else if (errors.square_expected > 0 && found.rel_l2 > tolerance.relative)
    result.fault = fmt::format("relative error {:.3g} over {} compared rows exceeds the tolerance {:.3g}",
                               found.rel_l2, found.rows, tolerance.relative);
  else if (found.lse_max_abs > tolerance.lse)
    result.fault = fmt::format("largest LSE error {:.3g} of {} compared rows exceeds the tolerance {:.3g}",
                               found.lse_max_abs, found.rows, tolerance.lse);
  return result;
}

VerifyResult verify_output(const Case& work, const Oracle& oracle, const OutputReader& output, int threads) {
  const auto row_number = [&work](const RowId& row) {
    return (row.batch * work.sequence_length + row.position) * work.heads + row.head;
  };
  return judge_output(work, compare_output(oracle, output, work.batch * work.sequence_length * work.heads,
                                           work.head_dim, row_number, threads));
}

}  // namespace hilbench
