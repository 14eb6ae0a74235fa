// What a case's output must be: rows of the double-precision reference, and how far from them an output may
// be.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "baselines/reference.hpp"
#include "harness/measure/inputs.hpp"

namespace hilbench {

// Elements of keys and values that stand in memory at a time, or those of one (head, segment) if that is
// more.
constexpr std::int64_t kHeldElements = std::int64_t{1} << 25;

// What plain low precision makes of some rows, and how large they are. Those of several ranks of a ring add
// up to those of all rows.
struct PlainErrors {
  double worst_o = 0, worst_lse = 0, largest_o = 0, largest_lse = 0, square_error = 0, square_o = 0;
  void add(const PlainErrors& other);
};

struct Tolerances {
  double o = 0;  // on |O - expected|: twice the worst plain error, and a floor; a few large values set it
  double relative = 0;  // on ||O - expected|| / ||expected|| over all rows, likewise: holds small values too
  double lse = 0;       // on |LSE - expected|, likewise
};
Tolerances tolerances_of(const Case& work, const PlainErrors& plain);

// Reference rows of one function of one case: computed once, shared by the variants that compute it.
struct Oracle {
  std::vector<RowId> rows;  // rows of the output, in position order
  std::vector<ReferenceRow> expected;
  PlainErrors plain;
  Tolerances tolerance;  // from `plain`
};

// Every row where the case is small, else 256 seeded samples that hold the first and last positions; of them
// those at positions that are `owned`, where that is given.
// `slots` is empty, or the order of a `tokens` variant: the reference is then applied to permuted inputs and
// its rows are brought back to position order. Keys and values are read once for all rows that attend to
// them, and only some at a time.
Oracle make_oracle(const Case& work, const InputTensors& inputs, std::span<const std::int32_t> slots,
                   std::uint64_t seed, int threads,
                   const std::function<bool(std::int64_t position)>& owned = nullptr);

}  // namespace hilbench
