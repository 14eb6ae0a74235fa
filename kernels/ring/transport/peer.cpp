// The sender's side stream copies a message after both ends' marks on stream 0; after the copy, stream 0 of
// both ends goes on. The end that posts second enqueues the copy, so that no GPU ever waits for something
// that a host has not done yet.
#include "kernels/ring/transport/peer.hpp"

#include <cuda_runtime_api.h>

#include <cstdio>

#include "kernels/cuda/runtime/status.hpp"
#include "kernels/cuda/runtime/stream.hpp"
#include "kernels/ring/transport/in_process.hpp"

namespace hilbench {
namespace {

// What each end adds to a message.
struct Post {
  cuda::Mark ready;  // on stream 0, after the work before the exchange
  int device;
  cudaStream_t side;
};

class PeerTransport final : public InProcessTransport {
 public:
  // The rank's device must be current.
  PeerTransport(int rank, std::shared_ptr<InProcessGroup> group, int device)
      : InProcessTransport(rank, std::move(group)), device_(device) {}
  ~PeerTransport() override { leave(); }

 private:
  std::shared_ptr<void> prepare() override {
    auto post = std::make_shared<Post>();
    post->device = device_;
    post->side = side_.get();
    post->ready.set(nullptr);
    return post;
  }

  void matched(Transfer& transfer) override {
    const Message &from = transfer.sent->message, &to = transfer.expected->message;
    const auto source = std::static_pointer_cast<Post>(transfer.sent->with);
    const auto destination = std::static_pointer_cast<Post>(transfer.expected->with);
    const cuda::CurrentDevice current(source->device);
    source->ready.hold(source->side);
    destination->ready.hold(source->side);
    if (from.bytes > 0)
      HILBENCH_CUDA(cudaMemcpyPeerAsync(to.data, destination->device, from.data, source->device, from.bytes,
                                        source->side));
    const auto moved = std::make_shared<cuda::Mark>();
    moved->set(source->side);
    transfer.moved = moved;
    transfer.state = Transfer::done;
  }

  void complete(const Exchange& exchange) override {
    for (const std::shared_ptr<Transfer>& transfer : exchange) moved(*transfer).hold(nullptr);
  }

  // Stream 0 waits for exchanges after wait(), so that freeing memory waits too; this function
  // waits for the others.
  void release(Lock& lock) noexcept override {
    lock.unlock();
    for (const Exchange& exchange : exchanges())
      for (const std::shared_ptr<Transfer>& transfer : exchange) {
        if (transfer->moved == nullptr) continue;
        try {
          moved(*transfer).wait();
        } catch (const cuda::CudaError& error) {
          std::fprintf(stderr, "%s\n", error.what());
        }
      }
    lock.lock();
  }

  static cuda::Mark& moved(const Transfer& transfer) {
    return *static_cast<cuda::Mark*>(transfer.moved.get());
  }

  const int device_;
  cuda::SideStream side_;
};

// Lets copies between two devices bypass host memory, if the hardware can.
void connect(int device, int peer) {
  int possible = 0;
  if (device == peer) return;
  HILBENCH_CUDA(cudaDeviceCanAccessPeer(&possible, device, peer));
  if (possible == 0) return;
  const cuda::CurrentDevice current(device);
  const cudaError_t status = cudaDeviceEnablePeerAccess(peer, 0);
  if (status == cudaErrorPeerAccessAlreadyEnabled)
    (void)cudaGetLastError();
  else
    HILBENCH_CUDA(status);
}

}  // namespace

std::string peer_absence() {
  return "";
}

std::vector<std::unique_ptr<Transport>> peer_transports(const std::vector<int>& devices, double timeout_s) {
  const auto group = std::make_shared<InProcessGroup>(static_cast<int>(devices.size()), timeout_s);
  std::vector<std::unique_ptr<Transport>> transports;
  for (const int device : devices) {
    for (const int peer : devices) connect(device, peer);
    const cuda::CurrentDevice current(device);
    transports.push_back(std::make_unique<PeerTransport>(static_cast<int>(transports.size()), group, device));
  }
  return transports;
}

}  // namespace hilbench
