#include "kernels/ring/transport/nccl.hpp"

namespace hilbench {

std::string nccl_absence() {
  return "built without NCCL: install libnccl-dev and a CUDA toolkit, and configure again";
}

std::string nccl_version() {
  throw TransportError(nccl_absence());
}

std::unique_ptr<Transport> nccl_transport(std::shared_ptr<Transport>, double, int) {
  throw TransportError(nccl_absence());
}

}  // namespace hilbench
