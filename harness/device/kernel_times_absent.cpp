// For a build without CUPTI.
#include "harness/device/kernel_times.hpp"
#include "kernels/base/text/error.hpp"

namespace hilbench {

const std::string& kernel_times_absence() {
  static const std::string reason = "this build has no CUPTI";
  return reason;
}

double kernel_time_ns(const std::function<void()>&) {
  throw EnvironmentError({.what = "no activity records", .why = kernel_times_absence()});
}

}  // namespace hilbench
