#include "harness/measure/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "harness/measure/gradient_verify.hpp"
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
        "the error {:.3g} of {} in the row at {} exceeds the tolerance {:.3g} of that row; {} of {} compared "
        "rows exceed theirs",
        error, what, row_text(row->row), tolerance, beyond, rows);
  }
};

// NaN, infinite, or never written, by reading all of it.
BadValues count_bad_values(const Case& work, const OutputReader& output, int threads) {
  const std::int64_t rows = all_rows(work).count, head_dim = work.head_dim;
  BadValues bad;
  std::vector<float> values;
  const auto count_in = [&](const OutputReader::Read& read, std::int64_t elements, auto is_bad) {
    std::int64_t found = 0;
    for_each_part(elements, 1, [&](std::int64_t first, std::int64_t count) {
      values.resize(static_cast<std::size_t>(count));
      read(first, values);
      found += count_bad(values, is_bad, threads);
    });
    return found;
  };
  const auto no_number = [](float value) { return !std::isfinite(value); };
  if (output.o) bad.o = count_in(output.o, rows * head_dim, no_number);
  if (output.lse)
    bad.lse = count_in(output.lse, rows, [](float value) { return std::isnan(value) || value == HUGE_VALF; });
  for (const Gradient which : kGradients)
    if (const OutputReader::Read& read = output.gradients[number_of(which)])
      bad.gradients[number_of(which)] =
          count_in(read, all_rows(rows_of(work, which)).count * work.head_dim, no_number);
  return bad;
}

// Reads the rows of these numbers, which ascend, at `width` elements each; neighbours at once.
std::vector<float> read_rows(const OutputReader::Read& read, std::span<const std::int64_t> numbers,
                             std::int64_t width) {
  std::vector<float> values(numbers.size() * static_cast<std::size_t>(width));
  for (std::size_t begin = 0, end = 0; begin < numbers.size(); begin = end) {
    for (end = begin + 1; end < numbers.size() && numbers[end] == numbers[end - 1] + 1;) ++end;
    const auto at = begin * static_cast<std::size_t>(width),
               size = (end - begin) * static_cast<std::size_t>(width);
    read(numbers[begin] * width, std::span(values).subspan(at, size));
  }
  return values;
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
  for (std::size_t i = 0; i < gradients.size(); ++i) add_errors(gradients[i], other.gradients[i]);
}

TakenRows take_rows(const Case& work, const OutputReader& output, const DrawnRows& drawn, InputSet inputs,
                    int threads) {
  TakenRows taken{.inputs = inputs, .rows = drawn.rows, .keys = drawn.keys};
  taken.bad = output.bad ? output.bad() : count_bad_values(work, output, threads);
  const auto take = [&](const OutputReader::Read& read, const Case& rows_of_tensor,
                        std::span<const RowId> rows, std::int64_t width, std::int64_t& values) {
    if (!read) return std::vector<float>();
    const OutputRows all = all_rows(rows_of_tensor);
    values = all.count * width;
    std::vector<std::int64_t> numbers;
    for (const RowId& row : rows) numbers.push_back(all.number(row));
    return read_rows(read, numbers, width);
  };
  taken.o = take(output.o, work, drawn.rows, work.head_dim, taken.values);
  taken.lse = take(output.lse, work, drawn.rows, 1, taken.lse_values);
  for (const Gradient which : kGradients) {
    const std::size_t i = number_of(which);
    taken.gradients[i] =
        take(output.gradients[i], rows_of(work, which), which == Gradient::q ? drawn.rows : drawn.keys,
             work.head_dim, taken.gradient_values[i]);
  }
  return taken;
}

