#include "harness/device/callgrind.hpp"

#include <valgrind/callgrind.h>

namespace hilbench {

std::string callgrind_absence() {
  return "";
}

void count_by_callgrind(const std::function<void()>& body) {
  CALLGRIND_START_INSTRUMENTATION;
  body();
  CALLGRIND_STOP_INSTRUMENTATION;
  CALLGRIND_DUMP_STATS;
}

}  // namespace hilbench
