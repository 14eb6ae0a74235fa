// The data TLB of a core: how much memory its address translations reach.
#pragma once

#include <cstdint>

namespace hilbench {

// Entries for 4 KiB pages in the last-level data TLB, which a core reads before it walks the page table.
// 0: unknown. Read by CPUID; a virtual machine may hide it.
std::int64_t data_tlb_entries();

}  // namespace hilbench