OutputErrors compare_rows(const Oracle& oracle, const TakenRows& taken) {
  OutputErrors errors{.values = taken.values,
                      .lse_values = taken.lse_values,
                      .bad = taken.bad.o,
                      .bad_lse = taken.bad.lse,
                      .rows = {}};
  compare_gradients(oracle.gradients, taken, errors.gradients);
  if (taken.o.empty()) return errors;
  const auto place = [](const RowId& row) { return std::tuple(row.batch, row.position, row.head); };
  std::map<decltype(place(RowId{})), std::size_t> number;  // in the oracle
  for (std::size_t i = 0; i < oracle.rows.size(); ++i) number[place(oracle.rows[i])] = i;
  const bool gradients = !oracle.gradients.front().rows.empty();
  const float sign = taken.inputs == InputSet::negated && !gradients ? -1 : 1;
  for (std::size_t i = 0; i < taken.rows.size(); ++i) {
    const std::size_t at = number.at(place(taken.rows[i])), width = oracle.expected[at].o.size();
    std::vector<float> o(taken.o.begin() + static_cast<std::ptrdiff_t>(i * width),
                         taken.o.begin() + static_cast<std::ptrdiff_t>((i + 1) * width));
    for (float& value : o) value *= sign;
    errors.rows.push_back(compare_row(taken.rows[i], oracle.expected[at], oracle.plain[at], o,
                                      taken.lse.empty() ? std::nullopt : std::optional(taken.lse[i])));
  }
  return errors;
}

std::optional<std::string> unusable_output(const OutputErrors& errors) {
  constexpr const char* kUnusable = "{} of {} {} values are NaN, infinite or were never written";
  if (errors.bad > 0) return fmt::format(kUnusable, errors.bad, errors.values, "output");
  if (errors.bad_lse > 0) return fmt::format(kUnusable, errors.bad_lse, errors.lse_values, "LSE");
  for (const Gradient which : kGradients)
    if (const GradientErrors& found = errors.gradients[number_of(which)]; found.bad > 0)
      return fmt::format(kUnusable, found.bad, found.values, to_string(which));
  return std::nullopt;
}

VerifyResult judge_output(const Case& work, const OutputErrors& errors, Scores scores) {
  std::vector<RowScale> scales;
  for (const RowErrors& row : errors.rows) scales.push_back(row.scale);
  const RowTolerances tolerances(work, scales, scores);
  const RowErrors* beyond_fp32 = nullptr;  // a row
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
    if (!fp32_holds_lse(row.scale)) beyond_fp32 = &row;
  }
  VerifyResult result;
  RowCheck& found = result.check;
  const std::int64_t rows = std::ssize(errors.rows);
  found = {.max_abs = largest,
           .rel_l2 = std::sqrt(size > 0 ? square / size : square),
           .lse_max_abs = has_lse ? largest_lse : std::numeric_limits<double>::quiet_NaN(),
           .rows = rows,
           .tolerance = o.tolerance,
           .worst = std::max(o.ratio, 0.0)};
  if (beyond_fp32 != nullptr)
    result.fault = fmt::format(
        "the LSE of the row at {} is {:.3g} in size, beyond fp32: no output of these inputs can be verified; "
        "make them or score_scale smaller",
        row_text(beyond_fp32->row), beyond_fp32->scale.exact_lse);
  else if (std::optional<std::string> unusable = unusable_output(errors))
    result.fault = unusable;
  else if (o.beyond > 0)
    result.fault = o.text("O", rows);
  else if (size > 0 && found.rel_l2 > tolerances.relative())
    result.fault =
        fmt::format("the relative error {:.3g} of O over {} compared rows exceeds the tolerance {:.3g}",
                    found.rel_l2, rows, tolerances.relative());
  else if (has_lse && lse.beyond > 0)
    result.fault = lse.text("LSE", rows);
  if (work.pass != Pass::forward) judge_gradients(work, errors.gradients, result);
  return result;
}

VerifyResult verify_output(const Case& work, const Oracle& oracle, const OutputReader& output, int threads,
                           Scores scores) {
  const std::vector<RowId>& queries = oracle.gradients[number_of(Gradient::q)].rows;
  const DrawnRows rows{.entropy = "",
                       .rows = queries.empty() ? oracle.rows : queries,
                       .keys = oracle.gradients[number_of(Gradient::k)].rows};
  const TakenRows taken = take_rows(work, output, rows, InputSet::first, threads);
  return judge_output(work, compare_rows(oracle, taken), scores);
}

}  // namespace hilbench
