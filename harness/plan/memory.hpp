// What a comparison needs of memory, and what there is of it. Estimates, made before anything is allocated.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "harness/plan/site.hpp"
#include "harness/sweep/settings.hpp"
#include "kernels/implementation.hpp"

namespace hilbench {

constexpr double kUsableMemory = 0.9;  // of what the host has available now

// Bytes in the memory of the case's device and, beside that, in the host's: 0 where the device is the CPU.
struct MemoryNeed {
  double device = 0;
  double host = 0;
};
inline MemoryNeed operator+(MemoryNeed a, MemoryNeed b) {
  return {a.device + b.device, a.host + b.host};
}

// Of all variants together: Q, K, V, O, LSE (not of a ring), and what making and verifying them takes.
MemoryNeed shared_need(const Case& work, const Inputs& inputs);
// Of one beside that: permuted copies, index and workspace; of a ring all that the ranks hold which share
// this host or, of `gpus`, the one with most. `variant` must be able to compute the case.
MemoryNeed own_need(const Case& work, const Variant& variant, const Implementation& implementation,
                    int threads, int gpus = 1);

// What may be used for the case; infinite where it is not known.
MemoryNeed usable_memory(const Case& work, const Site& site);

// Why `need` is too much, or nothing.
std::optional<std::string> why_not_fit(const MemoryNeed& need, const MemoryNeed& usable);

// The longest sequence of which `variant` alone fits, in steps of the pattern's longest segment; where not
// one segment fits, in single positions; 0: not one position.
std::int64_t longest_sequence(Case work, const Inputs& inputs, const Variant& variant,
                              const Implementation& implementation, int threads, const Site& site);

}  // namespace hilbench
