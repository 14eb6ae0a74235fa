#include "harness/plan/page_reasons.hpp"

#include <fmt/format.h>

#include "harness/plan/ring_reasons.hpp"

namespace hilbench {

Refusal why_not_pages_here(const PlannedVariant& planned, const Site& site) {
  const Case& work = planned.work;
  if (work.pages == PageSize::standard) return std::nullopt;
  const auto because = [&](const char* why) {
    return fmt::format("pages {}: {}", to_string(work.pages), why);
  };
  if (work.device == DeviceKind::cuda) return because("a GPU's driver chooses the pages of its memory");
  if (planned.implementation->external) return because("another program chooses the pages of its memory");
  if (planned.variant.kernel().buffers == Buffers::fresh)
    return because("they are checked before anything is timed, so buffers must be pooled");
  if (work.ring_size > 1 && transport_of(work, planned.variant, site) == TransportKind::mpi)
    return because("they are checked in one process, and each rank of this ring is one");
  return why_not_pages(work.pages, site.host.huge_pages);
}

}  // namespace hilbench
