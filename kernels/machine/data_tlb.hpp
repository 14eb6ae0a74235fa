// How much memory a core's translations reach.
#pragma once

#include <cstdint>

namespace hilbench {

// Entries for 4 KiB pages of the data TLB that a core asks last before it walks the page table; 0: unknown.
// As the processor tells by CPUID, which a virtual machine may keep to itself.
std::int64_t data_tlb_entries();

}  // namespace hilbench
