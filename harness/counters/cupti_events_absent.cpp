// Used in place of cupti_events.cpp if CUPTI's headers are not found.
#include "harness/counters/backends.hpp"
#include "harness/counters/cupti_library.hpp"

namespace hilbench {
namespace {

constexpr const char* kNoEventApi =
    "this build has no CUPTI Event API; build it where CMake finds the CUPTI headers of CUDA 12";

}  // namespace

std::unique_ptr<CounterBackend> open_cupti_events(const CounterSet& set) {
  return open_none(set, kNoEventApi);
}

CuptiFound find_cupti_events() {
  return {.absence = kNoEventApi};
}

}  // namespace hilbench
