// In a build without CUDA.
#include "kernels/cuda/forward_code.hpp"

namespace hilbench::cuda {

std::string_view absence(ForwardCode) {
  return "this build has no CUDA";
}

std::string absence_for(ForwardCode, int) {
  return "";
}

std::int64_t tile_rows(ForwardCode, const Case&) {
  return 1;
}

std::unique_ptr<Execution> prepare(ForwardCode, const Case&, const Variant&) {
  return nullptr;
}

double workspace_bytes(const Case&) {
  return 0;
}

}  // namespace hilbench::cuda
