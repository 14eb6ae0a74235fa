// The sender's side stream copies a message after both ends' marks on stream 0; after the copy, stream 0 of
// both ends goes on. The end that posts second enqueues the copy, so that no GPU ever waits for something
// that a host has not done yet. Messages of an exchange that sets flags are copied by a stream of the
// receiver instead, one for each sender, which writes the flags too: so they arrive from all senders at once,
// and a kernel of the receiver may wait for them as soon as both ends have posted. What crosses an emulated
// link goes in chunks through pinned host memory: the sender's side stream fills a chunk, the receiver's
// landing stream empties it.
#include "kernels/ring/transport/peer.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "kernels/cuda/runtime/device_memory.hpp"
#include "kernels/cuda/runtime/driver.hpp"
#include "kernels/cuda/runtime/status.hpp"
#include "kernels/cuda/runtime/stream.hpp"
#include "kernels/ring/transport/in_process.hpp"

namespace hilbench {
namespace {

// Streams of a receiver: with more senders several share one.
constexpr int kMostArrivalStreams = 8;
// What copies between buffers of one GPU, which may be kernels, get beside a kernel that waits for them.
constexpr int kCopyMultiprocessors = 8;

// Chunks of pinned host memory, which one rank fills in turn.
class PinnedChunks {
 public:
  PinnedChunks() {
    for (Chunk& chunk : chunks_)
      HILBENCH_CUDA(cudaHostAlloc(&chunk.memory, kLinkChunkBytes, cudaHostAllocPortable));
  }
  PinnedChunks(const PinnedChunks&) = delete;
  PinnedChunks& operator=(const PinnedChunks&) = delete;
  ~PinnedChunks() {
    for (const Chunk& chunk : chunks_) {
      const cudaError_t status = cudaFreeHost(chunk.memory);
      if (status != cudaSuccess) std::fprintf(stderr, "cudaFreeHost: %s\n", cudaGetErrorString(status));
    }
  }

  struct Chunk {
    void* memory = nullptr;
    std::shared_ptr<cuda::Mark> emptied;  // on the landing stream that emptied it last; null at first
  };
  Chunk& next() { return chunks_[number_++ % chunks_.size()]; }

 private:
  std::array<Chunk, 3> chunks_;
  std::size_t number_ = 0;
};

// What each end adds to a message.
struct Post {
  cuda::Mark ready;                                  // on stream 0, after the work before the exchange
  std::vector<std::shared_ptr<cuda::Mark>> arrived;  // on the streams of what must have arrived before it
  int device;
  cudaStream_t side;
  cudaStream_t landing;  // null without a link
  PinnedChunks* chunks;  // the same
  // If the exchange sets flags: the streams of messages, [(receiver - sender) mod ranks - 1, modulo their
  // number], and the senders' posts for which they have waited. A transfer owns the posts of both ends; if
  // posts owned each other they would never be freed.
  std::vector<cudaStream_t> arrivals;
  std::set<const Post*> held;

  void hold(cudaStream_t stream) const {
    ready.hold(stream);
    for (const auto& mark : arrived) mark->hold(stream);
  }
};

class PeerTransport final : public InProcessTransport {
 public:
  // The rank's device must be current. `alone`: no other rank uses it.
  PeerTransport(int rank, std::shared_ptr<InProcessGroup> group, int device, bool alone, Reach reach,
                EmulatedLink link)
      : InProcessTransport(rank, std::move(group)),
        device_(device),
        alone_(alone),
        reach_(reach),
        link_(link) {
    if (!link.present()) return;
    landing_ = std::make_unique<cuda::SideStream>();
    chunks_ = std::make_unique<PinnedChunks>();
  }
  ~PeerTransport() override { leave(); }
  Reach reach() const override { return reach_; }
  int multiprocessors() const override { return alone_ ? 0 : kCopyMultiprocessors; }

