#include "harness/gpu.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace hilbench {

std::string Gpu::capability_text() const {
  return fmt::format("{}.{}", compute_capability / 10, compute_capability % 10);
}

nlohmann::json to_json(const Gpu& gpu) {
  return {{"name", gpu.name},
          {"ordinal", gpu.ordinal},
          {"uuid", gpu.uuid},
          {"compute_capability", gpu.capability_text()},
          {"multiprocessors", gpu.multiprocessors},
          {"clock_ghz", gpu.clock_ghz},
          {"memory_bytes", gpu.memory_bytes},
          {"l2_bytes", gpu.l2_bytes},
          {"shared_bytes", gpu.shared_bytes},
          {"driver_cuda", gpu.driver_version},
          {"runtime_cuda", gpu.runtime_version}};
}

}  // namespace hilbench
