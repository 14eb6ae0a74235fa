// Used in place of cupti_host.cpp and cupti_range.cpp if CUPTI's headers of CUDA 12.6 or later are not found.
#include "harness/counters/backends.hpp"
#include "harness/counters/cupti_library.hpp"

namespace hilbench {
namespace {

constexpr const char* kReason =
    "this build has no CUPTI Range Profiler; build it where CMake finds the CUPTI headers of CUDA 12.6 or "
    "later";

}  // namespace

std::unique_ptr<CounterBackend> open_cupti_range(const CounterSet& set) {
  return open_none(set, kReason);
}

void close_cupti_range() {}

CuptiFound find_cupti_range() {
  return {.absence = kReason};
}

HostCheck check_cupti_set(const CounterSet&, const std::string&) {
  return {.unavailable = kReason};
}

}  // namespace hilbench
