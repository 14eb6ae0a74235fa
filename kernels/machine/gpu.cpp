#include "kernels/machine/gpu.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace hilbench {

std::string Gpu::capability_text() const {
  return fmt::format("{}.{}", compute_capability / 10, compute_capability % 10);
}

std::string cuda_start_failure(int status) {
  switch (status) {
    case 34:
      return "libcuda.so.1 is the toolkit's stub, not a driver; remove its folder from LD_LIBRARY_PATH";
    case 46:
      return "the GPU is in use by another process (exclusive mode) or not available; see nvidia-smi";
    case 100:
      return "CUDA finds no GPU; check that nvidia-smi lists one, with an instance if MIG is on, and that "
             "CUDA_VISIBLE_DEVICES does not hide it";
    case 802:
      return "the system is not ready (CUDA error 802); check that nvidia-fabricmanager runs";
    case 803:
      return "the driver's library and its kernel module differ (CUDA error 803); restart the machine after "
             "a driver update";
    case 804:
      return "the compatibility package's driver does not support this GPU (CUDA error 804); remove its "
             "folder from LD_LIBRARY_PATH";
    default:
      return fmt::format("CUDA does not start (error {}); check that nvidia-smi works", status);
  }
}

std::string old_driver(int driver_version, int runtime_version) {
  if (driver_version == 0) return "no NVIDIA driver (libcuda.so.1); install one if there is an NVIDIA GPU";
  const auto text = [](int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); };
  return fmt::format(
      "the NVIDIA driver is too old: it supports CUDA {}, this build needs {}; update the driver, or build "
      "with the driver's CUDA version",
      text(driver_version), text(runtime_version));
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
