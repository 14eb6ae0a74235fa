#include "harness/measure/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
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

RowErrors compare_row(const RowId& row, const ReferenceRow& expected, const PlainErrors& plain,
                      std::span<const float> o, std::optional<float> lse) {
  RowErrors errors{.row = row, .scale = row_scale(expected, plain)};
  for (std::size_t d = 0; d < o.size(); ++d) {
    const double error = std::abs(o[d] - expected.o[d]);
    errors.o = larger_error(errors.o, error);
    errors.square_o += error * error;
  }
  if (lse && *lse != expected.lse) errors.lse = larger_error(0, std::abs(*lse - expected.lse));
  return errors;
}

// The row whose error is the largest multiple of its tolerance.
struct Worst {
  const RowErrors* row = nullptr;
  double error = 0, tolerance = 0, ratio = -1;
  std::int64_t beyond = 0;  // rows whose error exceeds their tolerance

  void see(const RowErrors& seen, double its_error, double its_tolerance) {
    const double its_ratio = its_error == 0 ? 0 : its_error / its_tolerance;
    if (its_error > its_tolerance) ++beyond;
    if (its_ratio > ratio)
      *this = {
          .row = &seen, .error = its_error, .tolerance = its_tolerance, .ratio = its_ratio, .beyond = beyond};
  }
  std::string text(const char* what, std::int64_t rows) const {
    return fmt::format(
        "the {} {:.3g} of the row at {} exceeds the tolerance {:.3g} of that row; {} of {} compared "
        "rows exceed theirs",
        what, error, row_text(row->row), tolerance, beyond, rows);
  }
};

nlohmann::json binary_of(const std::vector<RowErrors>& rows) {
  static_assert(std::is_trivially_copyable_v<RowErrors>);
  std::vector<std::uint8_t> bytes(rows.size() * sizeof(RowErrors));
  if (!rows.empty()) std::memcpy(bytes.data(), rows.data(), bytes.size());
  return nlohmann::json::binary(std::move(bytes));
}

std::vector<RowErrors> rows_from_binary(const nlohmann::json& json) {
  const std::vector<std::uint8_t>& bytes = json.get_binary();
  std::vector<RowErrors> rows(bytes.size() / sizeof(RowErrors));
  if (!rows.empty()) std::memcpy(rows.data(), bytes.data(), rows.size() * sizeof(RowErrors));
  return rows;
}

}  // namespace

OutputRows all_rows(const Case& work) {
  const std::int64_t length = work.sequence_length, heads = work.heads;
  return {.count = work.batch * length * heads,
          .number = [=](const RowId& row) { return (row.batch * length + row.position) * heads + row.head; },
          .id =
              [=](std::int64_t number) {
                return RowId{.batch = number / heads / length,
                             .head = number % heads,
                             .position = number / heads % length};
              }};
}

std::string row_text(const RowId& row) {
  return fmt::format("batch {}, position {}, head {}", row.batch, row.position, row.head);
}

void OutputErrors::add(const OutputErrors& other) {
  values += other.values;
  lse_values += other.lse_values;
  bad += other.bad;
  bad_lse += other.bad_lse;
  rows.insert(rows.end(), other.rows.begin(), other.rows.end());
}

nlohmann::json to_json(const OutputErrors& errors) {
  return {errors.values, errors.lse_values, errors.bad, errors.bad_lse, binary_of(errors.rows)};
}

OutputErrors output_errors_from_json(const nlohmann::json& json) {
  return {.values = json.at(0),
          .lse_values = json.at(1),
          .bad = json.at(2),
          .bad_lse = json.at(3),
          .rows = rows_from_binary(json.at(4))};
}

OutputErrors compare_output(const Oracle& oracle, const OutputReader& output, const OutputRows& rows,
                            std::int64_t head_dim, int threads) {
  OutputErrors errors{.values = rows.count * head_dim, .lse_values = output.lse ? rows.count : 0};
  std::vector<float> o, lse;
  for_each_part(rows.count * head_dim, head_dim, [&](std::int64_t first, std::int64_t count) {
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
    for (std::size_t next = errors.rows.size(); next < oracle.rows.size(); ++next) {
      const std::int64_t row = rows.number(oracle.rows[next]) - first_row;
      if (row >= part_rows) break;
      const auto at = static_cast<std::size_t>(row), width = static_cast<std::size_t>(head_dim);
      errors.rows.push_back(compare_row(oracle.rows[next], oracle.expected[next], oracle.plain[next],
                                        std::span(o).subspan(at * width, width),
                                        output.lse ? std::optional(lse[at]) : std::nullopt));
    }
  });
  return errors;
}

VerifyResult judge_output(const Case& work, const OutputErrors& errors) {
  std::vector<RowScale> scales;
  for (const RowErrors& row : errors.rows) scales.push_back(row.scale);
  const RowTolerances tolerances(work, scales);
  const bool has_lse = errors.lse_values > 0;
  Worst o, lse;
  double largest = 0, largest_lse = 0, square = 0, size = 0;
  for (const RowErrors& row : errors.rows) {
    o.see(row, row.o, tolerances.o(row.scale));
    lse.see(row, row.lse, tolerances.lse(row.scale));
    largest = std::max(largest, row.o);
    largest_lse = std::max(largest_lse, row.lse);
    square += row.square_o;
    size += row.scale.exact_square;
  }
  VerifyResult result;
  Verification& found = result.verification;
  const std::int64_t rows = std::ssize(errors.rows);
  found = {.max_abs = largest,
           .rel_l2 = std::sqrt(size > 0 ? square / size : square),
           .lse_max_abs = has_lse ? largest_lse : std::numeric_limits<double>::quiet_NaN(),
           .rows = rows,
           .tolerance = o.tolerance,
           .worst = std::max(o.ratio, 0.0)};
  if (errors.bad > 0)
    result.fault = fmt::format("{} of {} output values are NaN, infinite or were never written", errors.bad,
                               errors.values);
  else if (errors.bad_lse > 0)
    result.fault = fmt::format("{} of {} LSE values are NaN, infinite or were never written", errors.bad_lse,
                               errors.lse_values);
  else if (o.beyond > 0)
    result.fault = o.text("error", rows);
  else if (size > 0 && found.rel_l2 > tolerances.relative())
    result.fault = fmt::format("the relative error {:.3g} over {} compared rows exceeds the tolerance {:.3g}",
                               found.rel_l2, rows, tolerances.relative());
  else if (has_lse && lse.beyond > 0)
    result.fault = lse.text("LSE error", rows);
  return result;
}

VerifyResult verify_output(const Case& work, const Oracle& oracle, const OutputReader& output, int threads) {
  return judge_output(work, compare_output(oracle, output, all_rows(work), work.head_dim, threads));
}

}  // namespace hilbench
