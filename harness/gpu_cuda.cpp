#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "harness/gpu.hpp"

namespace hilbench {
namespace {

std::string uuid_text(const cudaUUID_t& uuid) {
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += "-";
    text += fmt::format("{:02x}", static_cast<unsigned char>(uuid.bytes[i]));
  }
  return text;
}

std::string absence_of(cudaError_t status) {
  switch (status) {
    case cudaErrorInsufficientDriver:
      return "no NVIDIA driver, or one too old for this build's CUDA; see `hilbench doctor`";
    case cudaErrorNoDevice:
      return "CUDA finds no GPU; see whether nvidia-smi lists one and what CUDA_VISIBLE_DEVICES says";
    default:
      return fmt::format("CUDA does not start: {} ({}); see `hilbench doctor`", cudaGetErrorString(status),
                         cudaGetErrorName(status));
  }
}

// Highest clock of the multiprocessors in GHz; 0 where the driver does not tell.
double clock_ghz(int ordinal) {
  int khz = 0;
  return cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, ordinal) == cudaSuccess ? khz * 1e-6 : 0;
}

}  // namespace

GpuSurvey survey_gpus() {
  GpuSurvey survey;
  int count = 0, driver = 0, runtime = 0;
  cudaError_t status = cudaDriverGetVersion(&driver);
  if (status == cudaSuccess) status = cudaRuntimeGetVersion(&runtime);
  if (status == cudaSuccess) status = cudaGetDeviceCount(&count);
  for (int ordinal = 0; ordinal < count && status == cudaSuccess; ++ordinal) {
    cudaDeviceProp properties{};
    status = cudaGetDeviceProperties(&properties, ordinal);
    survey.gpus.push_back({.ordinal = ordinal,
                           .name = properties.name,
                           .uuid = uuid_text(properties.uuid),
                           .compute_capability = 10 * properties.major + properties.minor,
                           .multiprocessors = properties.multiProcessorCount,
                           .clock_ghz = clock_ghz(ordinal),
                           .memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem),
                           .l2_bytes = properties.l2CacheSize,
                           .shared_bytes = static_cast<std::int64_t>(properties.sharedMemPerMultiprocessor),
                           .driver_version = driver,
                           .runtime_version = runtime});
  }
  if (status != cudaSuccess)
    survey = {.absence = absence_of(status)};
  else if (survey.gpus.empty())
    survey.absence = absence_of(cudaErrorNoDevice);
  return survey;
}

}  // namespace hilbench
