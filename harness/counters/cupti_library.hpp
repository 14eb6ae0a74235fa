// Which CUPTI is here, and whether it can count on this machine's GPU: known before anything is counted.
#pragma once

#include <string>
#include <string_view>

#include "harness/counters/counters.hpp"
#include "kernels/base/process/library.hpp"

namespace hilbench {

// The CUPTI that a backend counts by.
struct CuptiFound {
  std::string path;     // the file that was loaded
  int version = 0;      // CUPTI_API_VERSION: 28, or 130001
  bool fake = false;    // stands in for CUPTI in tests: it says so by a symbol hilbench_fake
  std::string absence;  // why there is none, and what to do
};
// `remedy`: what to do if it is not found and HILBENCH_CUPTI names none.
CuptiFound look_at_cupti(const LoadedLibrary& library, std::string_view remedy);
// Of the Event API and of the Range Profiler.
CuptiFound find_cupti_events();
CuptiFound find_cupti_range();

// "CUPTI of CUDA 12 (API 28)", from its version.
std::string cupti_text(int version);

// What decides whether counters of a GPU can be read.
struct CountingSite {
  CounterTarget gpu = -1;  // compute capability: 10 * major + minor
  std::string driver;      // "580.65.06"; "" if NVML does not give it
  int driver_cuda = 0;     // CUDA version of the driver: 13000; 0 if unknown
  int cupti = 0;           // CUPTI_API_VERSION
};
// Why nothing can be counted there, and what to do; "" if nothing is known against it. It asks no GPU.
std::string why_not_countable(const CountingSite& site);
// The same for a CUPTI, the calling thread's device and this machine's driver. Also if the CUPTI is absent.
std::string why_not_countable(const CuptiFound& cupti);

// The CUPTI that counts `set`, one of CUPTI's.
CuptiFound find_cupti(const CounterSet& set);
// Why it cannot count the set on the calling thread's device; "" for sets of other backends.
std::string why_not_countable(const CounterSet& set);

}  // namespace hilbench
