// The sender's side stream copies a message after both ends' marks on stream 0, and sets its flag; after
// that, stream 0 of both ends goes on. The end that posts second enqueues the copy, so that no GPU ever waits
// for something that a host has not done yet. Senders push, each with one stream and to one receiver after
// another: copies that the receivers pull are slower over NVLink, and so are those that meet at a receiver.
// The messages of an exchange with Mover::kernel are collected until all their receivers have posted; then
// one launch on the side stream writes to all of them at the same time. What crosses an emulated link goes in
// chunks through pinned host memory: the sender's side stream fills a chunk, the receiver's landing stream
// empties it.
#include "kernels/ring/transport/peer.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "kernels/cuda/runtime/device_memory.hpp"
#include "kernels/cuda/runtime/driver.hpp"
#include "kernels/cuda/runtime/status.hpp"
#include "kernels/cuda/runtime/stream.hpp"
#include "kernels/cuda/shared/copy_lines.hpp"
#include "kernels/ring/transport/in_process.hpp"

namespace hilbench {
namespace {

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
  std::vector<std::shared_ptr<cuda::Mark>> arrived;  // after what must have arrived before it
  int device;
  cudaStream_t side;
  cudaStream_t landing;  // null without a link
  PinnedChunks* chunks;  // the same
  // The receivers' posts for which the side stream has waited. A transfer owns the posts of both ends; if
  // posts owned each other they would never be freed.
  std::set<const Post*> held;
  // Of a sender whose kernel moves its messages: how many are not matched yet, and those that are.
  std::size_t unmatched = 0;
  std::vector<Transfer*> collected;

  void hold(cudaStream_t stream) const {
    ready.hold(stream);
    for (const auto& mark : arrived) mark->hold(stream);
  }
};

class PeerTransport final : public InProcessTransport {
 public:
  // The rank's device must be current. `alone`: no other rank uses it. `connected`: its kernels can write to
  // the memory of all ranks.
  PeerTransport(int rank, std::shared_ptr<InProcessGroup> group, int device, bool alone, bool connected,
                EmulatedLink link)
      : InProcessTransport(rank, std::move(group)),
        device_(device),
        alone_(alone),
        connected_(connected),
        link_(link) {
    if (!link.present()) return;
    landing_ = std::make_unique<cuda::SideStream>();
    chunks_ = std::make_unique<PinnedChunks>();
  }
  ~PeerTransport() override { leave(); }
  bool strides() const override { return !link_.present(); }
  int multiprocessors() const override { return alone_ ? 0 : kCopyMultiprocessors; }

 private:
  std::shared_ptr<void> prepare(After after, Mover mover, std::size_t sends) override {
    auto post = std::make_shared<Post>();
    if (mover == Mover::kernel && connected_ && !link_.present()) post->unmatched = sends;
    if (after == After::arrivals) {
      std::map<int, std::shared_ptr<cuda::Mark>> last;  // by sender, whose messages arrive in turn
      for (const Exchange& exchange : exchanges())
        for (const std::shared_ptr<Transfer>& transfer : exchange)
          if (transfer->destination == rank())
            last[transfer->source] = std::static_pointer_cast<cuda::Mark>(transfer->moved);
      for (const auto& [sender, mark] : last) post->arrived.push_back(mark);
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
    const cuda::CurrentDevice current(source->device);
    if (source->held.insert(destination.get()).second) {
      source->hold(source->side);
      destination->hold(source->side);
    }
    const bool by_kernel = source->unmatched > 0;
    if (by_kernel && to.arrival.flag != nullptr)
      throw std::logic_error("a kernel that moves messages sets no flags");
    if (by_kernel && from.lines > 1) {
      source->collected.push_back(&transfer);
    } else {
      if (link_.crossed_by(transfer.source, transfer.destination))
        transfer.moved = cross(from, to, *source, *destination);
      else
        push(from, to, *source, *destination, transfer.moved);
      transfer.state = Transfer::done;
    }
    if (by_kernel && --source->unmatched == 0) push_collected(*source);
  }

  // `moved`: the mark after it, at first after the copy, so that whoever fails then waits for that.
  static void push(const Message& from, const Message& to, const Post& source, const Post& destination,
                   std::shared_ptr<void>& moved) {
    if (from.bytes > 0 && from.lines == 1)
      HILBENCH_CUDA(cudaMemcpyPeerAsync(to.data, destination.device, from.data, source.device, from.bytes,
                                        source.side));
    else if (from.bytes > 0)
      HILBENCH_CUDA(cudaMemcpy2DAsync(to.data, to.step, from.data, from.step, from.bytes / from.lines,
                                      from.lines, cudaMemcpyDefault, source.side));
    const std::shared_ptr<cuda::Mark> mark = marked(source.device, source.side);
    moved = mark;
    if (to.arrival.flag == nullptr) return;
    cuda::write_value(to.arrival.flag, to.arrival.value, source.side);
    mark->set(source.side);
  }

  // The source's device is current.
  void push_collected(Post& source) {
    if (source.collected.empty()) return;
    std::vector<cuda::Lines> lines;
    for (const Transfer* const transfer : source.collected) {
      const Message &from = transfer->sent->message, &to = transfer->expected->message;
      lines.push_back({from.data, to.data, from.step, to.step,
                       static_cast<std::uint32_t>(from.bytes / from.lines),
                       static_cast<std::uint32_t>(from.lines)});
    }
    const auto moved = std::make_shared<cuda::Mark>();
    cuda::copy_lines(lines, source.side);
    moved->set(source.side);
    for (Transfer* const transfer : source.collected) {
      transfer->moved = moved;
      transfer->state = Transfer::done;
      wake_ends(*transfer);
    }
    source.collected.clear();
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
  const bool alone_, connected_;
  const EmulatedLink link_;
  cuda::SideStream side_;
  std::unique_ptr<cuda::SideStream> landing_;  // null without a link
  std::unique_ptr<PinnedChunks> chunks_;       // the same
};

bool can_access(int device, int peer) {
  int possible = 0;
  HILBENCH_CUDA(cudaDeviceCanAccessPeer(&possible, device, peer));
  return possible != 0;
}

// Lets copies between two devices bypass host memory, if the hardware can.
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
      std::make_shared<InProcessGroup>(static_cast<int>(devices.size()), timeout_s, cuda::mapped_word());
  std::vector<std::unique_ptr<Transport>> transports;
  for (const int device : devices) {
    for (const int peer : devices) connect(device, peer);
    const cuda::CurrentDevice current(device);
    const bool connected = std::all_of(devices.begin(), devices.end(),
                                       [&](int peer) { return peer == device || can_access(device, peer); });
    const bool alone = std::count(devices.begin(), devices.end(), device) == 1;
    transports.push_back(std::make_unique<PeerTransport>(static_cast<int>(transports.size()), group, device,
                                                         alone, connected, link));
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
