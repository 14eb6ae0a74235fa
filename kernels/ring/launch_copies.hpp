// A rank of a persistent ring whose launches copy shards out of the memory of other ranks themselves
// (kernels/index/shard_copies.hpp): who reads what of whom, and what is enqueued around a launch.
//
// No stream waits for another one. Before the launch a rank says that its rows are complete, after it the
// rank waits until they have been read, both on stream 0. Hosts meet twice in an execution: before the
// launches, so that whatever a launch waits for is enqueued already, and after them, so that a wait at the
// end is behind the launches of all ranks. Ranks may then share a GPU, and its one stream, if no launch waits
// for another.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/index/walk.hpp"
#include "kernels/ring/ring.hpp"
#include "kernels/ring/ring_device.hpp"
#include "kernels/ring/transport/transport.hpp"

namespace hilbench {

// True if launches of this ring copy shards themselves, if its ranks reach each other like this. Ranks that
// pass shards on wait for each other's launches.
bool copies_in_launch(const Ring& ring, Transport::Reach reach);

class LaunchCopies {
 public:
  // What other ranks read at this one. Received shards: [buffers, batch, longest shard, kv_heads, head_dim];
  // `arrived` is the flag of each.
  struct Memory {
    const void* own_k = nullptr;  // rows that it sends: packed, or its tensors
    const void* own_v = nullptr;
    void* received_k = nullptr;
    void* received_v = nullptr;
    std::uint32_t* arrived = nullptr;
  };

  // `chunks` are of heads. `gave_up`: as in ShardWaits. All but `ring` and `chunks` outlive this.
  LaunchCopies(const Ring& ring, const ShardChunks& chunks, RingDevice& device, Transport& transport,
               std::uint32_t* gave_up);

  // To be called after what makes own rows complete was enqueued. Returns the copies of the next execution
  // when all ranks have called it. They are to be launched in Transport::access(). Throws TransportError.
  ShardCopies begin(const Memory& memory);
  // To be called after the copies were launched; returns when all ranks have called it. Work on stream 0
  // comes after all that others read here.
  void end();

 private:
  struct Addresses;  // what each rank tells the others in begin()

  void find_sources(const std::vector<std::string>& told);

  Ring ring_;
  ShardChunks chunks_;
  RingDevice& device_;
  Transport& transport_;
  std::int64_t rank_;
  std::vector<RingStep> steps_;
  std::vector<std::string> told_;         // Addresses of all ranks, for which the tables below are
  std::shared_ptr<void> sources_, read_;  // tables of copies_
  std::shared_ptr<void> words_;           // of this rank: ready, then `read` of all ranks
  std::shared_ptr<void> counts_, readers_;
  ShardCopies copies_;
  ShardReaders reads_;
};

}  // namespace hilbench
