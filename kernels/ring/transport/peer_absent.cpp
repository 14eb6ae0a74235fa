#include "kernels/machine/gpu.hpp"
#include "kernels/ring/transport/peer.hpp"

namespace hilbench {

std::string peer_absence() {
  return kNoGpuCode;
}

std::vector<std::unique_ptr<Transport>> peer_transports(const std::vector<int>&, double, EmulatedLink) {
  throw TransportError(peer_absence());
}

std::vector<std::pair<int, int>> unlinked_gpus(const std::vector<int>&) {
  return {};
}

}  // namespace hilbench
