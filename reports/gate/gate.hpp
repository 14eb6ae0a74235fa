// The result of a regression gate: a candidate against a baseline, case by case.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/base/text/error.hpp"
#include "reports/gate/decide.hpp"

namespace hilbench {

// A case and variant.
struct GateRow {
  std::string case_id, variant_id;
  bool judged = true;         // false: a rival or the reference, measured and shown only
  bool reference = false;     // of a stored gate: times are over its time
  Mean slowdown;              // ln(candidate / baseline): of the last round
  double seen = 0;            // smallest_seen()
  std::size_t processes = 0;  // pairs in the last round
  bool second_round = false;  // its figures are of a second, independent round
  GateVerdict verdict = GateVerdict::undecided;
  std::string reason;   // why it is undecided, or failed; empty otherwise
  bool broken = false;  // the candidate fails where the baseline works
};

struct GateResult {
  std::string sweep;
  std::string baseline, candidate;  // builds or folders, by name
  GateRule rule;
  bool stored = false;  // judged on stored results: weaker than fresh, alternating processes
  std::vector<GateRow> rows;
  std::vector<std::string> disturbances;  // reasons why the machine was not fit to judge; then the exit is 3
  std::string disturbed = "the machine was disturbed";  // what the headline calls them
  bool unlike = false;                                  // among them: machines, builds or options differ
  std::vector<std::string> missing;  // what could not be compared; without an alarm the exit is then 3
  std::vector<std::string> notes;    // what else a reader has to know
  double seconds = 0;                // of measuring
};

// failed: a judged row is slower, or broken. inconclusive: the machine was disturbed, a judged row is
// undecided, or the candidate lacks something. done otherwise.
ExitCode exit_code(const GateResult& result);
// One sentence, the answer first: "slower: 1 of 32 ...".
std::string headline(const GateResult& result);

// On a disturbed machine nothing counts as slower or faster: such rows become undecided, and name the
// disturbance.
void withhold_changes(GateResult& result);

// The rows with the worst first: broken, slower, undecided, then by slowdown.
std::vector<GateRow> worst_first(const GateResult& result);

// "CASE VARIANT: slower, +5.1 % (+3.2 % to +7.0 %); why".
std::string row_sentence(const GateRow& row);

// For a terminal; a summary in Markdown, at most 64 KiB; a JUnit report; CSV.
std::string gate_text(const GateResult& result);
std::string gate_markdown(const GateResult& result);
std::string gate_junit(const GateResult& result);
std::string gate_csv(const GateResult& result);
// Lines that GitHub shows beside the change: one for each row that is not accepted.
std::string gate_annotations(const GateResult& result);

}  // namespace hilbench
