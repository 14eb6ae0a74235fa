#include "kernels/machine/named_gpus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace hilbench {
namespace {

struct DataSheet {
  std::string_view name, model;
  int compute_capability, multiprocessors;
  double clock_ghz;  // boost clock
  std::int64_t memory_gib, l2_kib, shared_kib;
};
// NVIDIA's white papers on the GeForce GTX 1080, A100, Ada and H100, and the data sheet of the H200; shared
// memory of a multiprocessor: CUDA C++ Programming Guide, technical specifications by compute capability.
constexpr std::array<DataSheet, 7> kDataSheets = {{
    {"gtx-1080", "NVIDIA GeForce GTX 1080", 61, 20, 1.733, 8, 2048, 96},
    {"v100", "Tesla V100-SXM2-32GB", 70, 80, 1.53, 32, 6144, 96},
    {"a100-40gb", "NVIDIA A100-SXM4-40GB", 80, 108, 1.41, 40, 40960, 164},
    {"a100", "NVIDIA A100-SXM4-80GB", 80, 108, 1.41, 80, 40960, 164},
    {"rtx-4090", "NVIDIA GeForce RTX 4090", 89, 128, 2.52, 24, 73728, 100},
    {"h100", "NVIDIA H100 80GB HBM3", 90, 132, 1.98, 80, 51200, 228},
    {"h200", "NVIDIA H200", 90, 132, 1.98, 141, 61440, 228},
}};

}  // namespace

std::vector<std::string> names_of_gpus() {
  std::vector<std::string> names;
  for (const DataSheet& sheet : kDataSheets) names.emplace_back(sheet.name);
  return names;
}

Gpu named_gpu(std::string_view name) {
  const auto found = std::ranges::find(kDataSheets, name, &DataSheet::name);
  if (found == kDataSheets.end()) throw std::invalid_argument(fmt::format("no data sheet of '{}'", name));
  return {.name = std::string(found->model),
          .compute_capability = found->compute_capability,
          .multiprocessors = found->multiprocessors,
          .clock_ghz = found->clock_ghz,
          .memory_bytes = found->memory_gib << 30,
          .l2_bytes = found->l2_kib << 10,
          .shared_bytes = found->shared_kib << 10};
}

}  // namespace hilbench
