// Why a site cannot run a variant's ring, and which transport the ring uses.
#pragma once

#include <optional>
#include <string>

#include "harness/plan/site.hpp"
#include "harness/sweep/settings.hpp"
#include "kernels/base/text/refusal.hpp"
#include "kernels/case/case.hpp"
#include "kernels/case/variant.hpp"
#include "kernels/ring/ring.hpp"

namespace hilbench {

// True if the harness itself runs the variant's ring: not so for baselines without a ring algorithm.
bool has_ring_here(const Variant& variant);

// The variant's transport. By default: the one made for the case's device, between processes if there are
// several, else inside this process.
TransportKind transport_of(const Case& work, const Variant& variant, const Site& site);

// The variant with its transport, and with the number of groups of ranks that it runs with: if it names none
// and its ranks are processes on several hosts, the ranks of each host are a group.
Variant on_site(const Case& work, Variant variant, const Site& site);

// The ring of a case with several ranks, or why there is none, whether this site could run it or not. Neither
// if another program has rings of its own, or the pattern is one of windows.
struct PlannedRing {
  std::optional<Ring> ring;
  Refusal why_not;
};
PlannedRing plan_ring(const Case& work, const Variant& variant, const Site& site);

// Why the harness cannot run this ring of `variant` here; nothing if it can. `work` must have several ranks.
Refusal why_not_ring_here(const Measure& measure, const Case& work, const Variant& variant,
                          const PlannedRing& planned, const Site& site);

}  // namespace hilbench
