#include "reports/claims/claim_records.hpp"

#include <algorithm>

namespace hilbench {
namespace {

// The chunk that an order really had: 0, and anything longer than the sequence, mean the whole length.
std::int64_t effective_chunk(std::int64_t chunk, std::int64_t length) {
  return chunk <= 0 ? length : std::min(chunk, length);
}

// True if the record has the chunk that the claim states.
bool has_chunk(const Record& record, const Case& work, const ComparedVariants& compared) {
  if (!compared.order_chunk) return true;
  const std::int64_t length = work.sequence_length;
  return effective_chunk(record.order_chunk, length) == effective_chunk(*compared.order_chunk, length);
}

template <class Fits>
const Record* first_of(const CaseView& of_case, const NamedVariant& named, const Fits& fits) {
  if (!named.named()) return nullptr;
  for (const Record* record : of_case.records)
    if (is_of(*record, named) && fits(*record)) return record;
  return nullptr;
}

// `kernel`: that of all records; empty: any.
ClaimRecords records_beside(const Record* against, const std::string& kernel, const CaseView& of_case,
                            const ComparedVariants& compared) {
  ClaimRecords found{.against = against};
  const auto alike = [&](const Record& record) { return kernel.empty() || record.kernel == kernel; };
  const auto ordered = [&](const Record& record) {
    return alike(record) && has_chunk(record, *of_case.work, compared);
  };
  found.variant = first_of(of_case, compared.variant, ordered);
  found.beside = first_of(of_case, compared.beside, ordered);
  if (against == nullptr) return found;
  for (const NamedVariant& named : compared.controls) {
    const Record* control = first_of(of_case, named, alike);
    if (found.control == nullptr) found.control = control;
    if (named.order == "random") found.random = control;
  }
  return found;
}

constexpr auto kAny = [](const Record&) { return true; };

}  // namespace

ClaimRecords claim_records(const CaseView& of_case, const ComparedVariants& compared) {
  const Record* against = first_of(of_case, compared.against, kAny);
  const bool kernel = against != nullptr && against->kind == ImplementationKind::kernel;
  return records_beside(against, kernel ? against->kernel : "", of_case, compared);
}

ClaimRecords records_beside_dense(const CaseView& of_case, const CaseView* dense,
                                  const ComparedVariants& compared) {
  const Record* against = dense == nullptr ? nullptr : first_of(*dense, compared.against, kAny);
  return records_beside(against, "", of_case, compared);
}

bool same_work(const Case& claimed, const Case& work) {
  Case a = claimed, b = work;
  for (Case* both : {&a, &b}) {
    both->device = DeviceKind::automatic;
    both->threads = 0;
    both->dtype = Dtype::fp32;
    if (both->kv_heads == 0) both->kv_heads = both->heads;
  }
  return a == b;
}

}  // namespace hilbench
