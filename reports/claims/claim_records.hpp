// The records of a case that a claim is about.
#pragma once

#include "reports/claims/claims.hpp"
#include "reports/view/view.hpp"

namespace hilbench {
// The records of what a claim compares. Null if the case does not hold it.
struct ClaimRecords {
  const Record* against = nullptr;
  const Record* variant = nullptr;
  const Record* beside = nullptr;
  const Record* control = nullptr;  // the first of those named that the case holds
  const Record* random = nullptr;   // the control in random order
};
// Variants of one kernel: that of `against`, unless it is a baseline.
ClaimRecords claim_records(const CaseView& of_case, const ComparedVariants& compared);
// `against` of the case with dense attention, which has kernels of its own; null if there is none.
ClaimRecords records_beside_dense(const CaseView& of_case, const CaseView* dense,
                                  const ComparedVariants& compared);

// True if `work` answers a claim about `claimed`: equal except for device, threads and dtype.
bool same_work(const Case& claimed, const Case& work);

}  // namespace hilbench
