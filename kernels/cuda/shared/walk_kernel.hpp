// What a CUDA kernel is given if one launch computes with the keys of several sources: a rank's own shard,
// and shards that arrive from other ranks while it runs. Beside what forward.hpp says. C++17 and no fmt, as
// every header that .cu files include.
//
// A tile walks stretches of keys, one of each source that it needs, the own one first. In a ForwardTile
// `key_begin` is the first of its stretches, and `key_count` the keys of a whole block for each block of
// them: a stretch begins a new block.
#pragma once

#include <cstdint>

#include "kernels/cuda/shared/forward.hpp"

namespace hilbench::cuda {

// Keys of one source, numbered from 0 inside the stretch. The fields are those of a ForwardTile.
struct alignas(16) KeyStretch {
  std::int32_t key_begin = 0;
  std::int32_t key_count = 0;  // at least 1
  std::int32_t key_slot = 0;
  std::int32_t key_position = 0;
  std::int32_t unmasked = 0;
  std::int32_t source = 0;  // 0: the own shard; s + 1: received shard s
  std::int32_t unused[2] = {};
};

// Received shards arrive in chunks: all slots of `heads` K/V heads of a batch entry. Chunks of a shard are
// numbered by batch entry, then heads, and arrive in this sequence.
struct ArrivalChunks {
  std::int32_t heads = 1;
  std::int32_t head_chunks = 1;  // of a batch entry
};

struct WalkTables {
  const KeyStretch* stretches = nullptr;  // of all tiles, and one more at the end, which is not used
  // Received shards: k and v are [sources, batch, kv_rows, kv_heads, head_dim], or with heads_first [sources,
  // batch, kv_heads, kv_rows, head_dim].
  const void* k = nullptr;
  const void* v = nullptr;
  std::int32_t sources = 0;  // received ones
  std::int32_t kv_rows = 0;  // of a received shard in a batch entry, the longest
  bool heads_first = false;
  std::int32_t key_slot_step = 1;  // slots between keys of a received shard, if key_slots is null
  // Of each received shard: after its chunk n has arrived the flag is first + n + 1 or more, modulo 2^32.
  const std::uint32_t* arrived = nullptr;
  std::uint32_t first = 0;
  ArrivalChunks chunks;
  // A wait for a chunk fails after this time, or when *ended is not 0 (see ReceivedShards). Then *gave_up is
  // the source (see KeyStretch), and the launch waits for nothing any more: it ends soon.
  std::uint64_t patience_ns = 0;
  const std::uint32_t* ended = nullptr;
  std::uint32_t* gave_up = nullptr;
};

struct WalkForwardParams : ForwardParams {
  WalkTables walk;
  std::int32_t spared_multiprocessors = 0;  // on which no block of this launch may run
};

// A kernel prepared for one shape.
class WalkKernel {
 public:
  virtual ~WalkKernel() = default;
  virtual int block_keys() const = 0;
  // Enqueues the branch. Does not synchronise. Throws CudaError if the launch is refused.
  virtual void launch(const WalkForwardParams& params, cudaStream_t stream) = 0;
};

}  // namespace hilbench::cuda
