// The oracle: rows of the double-precision reference, and how far an output may be from them.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "baselines/reference.hpp"
#include "harness/measure/inputs.hpp"

namespace hilbench {

// The oracle holds this many elements of keys and values at a time, or those of one (head, segment) if they
// are more.
constexpr std::int64_t kHeldElements = std::int64_t{1} << 25;

// Errors of a plain low-precision evaluation of some rows, and the size of these rows. The errors of the
// ranks of a ring add up to those of all rows.
struct PlainErrors {
  double worst_o = 0, worst_lse = 0, largest_o = 0, largest_lse = 0, square_error = 0, square_o = 0;
  void add(const PlainErrors& other);
};

struct Tolerances {
  double o = 0;  // of |O - expected|: twice the worst plain error plus a floor; a few large values set it
  double relative = 0;  // of ||O - expected|| / ||expected|| over all rows, likewise; checks small values too
  double lse = 0;       // of |LSE - expected|, likewise
};
Tolerances tolerances_of(const Case& work, const PlainErrors& plain);

// Reference rows of a case. Computed once and shared by all variants that compute the same function.
struct Oracle {
  std::vector<RowId> rows;  // compared rows of the output, in position order
  std::vector<ReferenceRow> expected;
  PlainErrors plain;
  Tolerances tolerance;  // computed from `plain`
};

// Compares every row of a small case. Of a large one it takes 256 seeded samples, which include the first and
// last positions. If `owned` is given, only rows at owned positions are kept.
// `slots` is the order of a `tokens` variant, otherwise empty. With slots, the reference runs on permuted
// inputs and its rows are brought back to position order.
// Keys and values are read once for all rows that attend to them, in parts that fit kHeldElements.
Oracle make_oracle(const Case& work, const InputTensors& inputs, std::span<const std::int32_t> slots,
                   std::uint64_t seed, int threads,
                   const std::function<bool(std::int64_t position)>& owned = nullptr);

}  // namespace hilbench
