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

// What the ratios of a chain are of, beside counters by their names.
inline constexpr const char* kOfTime = "time";
inline constexpr const char* kOfMemory = "memory";

struct Chain {
  std::vector<ChainStep> steps;             // none: there is no chain
  std::vector<std::string> of = {kOfTime};  // in each case a chain of each; a claim is about the first
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
  std::optional<Measured> so_far = {};  // time of the first step / time of this one; or memory, or a count
};

// The memory that the variant takes at most: what a program says, or what is planned of a kernel. A counter's
// value.
std::optional<double> amount_of(const Record& record, const std::string& of);

// What scripts that time the ends of a chain report.
struct MeasuredProtocol {
  Protocol protocol;
  bool as_claimed = false;  // what was claimed was timed so
  std::vector<double>
      ratios;  // of each trial: time of the first step / time of the end; ascending, not empty
};

struct MeasuredChain {
  const CaseView* where = nullptr;
  std::string of = kOfTime;
  std::vector<MeasuredStep> steps = {};
  std::size_t end = 0;
  std::optional<double> claimed = {};
  std::optional<Measured> twin = {};  // the first step against its twin, the same again
  std::vector<MeasuredProtocol> protocols = {};

  // The ratio that the claim is about, measured here.
  const std::optional<Measured>& whole() const { return steps[end].so_far; }
};

// The chains of the store in each case that has a ratio of two neighbouring steps, or of the first and
// another.
std::vector<MeasuredChain> measured_chains(const View& view);

}  // namespace hilbench
