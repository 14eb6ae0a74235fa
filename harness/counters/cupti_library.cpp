#include "harness/counters/cupti_library.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>

#include "harness/counters/cuda_driver.hpp"
#include "kernels/machine/nvml.hpp"

namespace hilbench {
namespace {

// The last compute capability whose counters the Event API reads. The Range Profiler reads those above it.
constexpr CounterTarget kLastOfEvents = 72;

// The first driver that reads no counters by the Event API, and the CUDA version of that branch. It still
// lists metrics and their events, because CUPTI does that by itself. Source: NVIDIA's answer in its developer
// forum,
// forums.developer.nvidia.com/t/cupti-event-api-fails-with-error-cupti-error-not-supported-on-v100/364454.
constexpr int kFirstWithoutEvents = 580;
constexpr int kCudaWithoutEvents = 13000;

// Versions of CUPTI's API, from cupti_version.h: CUDA 11.0 is 13, 12.0 is 19, 12.6 is 24. From CUDA 13 on
// they are written 130000.
constexpr int kApiOfCuda11 = 13, kApiOfCuda12 = 19, kApiWithRanges = 24, kApiPerCuda = 10000;

int cuda_major_of(int api) {
  if (api >= kApiPerCuda) return api / kApiPerCuda;
  if (api >= kApiOfCuda12) return 12;
  return api >= kApiOfCuda11 ? 11 : 10;
}

bool lacks_events(const CountingSite& site) {
  if (!site.driver.empty()) return std::atoi(site.driver.c_str()) >= kFirstWithoutEvents;
  return site.driver_cuda >= kCudaWithoutEvents;
}

std::string driver_text(const CountingSite& site) {
  if (!site.driver.empty()) return "driver " + site.driver;
  return fmt::format("this driver of CUDA {}.{}", site.driver_cuda / 1000, site.driver_cuda % 1000 / 10);
}

std::string why_no_events(const CountingSite& site) {
  const char* architecture = site.gpu < 70 ? "Pascal" : "Volta";
  if (lacks_events(site))
    return fmt::format("{} reads none on {}; install driver 575 or older", driver_text(site), architecture);
  if (cuda_major_of(site.cupti) > 12)
    return fmt::format(
        "{} reads none on {}; put the CUPTI of CUDA 12 on LD_LIBRARY_PATH, or name it in "
        "HILBENCH_CUPTI",
        cupti_text(site.cupti), architecture);
  return "";
}

std::string why_no_ranges(const CountingSite& site) {
  if (site.cupti < kApiWithRanges)
    return fmt::format(
        "{} is too old for {}; put the CUPTI of CUDA 12.6 or newer on LD_LIBRARY_PATH, or name "
        "it in HILBENCH_CUPTI",
        cupti_text(site.cupti), target_name(site.gpu));
  return "";
}

}  // namespace

CuptiFound look_at_cupti(const LoadedLibrary& library, std::string_view remedy) {
  CuptiFound found{.path = library.path()};
  const std::string named = named_cupti();
  if (!library) {
    found.absence = named.empty() ? fmt::format("{}; {}", library.why(), remedy)
                                  : fmt::format("HILBENCH_CUPTI names no library: {}", library.why());
    return found;
  }
  const auto get_version = library.find<int(std::uint32_t*)>("cuptiGetVersion");
  std::uint32_t version = 0;
  if (get_version == nullptr || get_version(&version) != 0)
    found.absence = fmt::format("{} is no CUPTI: cuptiGetVersion gives none{}", found.path,
                                named.empty() ? "" : "; HILBENCH_CUPTI names it");
  found.version = static_cast<int>(version);
  found.fake = library.find<int()>("hilbench_fake") != nullptr;
  return found;
}

std::string cupti_text(int version) {
  return fmt::format("CUPTI of CUDA {} (API {})", cuda_major_of(version), version);
}

std::string why_not_countable(const CountingSite& site) {
  if (site.driver_cuda > 0 && cuda_major_of(site.cupti) > site.driver_cuda / 1000)
    return fmt::format(
        "{} is too new for this driver of CUDA {}.{}; install a newer driver, or name the CUPTI "
        "of CUDA {} in HILBENCH_CUPTI",
        cupti_text(site.cupti), site.driver_cuda / 1000, site.driver_cuda % 1000 / 10,
        site.driver_cuda / 1000);
  return site.gpu <= kLastOfEvents ? why_no_events(site) : why_no_ranges(site);
}

std::string why_not_countable(const CuptiFound& cupti) {
  static const std::string driver = nvml_driver_version();
  if (!cupti.absence.empty()) return cupti.absence;
  return why_not_countable(CountingSite{.gpu = CudaDriver::get().capability(),
                                        .driver = driver,
                                        .driver_cuda = CudaDriver::get().cuda_version(),
                                        .cupti = cupti.version});
}

CuptiFound find_cupti(const CounterSet& set) {
  return set.backend == "cupti_events" ? find_cupti_events() : find_cupti_range();
}

std::string why_not_countable(const CounterSet& set) {
  return set.backend.starts_with("cupti") ? why_not_countable(find_cupti(set)) : "";
}

}  // namespace hilbench
