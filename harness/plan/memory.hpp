// How much memory a comparison needs, and how much there is. Estimates, made before anything is allocated.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "harness/plan/site.hpp"
#include "harness/sweep/settings.hpp"
#include "kernels/base/text/refusal.hpp"
#include "kernels/implementation.hpp"
#include "kernels/ring/ring.hpp"
#include "kernels/windows/window_tiles.hpp"

namespace hilbench {

constexpr double kUsableMemory = 0.9;  // this share of the memory that the host has available

// Bytes in the memory of the case's device, and bytes in the host's memory (0 if the device is the CPU).
struct MemoryNeed {
  double device = 0;
  double host = 0;
};
inline MemoryNeed operator+(MemoryNeed a, MemoryNeed b) {
  return {a.device + b.device, a.host + b.host};
}

inline MemoryNeed operator-(MemoryNeed a, MemoryNeed b) {
  return {a.device - b.device, a.host - b.host};
}

// What all variants share: Q, K, V, O and LSE (not for a ring), and what is needed to fill and verify them.
MemoryNeed shared_need(const Case& work, const Inputs& inputs);
// Bytes of K and V on the case's device.
double copies_of_keys(const Case& work);
// What one variant needs besides, which is no ring of ours: permuted copies, index and workspace. It must be
// able to compute the case. `tiles`: of windows; without them the lists of keys and their masks are left out.
MemoryNeed own_need(const Case& work, const Variant& variant, const Implementation& implementation,
                    int threads, const std::optional<TileCounts>& tiles = {});
// What one step of a training holds on the device with this variant: between its passes (Q, K and V; with
// `saved: statistics` O and LSE too), and at most at a time: in the backward pass, with dO, dQ, dK, dV,
// workspace and index. Tensors lie in the variant's order from the beginning; nothing that verifies is
// counted.
struct StepMemory {
  double held = 0, peak = 0;
};
StepMemory step_memory(const Case& work, const Variant& variant, const Implementation& implementation,
                       int threads);
// The same for a ring: everything that its ranks hold on this host or, with several `gpus`, on the GPU that
// holds most.
MemoryNeed ring_need(const Ring& ring, const Implementation& implementation, int threads, int gpus);
// Either of them, for a case that no plan holds.
MemoryNeed unplanned_need(const Case& work, const Variant& variant, const Implementation& implementation,
                          int threads, int gpus);

// The part of own_need() of an external program that the programs of a comparison share: the files from which
// they read Q, K and V.
MemoryNeed input_files_need(const Case& work);

// The memory that the case may use; infinite if it is not known.
MemoryNeed usable_memory(const Case& work, const Site& site);

// Why `need` does not fit into `usable`; nothing if it fits.
Refusal why_not_fit(const MemoryNeed& need, const MemoryNeed& usable);

// The longest sequence for which `variant` alone fits: a multiple of the pattern's longest segment or, if not
// even one segment fits, any number of positions. 0: not one position fits.
std::int64_t longest_sequence(Case work, const Inputs& inputs, const Variant& variant,
                              const Implementation& implementation, int threads, const Site& site);

}  // namespace hilbench
