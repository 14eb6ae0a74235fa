// A chain: variants one after another, each the one before with one change, so that the ratio of the first
// and the last falls into factors. A sweep declares it; a store keeps it as text.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reports/records/record.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

struct ChainStep {
  std::string variant;  // id
  std::string change;   // in words; empty for the first
};

struct Chain {
  std::vector<ChainStep> steps;           // none: there is no chain
  std::size_t end = 0;                    // the step that the claim is about; what follows goes on from there
  std::map<std::string, double> claimed;  // the ratio of the first and that step, as reported, by case id
};

// JSON. What is no chain, from a store of others, gives one without steps.
std::string chain_text(const Chain& chain);
Chain chain_from_text(const std::string& text);

// The chain of the store; without steps if it has none.
Chain chain_of(const View& view);

// A step in a case.
struct MeasuredStep {
  ChainStep step;
  const Record* record = nullptr;       // null if the case has none
  std::optional<Measured> factor = {};  // time of the step before / time of this one; of the first none
  std::optional<Measured> so_far = {};  // time of the first step / time of this one
};

struct MeasuredChain {
  const CaseView* where = nullptr;
  std::vector<MeasuredStep> steps;
  std::size_t end = 0;
  std::optional<double> claimed = {};
  std::optional<Measured> twin = {};  // the first step against its twin, the same again

  // The ratio that the claim is about, measured here.
  const std::optional<Measured>& whole() const { return steps[end].so_far; }
};

// The chain of the store in each case that has a ratio of two neighbouring steps, or of the first and
// another.
std::vector<MeasuredChain> measured_chains(const View& view);

}  // namespace hilbench
