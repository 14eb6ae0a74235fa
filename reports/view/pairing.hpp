// Pairing: which records answer which claim, and the ratio between two records of one case.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reports/claims/cache_levels.hpp"
#include "reports/claims/claims.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

// Kernel time of `reference` over that of `variant` plus `added_ns`. Nothing where one of them has no time,
// their rounds do not pair, or another process used the device.
std::optional<Measured> time_ratio(const Record& reference, const Record& variant, double added_ns = 0);
// Time of `reference` over that of `variant`, of different comparisons: nothing pairs their rounds, so the
// intervals of both medians add up, and what drifted in between is not in it.
std::optional<Measured> unpaired_time_ratio(const Record& reference, const Record& variant);
// The same for a counter and for memory: counts have no interval of their own.
std::optional<Measured> counter_ratio(const Record& reference, const Record& variant,
                                      const std::string& name);
std::optional<Measured> memory_ratio(const Record& reference, const Record& variant);

// What the claims call `standard`, `hilbert` and the seeds' own variant, and the negative control, in one
// case.
struct ClaimRecords {
  const Record* standard = nullptr;  // dilated/linear
  const Record* hilbert = nullptr;   // dilated/hilbert, chunk as claimed, scope memory, tensors kv
  const Record* tokens = nullptr;    // dilated/hilbert@tokens: another function
  const Record* random = nullptr;    // dilated/random, scope memory, tensors kv
};
ClaimRecords quartet_of(const CaseView& view, std::int64_t order_chunk);

// A kernel in linear order against a verified baseline of the same case.
struct RivalPair {
  const CaseView* where = nullptr;
  const Record* kernel = nullptr;
  const Record* rival = nullptr;
  Measured ratio;  // rival's time / kernel's time
};
// What ran, and the ring options of its variant.
std::string kernel_text(const Record& kernel);
// Those of the first `most_kernels` (case, kernel) that have any: each costs a bootstrap.
inline constexpr std::size_t kMostDuelRows = 60;  // of a figure
std::vector<RivalPair> duels_of(const View& view, std::size_t most_kernels = SIZE_MAX);

// Whether `work` is a case that a claim may be held to: equal but for device, threads and dtype.
bool same_work(const Case& claimed, const Case& work);

// Said where sign_settled (stats.hpp) is false.
inline constexpr std::string_view kUnsettled = "within 1 % of 1 in one process: the sign is not settled";

// A claim against one case of the store, or the reason why it cannot be tested.
struct ClaimAnswer {
  const ClaimRow* claim = nullptr;
  const CaseView* where = nullptr;  // null where no case answers it
  ClaimVerdict verdict = ClaimVerdict::not_testable;
  std::string why;  // what the verdict rests on, or why there is none
  std::optional<Measured> measured;
  std::optional<Measured> with_permutation;  // one permutation added to the hilbert side
  std::optional<Measured> tokens;            // the seeds' variant: a different function, never judged
  std::optional<Measured> control;           // random order in hilbert's place
  std::vector<LevelAnswer> levels;           // of a claim about caches: each level with counters or why not
};

// At least one answer for each claim, in the claims' order; one for each case that answers it.
std::vector<ClaimAnswer> answer_claims(const std::vector<ClaimRow>& claims, const View& view);

}  // namespace hilbench
