// Pairing: which records answer which claim, and the ratio between two records of one case.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reports/claims.hpp"
#include "reports/load.hpp"

namespace hilbench {

struct Measured {
  double ratio = 0;  // reference / variant: above 1 says that the variant needs less
  Interval ci;       // 95 %; both ends equal the ratio where it is an exact count
};

// Kernel time of `reference` over that of `variant` plus `added_ns`. Nothing where one of them has no time,
// their rounds do not pair, or another process used the device.
std::optional<Measured> time_ratio(const Record& reference, const Record& variant, double added_ns = 0);
// The same for a counter and for memory: counts have no interval of their own.
std::optional<Measured> counter_ratio(const Record& reference, const Record& variant,
                                      const std::string& name);
std::optional<Measured> memory_ratio(const Record& reference, const Record& variant);

// What the claims call `standard`, `hilbert` and the seeds' own variant, in one case.
struct Trio {
  const Record* standard = nullptr;  // dilated/linear
  const Record* hilbert = nullptr;   // dilated/hilbert, chunk as claimed, scope memory, tensors kv
  const Record* tokens = nullptr;    // dilated/hilbert@tokens: another function
};
Trio trio_of(const CaseView& view, std::int64_t order_chunk);

// Whether `work` is the case that a claim means: equal but for device and threads.
bool same_work(const Case& claimed, const Case& work);

// A claim against one case of the store, or the reason why it cannot be tested.
struct ClaimAnswer {
  const ClaimRow* claim = nullptr;
  const CaseView* where = nullptr;  // null where no case answers it
  ClaimVerdict verdict = ClaimVerdict::not_testable;
  std::string why;  // what the verdict rests on, or why there is none
  std::optional<Measured> measured;
  std::optional<Measured> with_permutation;  // one permutation added to the hilbert side
  std::optional<Measured> tokens;            // the seeds' variant: a different function, never judged
};

// At least one answer for each claim, in the claims' order; one for each case that answers it.
std::vector<ClaimAnswer> answer_claims(const std::vector<ClaimRow>& claims, const View& view);

}  // namespace hilbench