 private:
  std::shared_ptr<void> prepare(After after, bool signals) override {
    auto post = std::make_shared<Post>();
    if (signals) {
      while (std::ssize(arrivals_) < std::min(size() - 1, kMostArrivalStreams))
        arrivals_.push_back(std::make_unique<cuda::SideStream>());
      for (const auto& stream : arrivals_) post->arrivals.push_back(stream->get());
    }
    if (after == After::arrivals) {
      for (const auto& stream : arrivals_) post->arrived.push_back(marked(device_, stream->get()));
      if (landing_ != nullptr) post->arrived.push_back(marked(device_, landing_->get()));
    }
    post->device = device_;
    post->side = side_.get();
    post->landing = landing_ != nullptr ? landing_->get() : nullptr;
    post->chunks = chunks_.get();
    post->ready.set(nullptr);
    return post;
  }

  void matched(Transfer& transfer) override {
    const Message &from = transfer.sent->message, &to = transfer.expected->message;
    const auto source = std::static_pointer_cast<Post>(transfer.sent->with);
    const auto destination = std::static_pointer_cast<Post>(transfer.expected->with);
    const bool crosses = link_.crossed_by(transfer.source, transfer.destination);
    if (!destination->arrivals.empty() && !crosses) {
      transfer.moved = pull(transfer, *source, *destination);
      transfer.state = Transfer::done;
      return;
    }
    const cuda::CurrentDevice current(source->device);
    source->hold(source->side);
    destination->hold(source->side);
    if (crosses) {
      transfer.moved = cross(from, to, *source, *destination);
    } else {
      if (from.bytes > 0)
        HILBENCH_CUDA(cudaMemcpyPeerAsync(to.data, destination->device, from.data, source->device, from.bytes,
                                          source->side));
      transfer.moved = marked(source->device, source->side);
    }
    transfer.state = Transfer::done;
  }

  std::shared_ptr<cuda::Mark> pull(const Transfer& transfer, const Post& source, Post& destination) const {
    const Message &from = transfer.sent->message, &to = transfer.expected->message;
    const cuda::CurrentDevice current(destination.device);
    const int apart = (transfer.destination - transfer.source - 1 + size()) % size();
    const cudaStream_t stream =
        destination.arrivals[static_cast<std::size_t>(apart) % destination.arrivals.size()];
    if (destination.held.insert(&source).second) {
      source.hold(stream);
      destination.hold(stream);
    }
    if (from.bytes > 0)
      HILBENCH_CUDA(
          cudaMemcpyPeerAsync(to.data, destination.device, from.data, source.device, from.bytes, stream));
    if (to.arrival.flag != nullptr) cuda::write_value(to.arrival.flag, to.arrival.value, stream);
    return marked(destination.device, stream);
  }

  static std::shared_ptr<cuda::Mark> marked(int device, cudaStream_t stream) {
    const cuda::CurrentDevice current(device);
    auto mark = std::make_shared<cuda::Mark>();
    mark->set(stream);
    return mark;
  }

  // Returns the mark after the last copy. Also of an empty message the receiver's stream has a mark.
  static std::shared_ptr<cuda::Mark> cross(const Message& from, const Message& to, const Post& source,
                                           const Post& destination) {
    for (std::size_t begin = 0; begin < from.bytes; begin += kLinkChunkBytes) {
      const std::size_t bytes = std::min(kLinkChunkBytes, from.bytes - begin);
      PinnedChunks::Chunk& chunk = source.chunks->next();
      if (chunk.emptied != nullptr) chunk.emptied->hold(source.side);
      HILBENCH_CUDA(cudaMemcpyAsync(chunk.memory, static_cast<const std::byte*>(from.data) + begin, bytes,
                                    cudaMemcpyDeviceToHost, source.side));
      const std::shared_ptr<cuda::Mark> filled = marked(source.device, source.side);
      const cuda::CurrentDevice current(destination.device);
      filled->hold(destination.landing);
      HILBENCH_CUDA(cudaMemcpyAsync(static_cast<std::byte*>(to.data) + begin, chunk.memory, bytes,
                                    cudaMemcpyHostToDevice, destination.landing));
      chunk.emptied = marked(destination.device, destination.landing);
    }
    marked(source.device, source.side)->hold(destination.landing);
    if (to.arrival.flag != nullptr) {
      const cuda::CurrentDevice current(destination.device);
      cuda::write_value(to.arrival.flag, to.arrival.value, destination.landing);
    }
    return marked(destination.device, destination.landing);
  }

