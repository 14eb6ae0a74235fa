// One rank's run with `ring_launch: persistent`: one launch for each branch computes with all shards, in the
// sequence in which they arrive, and waits for chunks that have not arrived yet.
//
// Every exchange of a run is posted, and settled, before the launch. So a launch depends only on what was
// enqueued before it, never on a kernel of another rank, and ranks may share a GPU, whose streams may share a
// queue. Flags count on from run to run. A chunk that arrives may overwrite the buffers of the run before: it
// comes after all that is on the receiver's stream 0, and stream 0 goes on after a run when all that the rank
// sends has been read.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/implementation.hpp"
#include "kernels/ring/rank_buffers.hpp"
#include "kernels/ring/ring.hpp"
#include "kernels/ring/ring_device.hpp"
#include "kernels/ring/ring_part.hpp"
#include "kernels/ring/shard_chunks.hpp"
#include "kernels/ring/transport/transport.hpp"

namespace hilbench {

// How many blocks NCCL's kernels have in such a ring: its launches leave as many multiprocessors free. More
// blocks copy faster and leave less to compute with. 0, as many as NCCL likes, if the ring is not persistent.
int nccl_blocks(const Ring& ring);

class PersistentRun {
 public:
  // As RingExecution. `ring` is persistent, `kernel` has prepare_walk, `device` clears and rounds.
  PersistentRun(const Ring& ring, const Implementation& kernel, RingDevice& device, Transport& transport,
                std::int64_t tile_rows, const ChunkSizes& sizes);
  ~PersistentRun();
  void run(const Operands& own, RingPart part);
  void expect_complete() const;
  double buffer_bytes() const { return buffers_.bytes(); }

 private:
  void allocate_buffers();
  void prepare_kernel(const Implementation& kernel, std::int64_t tile_rows);
  std::uint32_t first() const;  // what flags are above once a chunk of this run has arrived
  // Rows that this rank sends: packed, or those of the tensors.
  const std::byte* sent_k(const Operands& own) const;
  const std::byte* sent_v(const Operands& own) const;
  void enqueue(const Operands& own, RingPart part);
  void post_all(const Operands& own);
  void launch(const Operands& own);
  // Adds the messages of K and V of a chunk; then those of one of the two.
  void add(const Operands& own, const ShardMove& move, std::int64_t number, bool sent,
           std::vector<Transport::Message>& to) const;
  void add_parts(const std::byte* tensor, const ShardMove& move, const ShardChunk& chunk,
                 std::vector<Transport::Message>& to) const;

  Ring ring_;
  RingDevice& device_;
  Transport& transport_;
  std::int64_t rank_;
  std::vector<RingStep> steps_;
  std::vector<std::int64_t> source_of_buffer_;
  bool heads_first_;  // of what is sent and received: a transport without lines sends heads whole
  ShardChunks chunks_;
  std::vector<ChunkExchange> exchanges_;  // of this rank: those without its messages are left out
  RankBuffers buffers_;
  std::byte* received_k_ = nullptr;  // as ReceivedShards says; room for the longest shard
  std::byte* received_v_ = nullptr;
  std::shared_ptr<std::uint32_t> arrived_;  // [buffers]
  std::shared_ptr<std::uint32_t> gave_up_;  // as in ReceivedShards
  std::uint32_t exchanged_ = 0;             // runs so far that exchanged shards
  std::size_t on_device_ = 0;               // the number of its output there
  float* o_fp32_ = nullptr;                 // null if one launch makes the result
  Walk walk_;
  std::unique_ptr<WalkExecution> execution_;  // null if there is nothing to compute
};

}  // namespace hilbench
