#include "kernels/ring/transport/peer.hpp"

namespace hilbench {

std::string peer_absence() {
  return "built without CUDA: install a CUDA toolkit and configure again";
}

std::vector<std::unique_ptr<Transport>> peer_transports(const std::vector<int>&, double) {
  throw TransportError(peer_absence());
}

}  // namespace hilbench
