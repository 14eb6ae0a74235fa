#include "harness/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "harness/pattern.hpp"

namespace hilbench {
namespace {

constexpr std::int64_t kSampledRows = 256;
// Cases up to so many multiply-adds and rows are compared in full.
constexpr double kFullMultiplyAdds = 1 << 26;
constexpr std::int64_t kFullRows = 1 << 16;

RowId row_at(const Case& work, std::int64_t i) {
  return {.batch = i / (work.sequence_length * work.heads),
          .head = i % work.heads,
          .position = i / work.heads % work.sequence_length};
}

std::vector<RowId> choose_rows(const Case& work, std::uint64_t seed) {
  const std::int64_t total = work.batch * work.sequence_length * work.heads;
  const bool all = total <= kSampledRows || (total <= kFullRows && flops(work) / 4 <= kFullMultiplyAdds);
  std::vector<std::int64_t> picks;
  if (all) {
    for (std::int64_t i = 0; i < total; ++i) picks.push_back(i);
  } else {
    std::mt19937_64 generator(seed);
    picks = {0, total - 1, work.heads - 1, total - work.heads};
    while (static_cast<std::int64_t>(picks.size()) < kSampledRows)
      picks.push_back(static_cast<std::int64_t>(generator() % static_cast<std::uint64_t>(total)));
    std::sort(picks.begin(), picks.end());
    picks.erase(std::unique(picks.begin(), picks.end()), picks.end());
  }
  std::vector<RowId> rows;
  for (const std::int64_t i : picks) rows.push_back(row_at(work, i));
  return rows;
}

std::vector<float> permuted(const Case& work, const std::vector<float>& values, std::int64_t heads,
                            std::span<const std::int32_t> slots) {
  std::vector<float> result(values.size());
  const std::int64_t row = heads * work.head_dim;
  for (std::int64_t b = 0; b < work.batch; ++b)
    for (std::int64_t t = 0; t < work.sequence_length; ++t)
      std::copy_n(values.begin() + (b * work.sequence_length + t) * row, row,
                  result.begin() + (b * work.sequence_length + slots[static_cast<std::size_t>(t)]) * row);
  return result;
}

double unit_roundoff(Dtype dtype) {
  return dtype == Dtype::fp32 ? 0x1p-24 : dtype == Dtype::bf16 ? 0x1p-9 : 0x1p-12;
}

// Largest distance of two rows, and the largest magnitude of the first.
struct Distance {
  double o = 0;
  double lse = 0;
};

Distance distance(const ReferenceRow& expected, const ReferenceRow& other) {
  Distance d;
  for (std::size_t i = 0; i < expected.o.size(); ++i)
    d.o = std::max(d.o, std::abs(expected.o[i] - other.o[i]));
  if (std::isfinite(expected.lse)) d.lse = std::abs(expected.lse - other.lse);
  return d;
}

void set_tolerances(const Case& work, const std::vector<Distance>& plain_errors, Oracle& oracle) {
  double worst_o = 0, worst_lse = 0, largest_o = 0, largest_lse = 0;
  for (std::size_t i = 0; i < oracle.rows.size(); ++i) {
    worst_o = std::max(worst_o, plain_errors[i].o);
    worst_lse = std::max(worst_lse, plain_errors[i].lse);
    for (const double value : oracle.expected[i].o) largest_o = std::max(largest_o, std::abs(value));
    if (std::isfinite(oracle.expected[i].lse))
      largest_lse = std::max(largest_lse, std::abs(oracle.expected[i].lse));
  }
  // A plain evaluation may be exact by luck. The floor is a few roundings of the largest result, and what a
  // few fp32 roundings of the largest scores (LSE stands for them) do to probabilities: exp(s (1 + u)) /
  // exp(s) = 1 + s u.
  const double fp32 = unit_roundoff(Dtype::fp32);
  oracle.tolerance = 2 * worst_o + 4 * (unit_roundoff(work.dtype) + fp32 * largest_lse) * largest_o;
  oracle.lse_tolerance = 2 * worst_lse + 8 * fp32 * std::max(largest_lse, 1.0);
}

}  // namespace

Oracle make_oracle(const Case& work, const HostTensors& inputs, std::span<const std::int32_t> slots,
                   std::uint64_t seed, int threads) {
  Oracle oracle;
  oracle.rows = choose_rows(work, seed);
  HostTensors moved;
  if (!slots.empty())
    moved = {.q = permuted(work, inputs.q, work.heads, slots),
             .k = permuted(work, inputs.k, work.kv_heads, slots),
             .v = permuted(work, inputs.v, work.kv_heads, slots)};
  const HostTensors& source = slots.empty() ? inputs : moved;
  const ReferenceInputs view{source.q, source.k, source.v};
  oracle.expected.resize(oracle.rows.size());
  std::vector<Distance> plain_errors(oracle.rows.size());
  const auto count = static_cast<std::int64_t>(oracle.rows.size());
#pragma omp parallel for num_threads(threads) schedule(dynamic, 4)
  for (std::int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    RowId row = oracle.rows[at];
    if (!slots.empty()) row.position = slots[static_cast<std::size_t>(row.position)];
    oracle.expected[at] = reference_row(work, view, row);
    plain_errors[at] = distance(oracle.expected[at], plain_row(work, view, row));
  }
  set_tolerances(work, plain_errors, oracle);
  return oracle;
}

VerifyResult verify_output(const Case& work, const Oracle& oracle, std::span<const float> o,
                           std::span<const float> lse) {
  VerifyResult result;
  Verification& found = result.verification;
  found.tolerance = oracle.tolerance;
  found.rows = static_cast<std::int64_t>(oracle.rows.size());
  if (lse.empty()) found.lse_max_abs = std::numeric_limits<double>::quiet_NaN();
  const auto head_dim = static_cast<std::size_t>(work.head_dim);
  double square_error = 0, square_expected = 0;
  for (std::size_t i = 0; i < oracle.rows.size(); ++i) {
    const RowId& row = oracle.rows[i];
    const auto at =
        static_cast<std::size_t>((row.batch * work.sequence_length + row.position) * work.heads + row.head);
    for (std::size_t d = 0; d < head_dim; ++d) {
      const double expected = oracle.expected[i].o[d];
      const double error = std::abs(o[at * head_dim + d] - expected);
      found.max_abs =
          std::isnan(error) ? std::numeric_limits<double>::infinity() : std::max(found.max_abs, error);
      square_error += error * error;
      square_expected += expected * expected;
    }
    if (lse.empty()) continue;
    const double expected_lse = oracle.expected[i].lse;
    const double lse_error = lse[at] == expected_lse ? 0 : std::abs(lse[at] - expected_lse);
    found.lse_max_abs = std::isnan(lse_error) ? std::numeric_limits<double>::infinity()
                                              : std::max(found.lse_max_abs, lse_error);
  }
  found.rel_l2 = square_expected > 0 ? std::sqrt(square_error / square_expected) : std::sqrt(square_error);
  const auto bad = static_cast<std::int64_t>(
      std::count_if(o.begin(), o.end(), [](float value) { return !std::isfinite(value); }));
  const auto bad_lse = static_cast<std::int64_t>(std::count_if(
      lse.begin(), lse.end(), [](float value) { return std::isnan(value) || value == HUGE_VALF; }));
  if (bad > 0)
    result.fault =
        fmt::format("{} of {} output values are NaN, infinite or were never written", bad, o.size());
  else if (bad_lse > 0)
    result.fault =
        fmt::format("{} of {} LSE values are NaN, infinite or were never written", bad_lse, lse.size());
  else if (found.max_abs > oracle.tolerance)
    result.fault = fmt::format("largest error {:.3g} of {} compared rows exceeds the tolerance {:.3g}",
                               found.max_abs, found.rows, oracle.tolerance);
  else if (found.lse_max_abs > oracle.lse_tolerance)
    result.fault = fmt::format("largest LSE error {:.3g} of {} compared rows exceeds the tolerance {:.3g}",
                               found.lse_max_abs, found.rows, oracle.lse_tolerance);
  return result;
}

}  // namespace hilbench
