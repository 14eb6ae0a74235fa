#include "kernels/machine/nvml.hpp"

#include <fmt/format.h>

#include <array>

namespace hilbench {
namespace {

std::string start_failure(int status) {
  switch (status) {
    case 4:
      return "this user may not use NVML; check the permissions of /dev/nvidiactl";
    case 9:
      return "NVIDIA's kernel module is not loaded; check that nvidia-smi works";
    case 18:
      return "NVML and the kernel module belong to different drivers; restart the machine after a driver "
             "update";
    default:
      return fmt::format("NVML does not start (error {}); check that nvidia-smi works", status);
  }
}

}  // namespace

Nvml::Nvml() {
  const auto start = find<int()>("nvmlInit_v2");
  if (!is_here())
    absence_ = library_.why();
  else if (start == nullptr)
    absence_ = "NVML has no nvmlInit_v2";
  else if (const int status = start(); status != 0)
    absence_ = start_failure(status);
}

const Nvml& Nvml::get() {
  static const Nvml nvml;
  return nvml;
}

std::string nvml_driver_version() {
  const Nvml& nvml = Nvml::get();
  const auto version = nvml.find<int(char*, unsigned)>("nvmlSystemGetDriverVersion");
  std::array<char, 96> text{};
  if (!nvml.absence().empty() || version == nullptr || version(text.data(), text.size()) != 0) return "";
  return text.data();
}

}  // namespace hilbench
