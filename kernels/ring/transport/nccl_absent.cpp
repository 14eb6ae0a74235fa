#include "kernels/machine/gpu.hpp"
#include "kernels/ring/transport/nccl.hpp"

namespace hilbench {

std::string nccl_absence() {
  return cuda_runtime_version() == 0
             ? kNoGpuCode
             : "this build has no NCCL: ./quickstart.sh --cuda 12 leaves it out; --cuda builds it with an "
               "installed CUDA toolkit and libnccl-dev";
}

std::string nccl_version() {
  throw TransportError(nccl_absence());
}

std::unique_ptr<Transport> nccl_transport(std::shared_ptr<Transport>, double, int) {
  throw TransportError(nccl_absence());
}

}  // namespace hilbench
