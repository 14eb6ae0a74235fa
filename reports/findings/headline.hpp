// What records show at a glance: one sentence, and a table if several things are compared.
#pragma once

#include <string>
#include <vector>

#include "reports/findings/tally.hpp"
#include "reports/view/table.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

// One thing against another, over all cases; above 1, it is faster.
struct Outcome {
  std::string what, against;  // "Hilbert order", "linear order"
  Tally tally;
  std::string who = {};     // of `against`: "its strongest rival"
  std::string remark = {};  // for a table: "holds 75 % of the memory"
};

// The most important first; none if nothing of the kind is compared.
std::vector<Outcome> hilbert_outcomes(const View& view);    // against linear and random order
std::vector<Outcome> traversal_outcomes(const View& view);  // against that of the reference
std::vector<Outcome> window_outcomes(const View& view);     // orders against raster order
std::vector<Outcome> rival_outcomes(const View& view);      // each kernel against its strongest rival
std::vector<Outcome> training_outcomes(const View& view);   // dropout, saved inputs
std::vector<Outcome> variant_outcomes(const View& view);    // against the reference

// "Nothing shown (1 process, 5 of 6 rounds, busy machine): Hilbert order is 1.25 [1.02, 1.60] times as fast
// as linear order." Every place that tells a result tells it in these words.
std::string outcome_sentence(const Outcome& outcome, const std::vector<std::string>& doubts);

struct Headline {
  std::string sentence;           // of the first outcome, or what stands in its place
  Table table;                    // the first outcomes; without rows if there is one
  std::vector<std::string> more;  // what the outcomes do not say
  bool undecided = false;         // of the first outcome nothing is shown in any case
};
// Of no records the sentence is empty.
Headline headline_of(const View& view);

// Whether the headline is about the variants against the reference.
bool variants_lead(const View& view);

}  // namespace hilbench
