// The GPUs of this machine: what a plan needs to know, and the state that a record tells.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace hilbench {

struct Gpu {
  int ordinal = 0;
  std::string name;            // "NVIDIA H200"
  std::string uuid;            // "GPU-...", or "MIG-..." of a slice of a GPU
  int compute_capability = 0;  // 10 * major + minor: 90
  int multiprocessors = 0;
  double clock_ghz = 0;  // highest, of the multiprocessors
  std::int64_t memory_bytes = 0;
  std::int64_t l2_bytes = 0;
  std::int64_t shared_bytes = 0;  // of a multiprocessor
  int driver_version = 0;         // CUDA version of the driver: 13000
  int runtime_version = 0;        // of this build's runtime

  std::string capability_text() const;  // "9.0"
};
nlohmann::json to_json(const Gpu& gpu);

// Why CUDA does not start, and what to do. `status`: a CUresult of cuInit or a cudaError_t, whose numbers
// agree there.
std::string cuda_start_failure(int status);
// The same where the driver is missing (driver_version 0) or too old for the runtime; versions as CUDA writes
// them: 13000.
std::string old_driver(int driver_version, int runtime_version);

// Why NVML does not start, and what to do; nvmlReturn_t.
std::string nvml_start_failure(int status);

// CUDA version of this build's runtime: 13000; 0 where it has none.
int cuda_runtime_version();

// The GPUs that CUDA offers, or why there is none. Makes no context on any of them.
struct GpuSurvey {
  std::vector<Gpu> gpus;
  std::string absence;  // reason and remedy; empty where there is a GPU
};
GpuSurvey survey_gpus();

}  // namespace hilbench
