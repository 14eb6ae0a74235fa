#include "harness/sweep/first_sweep.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>

#include "kernels/base/text/integer.hpp"

namespace hilbench {
namespace {

constexpr std::int64_t kHeads = 8, kHeadDim = 64, kSegment = 2048;
constexpr double kLongestExecution_s = 0.25;  // at the nominal rate, so that a comparison takes seconds

// Of K and V.
double position_bytes(const FirstSweepMachine& machine) {
  const double element_bytes = machine.dtype == "fp32" ? 4 : 2;
  return 2 * kHeads * kHeadDim * element_bytes;
}

}  // namespace

FirstLengths first_lengths(const FirstSweepMachine& machine) {
  constexpr std::int64_t kShortest = 2 * kSegment, kLongest = std::int64_t{1} << 18;
  constexpr double kUnknownCache = 32e6, kTimesCache = 4;
  const double cache = machine.cache_bytes > 0 ? static_cast<double>(machine.cache_bytes) : kUnknownCache;
  const double position_flops = 4.0 * kHeadDim * kHeads * kSegment;
  const auto power = [&](double positions) {
    const auto whole = static_cast<std::uint64_t>(std::clamp<double>(positions, kShortest, kLongest));
    return static_cast<std::int64_t>(std::bit_floor(whole));
  };
  const FirstLengths lengths = {.inside = power(cache / 2 / position_bytes(machine)),
                                .beyond = power(2 * kTimesCache * cache / position_bytes(machine) - 1)};
  const std::int64_t timely =
      machine.flops_per_s > 0 ? power(machine.flops_per_s * kLongestExecution_s / position_flops) : kLongest;
  const std::int64_t inside = std::min(lengths.inside, std::max(timely / 2, kShortest));
  return {.inside = inside, .beyond = std::max(2 * inside, std::min(lengths.beyond, timely))};
}

std::string first_sweep(const std::string& name, const FirstSweepMachine& machine) {
  const FirstLengths lengths = first_lengths(machine);
  const auto mib = [&](std::int64_t length) {
    return static_cast<double>(length) * position_bytes(machine) / 0x1p20;
  };
  return fmt::format(
      R"(# A first sweep, fitted to this machine: {device}.
#   hilbench plan {name}.yaml       what it would measure, and how long that takes
#   hilbench run {name}.yaml        measure; run it again to go on after Ctrl-C
#   hilbench show results/{name}    the results on the terminal; `hilbench report results/{name}` as a page
# All keys: docs/sweeps.md, or sweeps/example.yaml of the source.

name: {name}                # a-z, 0-9, _ and -: results go to results/{name}
title: First look at this machine
question: Does the order of keys and values in memory change the time of attention here?

# Parameters of the cases. Each is one value or a list, and lists multiply: here 2 x 3 cases.
axes:
  # 8k is 8192. K and V take {inside_mib} and {beyond_mib} MiB; the largest cache here holds {cache}.
  sequence_length: [{inside}, {beyond}]
  patterns: [2k/1, 2k/4, 1k/1+4k/4]    # SEGMENT/DILATION of each branch: dense, every 4th key, two branches
  heads: 8
  head_dim: 64
  dtype: {dtype}                          # fp32 | bf16 | fp16
  causal: false                        # [false, true] measures both

# What is compared: kernels with their orders (`hilbench list orders`). random is the control: what it gains
# as well is not due to a curve.
variants:
  - {{kernel: dilated, order: [linear, hilbert, residue, random]}}
baselines: [{baselines}]                # rivals and the limit of the device (`hilbench list baselines`)
reference: dilated/linear              # ratio = time of this / time of the variant

measure:
  budget_s: 5                          # seconds of timing a case, all processes together
  interval: 0.02                       # timing ends earlier if every 95 % interval is within 2 % of its ratio
  processes: 1                         # more show how processes differ: 5 on a GPU, 10 on a processor to publish
counters: [default]                    # hardware counters after the timing (`hilbench list counters`); [] for none
)",
      fmt::arg("device", machine.device), fmt::arg("name", name),
      fmt::arg("inside", size_text(lengths.inside)), fmt::arg("beyond", size_text(lengths.beyond)),
      fmt::arg("inside_mib", mib(lengths.inside)), fmt::arg("beyond_mib", mib(lengths.beyond)),
      fmt::arg("cache", machine.cache_bytes > 0
                            ? fmt::format("{:.4g} MiB", static_cast<double>(machine.cache_bytes) / 0x1p20)
                            : "an unknown amount"),
      fmt::arg("dtype", machine.dtype), fmt::arg("baselines", fmt::join(machine.baselines, ", ")));
}

}  // namespace hilbench
