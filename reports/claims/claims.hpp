// A claim of the seed reports or of a paper as data, and the rule by which a measurement judges it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/claims/named_variant.hpp"
#include "reports/records/record.hpp"
#include "reports/view/pairing.hpp"

namespace hilbench {

// What a claim compares. It decides which measurement answers it.
enum class Quantity {
  speedup,        // kernel time, as all that follow `against` / `variant`
  buffers,        // kernel time, without an option / with it: pooled and fresh buffers
  cache_lines,    // misses of the caches, else distinct lines touched
  memory,         // peak memory
  communication,  // bytes that the ranks of a ring send
  break_even,     // sequence length above which the variant pays
  longest,        // longest sequence that fits on this many devices
  other,          // nothing that a record holds: `untestable` says why
};

// The variants of a row. Its ratio is that of `against` / `variant`.
struct ComparedVariants {
  NamedVariant variant, against;
  std::vector<NamedVariant>
      controls;         // pay what `variant` pays, and gain nothing; the first that was measured
  NamedVariant beside;  // shown, never judged: it computes another function
  std::optional<std::int64_t> order_chunk;  // of `variant` and `beside`; none: any
};

// The cases of a row that states parameters of a case, and not a whole one.
struct ClaimTest {
  std::string compares;                     // what is divided by what, for readers
  std::map<std::string, std::string> work;  // parameters that a case must have, as ids write them
  bool dense = false;  // `against` is of the case with dense attention on the same tokens
  std::string level;   // of that cache alone; empty: of every level that was counted
};

struct ClaimRow {
  std::string claim_id;    // "hybrid-core"
  std::string reading_of;  // the claim whose figures these are too, read by other rules; empty: none
  std::string title;
  std::string source;      // seed and section, or the paper
  std::string arxiv;       // of a paper, "2502.04507"; empty: of the seed reports
  std::string provenance;  // measured | modelled | unsourced (a row's own wins)
  std::string how;         // it was obtained, in more words; may be empty
  std::string says;        // the row in our words; may be empty
  std::string metric;      // speedup, peak_memory_gb, ...
  Quantity quantity = Quantity::other;
  std::string configuration;  // what the row states of the case, as text; assumptions are marked
  std::string stated;         // the numbers of the row, as text
  std::optional<Case> work;   // the case that answers it; none if the row does not state a whole case
  ComparedVariants compared;
  std::optional<ClaimTest> test;
  bool names_dtype = false;  // the source states the dtype; it is no assumption of ours
  // What a row states of the case, even if it is not a whole case.
  std::optional<std::int64_t> sequence_length, ring_size;  // ring_size: `gpus` too
  std::string device;                                      // "a100-80gb"
  // States no pattern: all cases of a store with its length and ring size, if it states
  // them, answer together.
  bool any_case = false;
  std::optional<double> claimed;          // ratio against / variant (c), or the value claimed
  std::optional<Interval> claimed_range;  // if low and high are given, as ratios; judged by the low end
  std::string untestable;                 // why no record of any store can answer it; empty if one can
  std::string note;
};

inline bool of_paper(const ClaimRow& claim) {
  return !claim.arxiv.empty();
}

// True if the claim says that Hilbert order gains something, and not that it loses or changes nothing.
bool claims_a_gain(const ClaimRow& claim);

enum class ClaimVerdict {
  reproduced,
  no_gain,  // equal, or no slower than an order that pays the same table of slots
  contradicted,
  smaller_than_claimed,
  excluded,      // the claimed gain or loss; whether there is a smaller one, none, or the opposite is open
  inconclusive,  // the claim may hold, as far as the samples tell
  not_testable
};
std::string_view to_string(ClaimVerdict verdict);

// True if the claim may hold or does: its 95 % interval does not exclude what is claimed.
constexpr bool may_hold(ClaimVerdict verdict) {
  return verdict == ClaimVerdict::reproduced || verdict == ClaimVerdict::inconclusive;
}

// The first rule of docs/claims.md, How a claim is judged, that `measured` meets; mirrored for claims
// below 1. `control`: the verdict on the same variant against the control that pays the same table of slots;
// nothing if none was measured. A ratio of exact counts (0 processes) needs no control.
ClaimVerdict judge_claim(double claimed, const Measured& measured, std::optional<Verdict> control);

}  // namespace hilbench
