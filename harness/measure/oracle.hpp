// The oracle: rows of the double-precision reference, and how far plain low precision is from them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "baselines/reference.hpp"
#include "baselines/tolerance.hpp"
#include "harness/measure/gradient_oracle.hpp"
#include "harness/measure/inputs.hpp"

namespace hilbench {

// The oracle holds this many elements of keys and values at a time, or those of one (head, segment) if they
// are more.
constexpr std::int64_t kHeldElements = std::int64_t{1} << 25;

// What a variant computes: attention as the case defines it, or on the slots of an order of tokens or keys.
struct ComputedFunction {
  std::string key = {};                      // of such an order its variant; otherwise empty
  std::span<const std::int32_t> slots = {};  // of that order; otherwise empty
  bool queries_stay = false;                 // of keys alone: a query is where its position is
};

// Rows to be compared, and what they were drawn by.
struct DrawnRows {
  std::string entropy;
  std::vector<RowId> rows;       // of O and dQ
  std::vector<RowId> keys = {};  // of dK and dV, if there are gradients; their heads are K/V heads
};

// Reference rows of a case. Computed once and shared by all variants that compute the same function.
struct Oracle {
  std::vector<RowId> rows;  // compared rows of O, in position order
  std::vector<ReferenceRow> expected;
  std::vector<PlainErrors> plain;
  GradientOracle gradients = {};  // without rows if there are none
};

// `rows` are in position order. With slots, the reference runs on permuted inputs and its rows are brought
// back to position order. Keys and values are read once for all rows that attend to them, in parts that fit
// kHeldElements.
Oracle make_oracle(const Case& work, const InputTensors& inputs, const ComputedFunction& function,
                   std::vector<RowId> rows, int threads);

}  // namespace hilbench
