#include "kernels/machine/data_tlb.hpp"

#include <algorithm>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

namespace hilbench {

#if defined(__x86_64__) || defined(__i386__)

namespace {

struct Registers {
  unsigned a = 0, b = 0, c = 0, d = 0;
};

// Intel SDM volume 2, CPUID leaf 18H: one subleaf for each TLB; EAX of the first has the number of the last.
std::int64_t intel_entries() {
  constexpr unsigned kLeaf = 0x18, kData = 1, kUnified = 3;
  std::int64_t most = 0;
  unsigned last = 0;
  for (unsigned subleaf = 0; subleaf <= last && subleaf < 32; ++subleaf) {
    Registers r;
    if (__get_cpuid_count(kLeaf, subleaf, &r.a, &r.b, &r.c, &r.d) == 0) return most;
    if (subleaf == 0) last = r.a;
    const unsigned type = r.d & 31, pages_4k = r.b & 1, ways = r.b >> 16, sets = r.c;
    if ((type == kData || type == kUnified) && pages_4k == 1)
      most = std::max(most, static_cast<std::int64_t>(ways) * sets);
  }
  return most;
}

// AMD APM volume 3, CPUID Fn8000_0006 EBX: entries of the L2 data TLB for 4 KiB pages.
std::int64_t amd_entries() {
  Registers r;
  if (__get_cpuid(0x80000006, &r.a, &r.b, &r.c, &r.d) == 0) return 0;
  return (r.b >> 16) & 0xfff;
}

}  // namespace

std::int64_t data_tlb_entries() {
  const std::int64_t intel = intel_entries();
  return intel > 0 ? intel : amd_entries();
}

#else

std::int64_t data_tlb_entries() {
  return 0;
}

#endif

}  // namespace hilbench
