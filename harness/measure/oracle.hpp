// The oracle: rows of the double-precision reference, and how far plain low precision is from them.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "baselines/reference.hpp"
#include "baselines/tolerance.hpp"
#include "harness/measure/inputs.hpp"

namespace hilbench {

// The oracle holds this many elements of keys and values at a time, or those of one (head, segment) if they
// are more.
constexpr std::int64_t kHeldElements = std::int64_t{1} << 25;

// Reference rows of a case. Computed once and shared by all variants that compute the same function.
struct Oracle {
  std::vector<RowId> rows;  // compared rows of the output, in position order
  std::vector<ReferenceRow> expected;
  std::vector<PlainErrors> plain;
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
