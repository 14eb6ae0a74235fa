#include "reports/claims/claim_records.hpp"

#include <algorithm>
#include <string_view>

namespace hilbench {
namespace {

// The chunk that an order really had: 0, and anything longer than the sequence, mean the whole length.
std::int64_t effective_chunk(std::int64_t chunk, std::int64_t length) {
  return chunk <= 0 ? length : std::min(chunk, length);
}

// True if all options except order, its parameter, chunk, scope and `rows` are at their defaults.
bool plain_options(const Variant& variant, KeyRows rows) {
  const KernelChoice& kernel = variant.kernel();
  return variant == Variant{KernelChoice{.name = kernel.name,
                                         .order = kernel.order,
                                         .order_param = kernel.order_param,
                                         .order_chunk = kernel.order_chunk,
                                         .chunk_in_id = kernel.chunk_in_id,
                                         .order_scope = kernel.order_scope,
                                         .rows = rows}};
}

}  // namespace

ClaimRecords claim_records(const CaseView& of_case, std::int64_t order_chunk) {
  ClaimRecords found;
  const auto matches = [&](const Record& record, std::string_view order, OrderScope scope,
                           KeyRows rows = KeyRows::automatic) {
    return record.kind == ImplementationKind::kernel && record.variant.kernel().order == order &&
           record.variant.kernel().order_scope == scope && plain_options(record.variant, rows);
  };
  for (const Record* record : of_case.records)
    if (!found.standard && matches(*record, "linear", OrderScope::memory)) found.standard = record;
  for (const Record* record : of_case.records) {
    if (!found.standard || record->kernel != found.standard->kernel) continue;
    if (!found.random && matches(*record, "random", OrderScope::memory)) found.random = record;
    if (!found.gathered && matches(*record, "linear", OrderScope::memory, KeyRows::gathered))
      found.gathered = record;
  }
  const std::int64_t length = of_case.work->sequence_length;
  const std::int64_t wanted = effective_chunk(order_chunk, length);
  for (const Record* record : of_case.records) {
    if (found.standard && record->kernel != found.standard->kernel) continue;
    if (effective_chunk(record->order_chunk, length) != wanted) continue;
    if (!found.hilbert && matches(*record, "hilbert", OrderScope::memory)) found.hilbert = record;
    if (!found.tokens && matches(*record, "hilbert", OrderScope::tokens)) found.tokens = record;
  }
  return found;
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
