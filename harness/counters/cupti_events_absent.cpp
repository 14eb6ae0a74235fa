// Used in place of cupti_events.cpp if CUPTI's headers are not found.
#include "harness/counters/backends.hpp"

namespace hilbench {

std::unique_ptr<CounterBackend> open_cupti_events(const CounterSet& set) {
  return open_none(
      set, "this build has no CUPTI Event API; build it where CMake finds the CUPTI headers of CUDA 12");
}

}  // namespace hilbench
