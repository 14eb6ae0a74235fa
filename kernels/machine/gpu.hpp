// The GPUs of this machine: what a plan and a record need to know about them.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace hilbench {

struct Gpu {
  int ordinal = 0;
  std::string name;            // "NVIDIA H200"
  std::string uuid;            // "GPU-...", or "MIG-..." for a slice of a GPU
  int compute_capability = 0;  // 10 * major + minor: 90
  int multiprocessors = 0;
  double clock_ghz = 0;  // highest clock of the multiprocessors
  std::int64_t memory_bytes = 0;
  std::int64_t l2_bytes = 0;
  std::int64_t shared_bytes = 0;  // shared memory of a multiprocessor
  int driver_version = 0;         // CUDA version of the driver: 13000
  int runtime_version = 0;        // CUDA version of this build's runtime

  std::string capability_text() const;  // "9.0"
};
nlohmann::json to_json(const Gpu& gpu);

// Why CUDA does not start, and what to do. `status`: a CUresult of cuInit or a cudaError_t; both use the same
// numbers for these errors.
std::string cuda_start_failure(int status);
// The same if the driver is missing (driver_version 0) or too old for the runtime. Versions as CUDA
// writes them: 13000.
std::string old_driver(int driver_version, int runtime_version);

// Why nothing runs on a GPU if the build leaves out the GPU code, and what to do.
inline constexpr const char* kNoGpuCode =
    "this build has no GPU code; ./quickstart.sh --cuda builds it with a CUDA toolkit, --cuda 12 without one";

// CUDA version of this build's runtime: 13000; 0 if the build has no CUDA.
int cuda_runtime_version();

// The GPUs that CUDA offers, or why there is none. Creates no context on any of them.
struct GpuSurvey {
  std::vector<Gpu> gpus;
  std::string absence;  // reason and remedy; empty if there is a GPU
};
GpuSurvey survey_gpus();

}  // namespace hilbench
