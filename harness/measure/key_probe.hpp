// The key probe: a second verification, in which every key counts the same, so that a missing key, a doubled
// one and one swapped for another show at any length. docs/method.md says what it proves.
//
// All scores are 0. So a row that sees n keys (over all branches that cover it) has LSE = ln n, and O = S /
// n, where S is the sum of the rows of V, with dropout times 256 / t of those that are kept. Elements of V
// are +1 or -1 by a hash: S is about sqrt(n), a key more or less moves every element of S by 1, and a key
// swapped for another moves half of them by 2.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "baselines/reference.hpp"
#include "harness/measure/gradient_probe.hpp"
#include "harness/measure/inputs.hpp"
#include "harness/measure/verify.hpp"
#include "kernels/case/case.hpp"

namespace hilbench {

// The keys that a query sees in one branch: first, first + step, ...; positions, or slots of a `tokens`
// order.
struct VisibleKeys {
  std::int64_t first = 0, step = 1, count = 0;
};
// The same keys as visible_keys() of the reference, in closed form.
VisibleKeys visible_range(const Case& work, std::int64_t head, std::int64_t branch_index,
                          std::int64_t position);

// The largest error of one rounding to the dtype, of a value of 1.
double half_unit(Dtype dtype);

// The rows that a probe compares: every row of a small case, and of a large one 16384 seeded samples, the
// first and last rows among them.
std::vector<RowId> probed_rows(const Case& work, std::uint64_t seed);

// What the output must be. Computed once for all variants that compute the same function.
struct KeyProbe {
  std::vector<std::int32_t> slots;  // of each query of a `tokens` order; otherwise empty
  std::vector<RowId> rows;          // rows whose O is compared, in position order
  // For each of them, head_dim elements: S, and the sum over branches of |S of the branch|.
  std::vector<float> sums, sizes;
};

// `inputs` are those of the key probe. The other parameters are those of make_oracle. Reads each (branch,
// key) at most once.
KeyProbe make_key_probe(const Case& work, const InputTensors& inputs, const ComputedFunction& function,
                        std::uint64_t seed, int threads,
                        const std::function<bool(std::int64_t position)>& owned = nullptr);

// A row that the probe looked at. Errors of O are in keys: n |O - S / n|.
struct ProbedRow {
  RowId row;
  std::int64_t keys = 0;  // that it must see
  double lse = 0;         // of the output
  double error = 0, tolerance = 0;
  double ratio() const { return error == 0 ? 0 : error / tolerance; }
};

// What was found in some rows; the findings of several ranks add up.
struct ProbeErrors {
  std::int64_t rows = 0;     // rows whose O was compared
  std::int64_t telling = 0;  // those of them in which one missing or doubled key would have shown
  ProbedRow o, lse;          // the worst rows; the LSE of every row is checked
  OfGradients<ProbedRow> gradients = {};  // the worst rows of each, if there are any
  void add(const ProbeErrors& other);
};
nlohmann::json to_json(const ProbeErrors& errors);
ProbeErrors probe_errors_from_json(const nlohmann::json& json);

// What 2^0 may be where probabilities are rounded to 16 bits: libraries have exponentials of 20 bits.
enum class Exponentials { exact, short_ones };

// Checks an output that holds `rows`, those of the probe among them. Without LSE, O alone. Short exponentials
// may move the LSE of all rows to one side, that of the median row by 2^-13 at most.
ProbeErrors compare_probe(const Case& work, const KeyProbe& probe, const OutputReader& output,
                          const OutputRows& rows, int threads, Exponentials kind = Exponentials::exact);

// The same for gradients.
ProbeErrors compare_gradient_probe(const Case& work, const GradientProbe& probe, const OutputReader& output,
                                   int threads);

// Why the output is wrong; nothing if it is right.
std::optional<std::string> probe_fault(const ProbeErrors& errors);

}  // namespace hilbench
