// Checked calls of CUPTI by name. Only for files that are built if CUPTI's headers are found.
#pragma once

#include <cupti_result.h>
#include <fmt/format.h>

#include <cmath>
#include <stdexcept>
#include <string>

#include "harness/counters/backends.hpp"
#include "harness/counters/cuda_driver.hpp"
#include "harness/counters/cupti_library.hpp"
#include "kernels/base/process/library.hpp"

namespace hilbench {

// A call that failed or a function that is missing, explained to the reader of the record.
class CuptiError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

template <class Function>
Function* cupti_function(const LoadedLibrary& library, const char* name) {
  Function* function = library.find<Function>(name);
  if (function == nullptr)
    throw CuptiError(fmt::format(
        "{} has no {}: it belongs to another CUDA version; put the CUPTI of the CUDA version that "
        "hilbench was built with on LD_LIBRARY_PATH, or name it in HILBENCH_CUPTI",
        library.name(), name));
  return function;
}

template <class Function, class... Arguments>
void call_cupti(const LoadedLibrary& library, const char* name, Arguments... arguments) {
  const CUptiResult status = cupti_function<Function>(library, name)(arguments...);
  if (status != CUPTI_SUCCESS) throw CuptiError(cupti_failure(name, status));
}

// What both CUPTI backends share. After the first failure every counter is absent and no pass follows.
class CuptiCounters : public CounterBackend {
 protected:
  const std::string& failure() const { return failure_; }
  // Runs `step` unless an earlier step has failed.
  template <class Step>
  void guarded(Step step) {
    if (!failure_.empty()) return;
    try {
      step();
    } catch (const CuptiError& error) {
      failure_ = error.what();
    }
  }
  // The driver. Throws CuptiError if the calling thread has no context.
  static const CudaDriver& in_use_driver() {
    const CudaDriver& driver = CudaDriver::get();
    if (!driver.unavailable().empty()) throw CuptiError(driver.unavailable());
    if (driver.context() == nullptr) throw CuptiError("no CUDA device is in use by this thread");
    return driver;
  }
  static void require_countable(const CuptiFound& cupti) {
    if (const std::string why = why_not_countable(cupti); !why.empty()) throw CuptiError(why);
  }
  static RawCount finite(double value) {
    if (!std::isfinite(value)) return {.reason = "CUPTI returned no number for it"};
    return {.value = value};
  }

 private:
  std::string failure_;
};

}  // namespace hilbench

#define HILBENCH_CUPTI(library, function, ...) \
  ::hilbench::call_cupti<decltype(function)>((library), #function, __VA_ARGS__)
// A parameter block of the profiler's functions: all zero except for its size.
#define HILBENCH_CUPTI_PARAMS(type) \
  type {                            \
    type##_STRUCT_SIZE              \
  }
