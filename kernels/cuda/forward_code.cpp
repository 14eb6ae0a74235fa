// In a build with CUDA.
#include "kernels/cuda/forward_code.hpp"

#include <fmt/format.h>

#include <sstream>

#include "kernels/cuda/shared/forward_execution.hpp"

namespace hilbench::cuda {
namespace {

// Architectures as CMake names them: "80-real 90a-real 80-virtual"; "": a kernel is left out.
constexpr std::string_view kAnyArchitectures = HILBENCH_ARCH_ANY;
constexpr std::string_view kMmaArchitectures = HILBENCH_ARCH_MMA;
constexpr std::string_view kWgmmaArchitectures = HILBENCH_ARCH_WGMMA;

struct Code {
  std::string_view architectures;
  std::int32_t (*tile_rows)(const ForwardShape&) = nullptr;
  std::unique_ptr<ForwardKernel> (*make)(const ForwardShape&) = nullptr;
  std::string_view absence = {};
};

constexpr Code mma_code() {
  if constexpr (kMmaArchitectures.empty())
    return {.absence = "this build has no code for sm_80 and up: CMAKE_CUDA_ARCHITECTURES leaves it out"};
  else
    return {kMmaArchitectures, dilated_mma_tile_rows, make_dilated_mma};
}

constexpr Code wgmma_code() {
  if constexpr (kWgmmaArchitectures.empty())
    return {.absence = CUDART_VERSION < 12000
                           ? "this build has no sm_90a code: it needs CUDA 12.0 or newer"
                           : "this build has no sm_90a code: CMAKE_CUDA_ARCHITECTURES leaves it out"};
  else
    return {kWgmmaArchitectures, dilated_wgmma_tile_rows, make_dilated_wgmma};
}

constexpr Code code_of(ForwardCode code) {
  if (code == ForwardCode::wgmma) return wgmma_code();
  if (code == ForwardCode::mma) return mma_code();
  return {kAnyArchitectures, dilated_simt_tile_rows, make_dilated_simt};
}

// Compiled code runs on GPUs of its major version from its minor version up, with an `a` on its own alone;
// PTX runs on every later one.
bool runs_on(const std::string& architecture, int compute_capability) {
  std::size_t digits = 0;
  const int number = std::stoi(architecture, &digits);
  const bool exact = architecture.compare(digits, 1, "a") == 0;
  const bool is_ptx = architecture.find("-real") == std::string::npos;
  if (exact) return compute_capability == number;
  return compute_capability >= number && (is_ptx || compute_capability / 10 == number / 10);
}

}  // namespace

std::string_view absence(ForwardCode code) {
  return code_of(code).absence;
}

std::string absence_for(ForwardCode code, int compute_capability) {
  std::istringstream architectures{std::string(code_of(code).architectures)};
  for (std::string each; architectures >> each;)
    if (runs_on(each, compute_capability)) return "";
  return fmt::format("this build has code for {}, which this GPU of compute capability {}.{} does not run",
                     code_of(code).architectures, compute_capability / 10, compute_capability % 10);
}

std::int64_t tile_rows(ForwardCode code, const Case& work) {
  return code_of(code).tile_rows(forward_shape(work));
}

std::unique_ptr<Execution> prepare(ForwardCode code, const Case& work, const Variant& variant) {
  return forward_execution(work, variant, code_of(code).make(forward_shape(work)));
}

double workspace_bytes(const Case& work) {
  return forward_workspace_bytes(work);
}

}  // namespace hilbench::cuda
