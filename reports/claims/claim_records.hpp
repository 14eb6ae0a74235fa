// Which records of a case a claim is about.
#pragma once

#include <cstdint>

#include "reports/view/view.hpp"

namespace hilbench {

// What the claims call `standard`, `hilbert` and the seeds' own variant, and the negative control, in one
// case.
struct ClaimRecords {
  const Record* standard = nullptr;  // dilated/linear
  const Record* hilbert = nullptr;   // dilated/hilbert, chunk as claimed, scope memory, tensors kv
  const Record* tokens = nullptr;    // dilated/hilbert@tokens: another function
  const Record* random = nullptr;    // dilated/random, scope memory, tensors kv
};
ClaimRecords claim_records(const CaseView& of_case, std::int64_t order_chunk);

// Whether `work` is a case that a claim may be held to: equal but for device, threads and dtype.
bool same_work(const Case& claimed, const Case& work);

}  // namespace hilbench