  void complete(const Exchange& exchange) override {
    for (const std::shared_ptr<Transfer>& transfer : exchange) moved(*transfer).hold(nullptr);
  }

  // Stream 0 waits for exchanges after wait(), so that freeing memory waits too; this function
  // waits for the others, and for kernels that access the memory of other ranks.
  void release(Lock& lock) noexcept override {
    std::vector<std::shared_ptr<void>> marks = last_accesses(lock);
    lock.unlock();
    for (const Exchange& exchange : exchanges())
      for (const std::shared_ptr<Transfer>& transfer : exchange) marks.push_back(transfer->moved);
    for (const std::shared_ptr<void>& mark : marks) {
      if (mark == nullptr) continue;
      try {
        static_cast<cuda::Mark*>(mark.get())->wait();
      } catch (const cuda::CudaError& error) {
        std::fprintf(stderr, "%s\n", error.what());
      }
    }
    lock.lock();
  }

  std::shared_ptr<void> mark_access() override { return marked(device_, nullptr); }

  static cuda::Mark& moved(const Transfer& transfer) {
    return *static_cast<cuda::Mark*>(transfer.moved.get());
  }

  const int device_;
  const bool alone_;
  const Reach reach_;
  const EmulatedLink link_;
  cuda::SideStream side_;
  std::vector<std::unique_ptr<cuda::SideStream>> arrivals_;
  std::unique_ptr<cuda::SideStream> landing_;  // null without a link
  std::unique_ptr<PinnedChunks> chunks_;       // the same
};

bool can_access(int device, int peer) {
  int possible = 0;
  HILBENCH_CUDA(cudaDeviceCanAccessPeer(&possible, device, peer));
  return possible != 0;
}

// Lets copies and kernels of two devices bypass host memory, if the hardware can.
void connect(int device, int peer) {
  if (device == peer || !can_access(device, peer)) return;
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

std::vector<std::unique_ptr<Transport>> peer_transports(const std::vector<int>& devices, double timeout_s,
                                                        EmulatedLink link) {
  const auto group =
      std::make_shared<InProcessGroup>(static_cast<int>(devices.size()), timeout_s, cuda::mapped_words(1));
  const auto alone = [&](int device) { return std::count(devices.begin(), devices.end(), device) == 1; };
  Transport::Reach reach = Transport::Reach::none;
  if (!link.present() && unlinked_gpus(devices).empty())
    reach = std::all_of(devices.begin(), devices.end(), alone) ? Transport::Reach::running
                                                               : Transport::Reach::mapped;
  std::vector<std::unique_ptr<Transport>> transports;
  for (const int device : devices) {
    for (const int peer : devices) connect(device, peer);
    const cuda::CurrentDevice current(device);
    transports.push_back(std::make_unique<PeerTransport>(static_cast<int>(transports.size()), group, device,
                                                         alone(device), reach, link));
  }
  return transports;
}

std::vector<std::pair<int, int>> unlinked_gpus(const std::vector<int>& devices) {
  std::vector<std::pair<int, int>> unlinked;
  for (std::size_t i = 0; i < devices.size(); ++i)
    for (std::size_t j = i + 1; j < devices.size(); ++j)
      if (devices[i] != devices[j] &&
          (!can_access(devices[i], devices[j]) || !can_access(devices[j], devices[i])))
        unlinked.emplace_back(devices[i], devices[j]);
  return unlinked;
}

}  // namespace hilbench
