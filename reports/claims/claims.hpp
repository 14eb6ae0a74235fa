// The claims of the seed reports as data (claims.yaml), and how measurement judges them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "reports/records/record.hpp"

namespace hilbench {

// What a claim compares, and so which measurement answers it.
enum class Quantity {
  speedup,        // kernel time, standard / hilbert
  buffers,        // kernel time, fresh buffers / pooled ones
  cache_lines,    // misses of the caches, else distinct lines touched, standard / hilbert
  memory,         // peak memory, standard / hilbert
  communication,  // bytes that the ranks of a ring send, standard / hilbert
  break_even,     // sequence length above which hilbert pays
  longest,        // longest sequence that fits so many devices
  other,          // nothing that a record holds: `untestable` says why
};

struct ClaimRow {
  std::string claim_id;  // "hybrid-core"
  std::string title;
  std::string source;      // seed and section
  std::string provenance;  // measured | modelled | unsourced (a row's own wins)
  std::string metric;      // speedup, peak_memory_gb, ...
  Quantity quantity = Quantity::other;
  std::string configuration;  // what the row says of the case, as text; what is assumed is marked
  std::string stated;         // the row's own figures, as text
  std::optional<Case> work;   // the case that would answer it; none where the row names no case
  bool names_dtype = false;   // by the source, not by an assumption of ours
  // What a row says of the work even where it names no whole case.
  std::optional<std::int64_t> sequence_length, ring_size;  // ring_size: `gpus` too
  std::string device;                                      // "a100-80gb"
  // States no pattern: all cases of a store answer it together, of the length and ring size that it names.
  bool any_case = false;
  std::int64_t order_chunk = 4096;        // of the hilbert side
  std::optional<double> claimed;          // ratio standard / hilbert (c), or the value claimed
  std::optional<Interval> claimed_range;  // where low and high are given, as ratios; judged by the low end
  std::string untestable;                 // why no record of any store can answer it; empty where one can
  std::string note;
};

// Whether the row says that Hilbert order gains something: a claim of a loss that is reproduced is none.
bool claims_a_gain(const ClaimRow& claim);

// mixed: one level of the caches bears the claim out, another does not.
enum class ClaimVerdict {
  reproduced,
  smaller_than_claimed,
  no_difference,
  contradicted,
  mixed,
  not_testable
};
std::string_view to_string(ClaimVerdict verdict);
// README, Claims: c > 1 against [l, u]; mirrored for c < 1. A claim of exactly 1 says "no difference": it is
// reproduced by an interval that holds 1 and contradicted by any other.
ClaimVerdict judge(double claimed, const Interval& measured);

}  // namespace hilbench
