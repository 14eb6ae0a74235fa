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
  std::string uuid;            // "GPU-..."
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

// The GPUs that CUDA offers, or why there is none. Makes no context on any of them.
struct GpuSurvey {
  std::vector<Gpu> gpus;
  std::string absence;  // reason and remedy; empty where there is a GPU
};
GpuSurvey survey_gpus();

}  // namespace hilbench
