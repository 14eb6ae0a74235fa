// Verification: a variant's output against the double-precision reference, before it may be timed.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "harness/case.hpp"
#include "harness/oracle.hpp"
#include "harness/record.hpp"

namespace hilbench {

// A variant's output in position order, read in parts: elements from `first` on, widened to fp32.
struct OutputReader {
  using Read = std::function<void(std::int64_t first, std::span<float> to)>;
  Read o;    // batch * sequence * heads * head_dim
  Read lse;  // batch * sequence * heads; empty where the variant gives none
};

// What was found, and why the output is wrong if it is. All of o must be finite and no longer the poison,
// also where no row is compared; so must lse, but -infinity is the value of a row that no branch covers.
struct VerifyResult {
  Verification verification;
  std::optional<std::string> fault;
};
VerifyResult verify_output(const Case& work, const Oracle& oracle, const OutputReader& output, int threads);

}  // namespace hilbench
