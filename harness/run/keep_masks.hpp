// The masks of a run's cases in its store: records hold their hashes alone.
#pragma once

#include "harness/plan/plan.hpp"
#include "reports/records/store.hpp"

namespace hilbench {

// Keeps the mask of every case of which something is to be measured, under `mask.HASH` in the store's meta
// (docs/formats.md). Throws as Store::set_meta does.
void keep_masks(Store& store, const Plan& plan);

}  // namespace hilbench
