#include "reports/claims/answer_rings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "reports/claims/named_devices.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

// The order `against` with the ring options of `record`. If that orders the whole sequence, also the order of
// shards, which sends as many rows. Null if there is none.
const Record* other_order(const CaseView& of_case, const Record& record, const std::string& against) {
  const auto with_span = [&](OrderSpan span) -> const Record* {
    Variant wanted = record.variant;
    KernelChoice& kernel = wanted.change();
    kernel.order = against;
    kernel.order_param.reset();
    wanted.ring.order_span = span;
    for (const Record* other : of_case.records) {
      if (other->kind != ImplementationKind::kernel || other->status != Status::ok) continue;
      Variant variant = other->variant;
      variant.change().order_chunk = kernel.order_chunk;
      variant.change().chunk_in_id = kernel.chunk_in_id;
      if (variant == wanted) return other;
    }
    return nullptr;
  };
  const Record* same = with_span(record.variant.ring.order_span);
  return same != nullptr ? same : with_span(OrderSpan::shard);
}

std::optional<double> device_bytes(const Record& record) {
  const nlohmann::json& environment = *record.environment;
  if (!environment.is_object() || !environment.contains("device") || !environment["device"].is_object())
    return std::nullopt;
  const nlohmann::json& device = environment["device"];
  if (!device.contains("memory_bytes") || !device["memory_bytes"].is_number()) return std::nullopt;
  return device["memory_bytes"].get<double>();
}

}  // namespace

ClaimAnswer answer_communication(const ClaimRow& claim, const View& view) {
  ClaimAnswer answer{.claim = &claim};
  const std::string &variant = claim.compared.variant.order, &against = claim.compared.against.order;
  std::vector<Measured> ratios;
  std::vector<double> packed;  // packed rows over whole shards, either order
  for (const CaseView& of_case : view.cases)
    for (const Record* record : of_case.records) {
      if (of_case.work->ring_size == 1 || record->status != Status::ok || !record->comm_bytes) continue;
      Variant whole = record->variant;
      whole.ring.algorithm = RingAlgorithm::automatic;
      for (const Record* other : of_case.records)
        if (record->variant.ring.algorithm == RingAlgorithm::ring_packed && other->variant == whole &&
            other->comm_bytes.value_or(0) > 0)
          packed.push_back(*record->comm_bytes / *other->comm_bytes);
      if (record->kind != ImplementationKind::kernel || record->variant.kernel().order != variant ||
          *record->comm_bytes <= 0)
        continue;
      const Record* other = other_order(of_case, *record, against);
      if (other == nullptr || other->comm_bytes.value_or(0) <= 0) continue;
      const double ratio = *other->comm_bytes / *record->comm_bytes;
      ratios.push_back(exact_ratio(ratio));
    }
  if (ratios.empty()) {
    answer.why = fmt::format("not tested here: no ring that exchanges data has both {} and {} order", against,
                             variant);
    return answer;
  }
  answer.measured = over_all(ratios);
  settle(answer);
  answer.why = fmt::format("bytes counted by the transport, {} and {} order of {} rings", against, variant,
                           ratios.size());
  if (!packed.empty()) {
    const auto [low, high] = std::minmax_element(packed.begin(), packed.end());
    answer.why += fmt::format("; ring_packed sends {} to {} of the bytes of whole shards, in every order",
                              number_text(*low, 3), number_text(*high, 3));
  }
  return answer;
}

ClaimAnswer answer_longest(const ClaimRow& claim, const View& view) {
  constexpr double kSameMemory = 0.1;  // drivers reserve part of the nominal size
  ClaimAnswer answer{.claim = &claim};
  const auto wanted = nominal_memory_bytes(claim.device);
  const CaseView* longest = nullptr;
  for (const CaseView& of_case : view.cases)
    for (const Record* record : of_case.records) {
      const std::optional<double> bytes = device_bytes(*record);
      const bool such_devices = wanted && bytes &&
                                std::abs(*bytes / static_cast<double>(*wanted) - 1) < kSameMemory &&
                                of_case.work->ring_size == claim.ring_size.value_or(1);
      const NamedVariant& named = claim.compared.variant;
      if (!such_devices || record->status != Status::ok || record->kind != ImplementationKind::kernel ||
          (!named.any() && record->variant.kernel().order != named.order))
        continue;
      if (longest == nullptr || of_case.work->sequence_length > longest->work->sequence_length)
        longest = &of_case, answer.record = record;
    }
  if (longest == nullptr) {
    answer.why =
        fmt::format("not tested here: needs {} x {}; `hilbench predict` shows what the memory plan allows",
                    claim.ring_size.value_or(1), claim.device);
    return answer;
  }
  const auto length = static_cast<double>(longest->work->sequence_length);
  answer.where = longest;
  answer.dtype = longest->work->dtype;
  answer.measured = exact_ratio(length);
  answer.verdict = length >= *claim.claimed ? ClaimVerdict::reproduced : ClaimVerdict::smaller_than_claimed;
  answer.why = "longest sequence that ran on this many devices with this much memory; longer ones may fit";
  return answer;
}

}  // namespace hilbench
