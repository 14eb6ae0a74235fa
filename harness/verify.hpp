// Verification: a variant's output against the double-precision reference, before it may be timed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "baselines/reference.hpp"
#include "harness/inputs.hpp"
#include "harness/record.hpp"

namespace hilbench {

// Reference rows of one function of one case: computed once, shared by the variants that compute it.
struct Oracle {
  std::vector<RowId> rows;  // rows of the output, in position order
  std::vector<ReferenceRow> expected;
  double tolerance = 0;      // on |O - expected|: twice the worst error of plain low precision, and a floor
  double lse_tolerance = 0;  // on |LSE - expected|, the same
};

// Every row where the case is small, else 256 seeded samples that hold the first and last positions.
// `slots` is empty, or the order of a `tokens` variant: the reference is then applied to permuted inputs and
// its rows are brought back to position order. In parallel over rows; each row is the plain reference's.
Oracle make_oracle(const Case& work, const HostTensors& inputs, std::span<const std::int32_t> slots,
                   std::uint64_t seed, int threads);

// What was found, and why the output is wrong if it is. `o`: batch * sequence * heads * head_dim values
// widened to fp32; all of it must be finite and no longer the poison, also where no row is compared. `lse`:
// the same, but -infinity is the value of a row that no branch covers; empty where the variant gives none.
struct VerifyResult {
  Verification verification;
  std::optional<std::string> fault;
};
VerifyResult verify_output(const Case& work, const Oracle& oracle, std::span<const float> o,
                           std::span<const float> lse);

}  // namespace hilbench
