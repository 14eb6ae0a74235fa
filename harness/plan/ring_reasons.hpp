// Why a site cannot run a variant's ring, and over which transport it would.
#pragma once

#include <optional>
#include <string>

#include "harness/plan/site.hpp"
#include "harness/sweep/settings.hpp"
#include "kernels/case/case.hpp"
#include "kernels/case/variant.hpp"

namespace hilbench {

// Whether the variant's ring, if there is one, is the harness's.
bool has_ring_here(const Variant& variant);

// The variant's transport; by default the fastest of the device, between processes or inside one.
TransportKind transport_of(const Case& work, const Variant& variant, const Site& site);

// Why the harness cannot run the ring of `variant` here, or nothing. For a case of several ranks.
std::optional<std::string> why_not_ring_here(const Measure& measure, const Case& work, const Variant& variant,
                                             const Site& site);

}  // namespace hilbench
