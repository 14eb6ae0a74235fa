#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <string_view>

#include "kernels/machine/gpu.hpp"

namespace hilbench {
namespace {

// A slice of a GPU (MIG) is a device of its own; its name shows it.
std::string uuid_text(const cudaDeviceProp& properties) {
  const bool slice = std::string_view(properties.name).find(" MIG ") != std::string_view::npos;
  std::string text = slice ? "MIG-" : "GPU-";
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += "-";
    text += fmt::format("{:02x}", static_cast<unsigned char>(properties.uuid.bytes[i]));
  }
  return text;
}

// Highest clock of the multiprocessors in GHz; 0 if the driver does not report it.
double clock_ghz(int ordinal) {
  int khz = 0;
  return cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, ordinal) == cudaSuccess ? khz * 1e-6 : 0;
}

}  // namespace

int cuda_runtime_version() {
  int version = 0;
  return cudaRuntimeGetVersion(&version) == cudaSuccess ? version : 0;
}

GpuSurvey survey_gpus() {
  GpuSurvey survey;
  int count = 0, driver = 0;
  const int runtime = cuda_runtime_version();
  cudaError_t status = cudaDriverGetVersion(&driver);
  if (status == cudaSuccess) status = cudaGetDeviceCount(&count);
  for (int ordinal = 0; ordinal < count && status == cudaSuccess; ++ordinal) {
    cudaDeviceProp properties{};
    status = cudaGetDeviceProperties(&properties, ordinal);
    survey.gpus.push_back({.ordinal = ordinal,
                           .name = properties.name,
                           .uuid = uuid_text(properties),
                           .compute_capability = 10 * properties.major + properties.minor,
                           .multiprocessors = properties.multiProcessorCount,
                           .clock_ghz = clock_ghz(ordinal),
                           .memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem),
                           .l2_bytes = properties.l2CacheSize,
                           .shared_bytes = static_cast<std::int64_t>(properties.sharedMemPerMultiprocessor),
                           .driver_version = driver,
                           .runtime_version = runtime});
  }
  if (status == cudaErrorInsufficientDriver)
    survey = {.absence = old_driver(driver, runtime)};
  else if (status != cudaSuccess)
    survey = {.absence = cuda_start_failure(status)};
  else if (survey.gpus.empty())
    survey.absence = cuda_start_failure(cudaErrorNoDevice);
  return survey;
}

}  // namespace hilbench
