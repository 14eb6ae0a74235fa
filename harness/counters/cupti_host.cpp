#include "harness/counters/cupti_host.hpp"

#include <cuda.h>

#include "harness/counters/cupti_call.hpp"
#include "harness/counters/cupti_library.hpp"

namespace hilbench {

const LoadedLibrary& cupti_range_library() {
  constexpr int kMajor = CUDA_VERSION / 1000;  // of the build
  static const LoadedLibrary library(cupti_names({kMajor, kMajor == 12 ? 13 : 12}));
  return library;
}

CuptiFound find_cupti_range() {
  return look_at_cupti(cupti_range_library(),
                       "install the CUDA toolkit's CUPTI or put it on LD_LIBRARY_PATH");
}

CuptiHost::CuptiHost(const std::string& chip, const std::uint8_t* availability) {
  if (const std::string absence = find_cupti_range().absence; !absence.empty()) throw CuptiError(absence);
  auto params = HILBENCH_CUPTI_PARAMS(CUpti_Profiler_Host_Initialize_Params);
  params.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
  params.pChipName = chip.c_str();
  params.pCounterAvailabilityImage = availability;
  HILBENCH_CUPTI(cupti_range_library(), cuptiProfilerHostInitialize, &params);
  host_ = params.pHostObject;
}

CuptiHost::~CuptiHost() {
  auto params = HILBENCH_CUPTI_PARAMS(CUpti_Profiler_Host_Deinitialize_Params);
  params.pHostObject = host_;
  try {
    HILBENCH_CUPTI(cupti_range_library(), cuptiProfilerHostDeinitialize, &params);
  } catch (const CuptiError& error) {
    fmt::print(stderr, "hilbench: {}\n", error.what());
  }
}

bool CuptiHost::has(const std::string& metric) const {
  if (metric.find('.') == std::string::npos)
    return false;  // a base metric, which cannot be counted without a rollup such as .sum
  auto params = HILBENCH_CUPTI_PARAMS(CUpti_Profiler_Host_GetMetricProperties_Params);
  params.pHostObject = host_;
  params.pMetricName = metric.c_str();
  try {
    HILBENCH_CUPTI(cupti_range_library(), cuptiProfilerHostGetMetricProperties, &params);
  } catch (const CuptiError&) {
    return false;
  }
  return true;
}

void CuptiHost::schedule(const std::vector<const char*>& metrics) {
  std::vector<const char*> names = metrics;
  auto add = HILBENCH_CUPTI_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics_Params);
  add.pHostObject = host_;
  add.ppMetricNames = names.data();
  add.numMetrics = names.size();
  HILBENCH_CUPTI(cupti_range_library(), cuptiProfilerHostConfigAddMetrics, &add);

  auto size = HILBENCH_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImageSize_Params);
  size.pHostObject = host_;
  HILBENCH_CUPTI(cupti_range_library(), cuptiProfilerHostGetConfigImageSize, &size);
  config_.resize(size.configImageSize);

  auto image = HILBENCH_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImage_Params);
  image.pHostObject = host_;
  image.configImageSize = config_.size();
  image.pConfigImage = config_.data();
  HILBENCH_CUPTI(cupti_range_library(), cuptiProfilerHostGetConfigImage, &image);

  auto passes = HILBENCH_CUPTI_PARAMS(CUpti_Profiler_Host_GetNumOfPasses_Params);
  passes.configImageSize = config_.size();
  passes.pConfigImage = config_.data();
  HILBENCH_CUPTI(cupti_range_library(), cuptiProfilerHostGetNumOfPasses, &passes);
  passes_ = static_cast<int>(passes.numOfPasses);
}

std::vector<double> CuptiHost::evaluate(const std::vector<std::uint8_t>& counter_data,
                                        std::vector<const char*> metrics) const {
  std::vector<double> values(metrics.size());
  auto params = HILBENCH_CUPTI_PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues_Params);
  params.pHostObject = host_;
  params.pCounterDataImage = counter_data.data();
  params.counterDataImageSize = counter_data.size();
  params.ppMetricNames = metrics.data();
  params.numMetrics = metrics.size();
  params.pMetricValues = values.data();
  HILBENCH_CUPTI(cupti_range_library(), cuptiProfilerHostEvaluateToGpuValues, &params);
  return values;
}

HostCheck check_cupti_set(const CounterSet& set, const std::string& chip) {
  HostCheck check;
  try {
    CuptiHost host(chip, nullptr);
    std::vector<const char*> metrics;
    for (const CounterEvent& event : set.events) {
      if (host.has(event.event))
        metrics.push_back(event.event.c_str());
      else
        check.unknown.push_back(event.event);
    }
    host.schedule(metrics);
    check.passes = host.passes();
  } catch (const CuptiError& error) {
    check.unavailable = error.what();
  }
  return check;
}

}  // namespace hilbench
