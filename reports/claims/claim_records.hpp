// The records of a case that a claim is about.
#pragma once

#include <cstdint>

#include "reports/view/view.hpp"

namespace hilbench {

// In one case: what the claims call `standard` and `hilbert`, the variant that the seeds ran, and the
// controls. Null if the case does not hold it.
struct ClaimRecords {
  const Record* standard = nullptr;  // dilated/linear
  const Record* hilbert = nullptr;   // dilated/hilbert, chunk as claimed, scope memory, tensors kv
  const Record* tokens = nullptr;    // dilated/hilbert@tokens: another function
  const Record* random = nullptr;    // dilated/random, scope memory, tensors kv
  const Record* gathered = nullptr;  // dilated/linear.gathered: linear order through a table of slots

  // What pays the same table of slots as `hilbert` without its order: `gathered`, otherwise `random`.
  const Record* control() const { return gathered != nullptr ? gathered : random; }
};
ClaimRecords claim_records(const CaseView& of_case, std::int64_t order_chunk);

// True if `work` answers a claim about `claimed`: equal except for device, threads and dtype.
bool same_work(const Case& claimed, const Case& work);

}  // namespace hilbench
