// What the pages above that of a sweep say of it. Records are not held: the results of many sweeps need not
// be in memory at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/claims/answers.hpp"
#include "reports/document/document.hpp"
#include "reports/findings/headline.hpp"
#include "reports/page/frame.hpp"
#include "reports/summaries/chains.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

// One answer to a claim of the reports or of a paper. Addresses of all entries are relative to the page of
// the sweep.
struct ClaimEntry {
  std::string claim, title, compares;
  std::string about, metric;  // the id of its case, or what the row states
  ClaimVerdict verdict = ClaimVerdict::inconclusive;
  bool of_paper = false;           // `title` is what the row says
  bool gain = false;               // is_about_a_gain()
  std::string dtype;               // that was measured; empty: of several together
  bool other_dtype = false;        // the claim is about another one: such answers stand apart
  bool own_sweep = false;          // it is from the sweep of the claim
  bool few_counts = false;         // some level of the caches was counted too seldom for a verdict
  std::optional<double> claimed;   // the ratio
  std::string case_words;          // "4096 positions, 512/64"; "" of an answer over all cases
  std::optional<double> measured;  // against / variant; of a paper what it compares
  Interval ci;                     // of it
  std::optional<double> random;    // the same of random order, the control
  std::optional<Verdict> against_random;
  std::string evidence;  // address of its record
};

// A kernel in linear order against a rival, over the cases of one dtype.
struct RivalEntry {
  std::string kernel, rival, dtype;
  double low = 0, high = 0;                       // time of the rival / time of the kernel
  std::size_t cases = 0, faster = 0, slower = 0;  // verdicts on the kernel
  std::string evidence;                           // of the lowest
};

// A family of orders against linear order, kernel and other options equal, over the cases of one kind.
struct OrderEntry {
  std::string family;  // "boxes" of boxes.8.16
  bool windows = false;
  std::vector<double> ratios;  // time of linear order / time of the order
  Tally tally;
};

struct SweepOverview {
  std::string name;     // of the folder
  std::string sweep;    // as the records name it; several folders may hold results of one sweep
  std::string subject;  // of the sweep: subject_of()
  std::string machine;
  std::string answer;  // the first sentence of its page
  std::size_t cases = 0, records = 0;
  std::vector<std::string> processors, devices, drivers, days, kernels;  // different values
  std::int64_t cores = 0;          // of the processor; the most that a record names
  std::vector<ClaimEntry> claims;  // that were judged; over all cases only by the claim's own sweep
  std::vector<RivalEntry> rivals;
  std::vector<OrderEntry> orders;
  std::string rings;                    // a sentence; empty if it has none
  std::vector<Outcome> window_orders;   // against raster order
  std::vector<Outcome> against_rivals;  // each against its strongest rival
  std::vector<std::string> twins;       // sentences, if at least kFewestTwins were judged
  bool has_picture = false;             // figure.svg and figure.png are beside its page
  std::vector<ReportedCase> reported;   // of its chain
};

struct MachineOverview {
  std::string name;     // of the folder
  std::string address;  // of the folder of its pages, relative to the index
  std::vector<SweepOverview> sweeps;
  std::vector<Link> findings;  // relative to the machine's page; the first may be part of that page
};

SweepOverview overview_of(const std::string& name, const View& view, const std::vector<ClaimAnswer>& answers,
                          const Document& document);

// Address of the page of a sweep, relative to that of its machine.
std::string sweep_address(const SweepOverview& sweep);
// The same relative to the index.
std::string page_of(const MachineOverview& machine, const SweepOverview& sweep);

// `compares` of claims about kernel time.
inline constexpr std::string_view kKernelTime = "kernel time";

// "0.986 to 0.999"; one number if both ends read the same, "" of none.
std::string range_text(const std::vector<double>& values, int digits);

// True if none of its records is of a GPU.
bool on_processor(const MachineOverview& machine);

// What all answers about kernel time say of Hilbert order: whether a claimed gain is reproduced, how it
// stands in these tests to random order, the control, and the range of speedups in each dtype. An answer in
// the dtype of its claim is a test, of any sweep; over all cases together, only in the claim's own.
// `machines` need not be all.
std::vector<std::string> answer_sentences(const std::vector<MachineOverview>& machines);

// The strongest of what they show besides, a sentence each, at most three: the programs of the reports run
// again, windows, rivals.
std::vector<std::string> strongest_sentences(const std::vector<MachineOverview>& machines);

}  // namespace hilbench
