// The index of a launch whose tiles walk the keys of several sources: the own shard of a rank, and shards
// that arrive from other ranks while the launch runs.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/index/index.hpp"

namespace hilbench {

// Keys of one source that a tile visits: `key_count` entries of the branch's lists from `key_begin` on, of
// which `unmasked` leading ones are seen by every query of the tile.
struct KeyStretch {
  std::int64_t key_begin = 0;
  std::int32_t key_count = 0;  // at least 1
  std::int32_t unmasked = 0;
  std::int32_t source = 0;  // 0: the own shard; s + 1: received shard s
};

constexpr std::int64_t kDeviceStretchBytes = 32;  // of a stretch in a GPU's memory

// The slots of a list are those of its source. `key_begin` of a tile is the first of its `stretches`, which
// it visits in sequence; `key_count` and `unmasked` are sums over them.
struct WalkBranch : BranchIndex {
  std::vector<KeyStretch> stretches;
};

// Received shards arrive in chunks: all slots of `heads` K/V heads of a batch entry; the last chunk of an
// entry may have fewer heads. Chunks of a shard are numbered by batch entry, then heads, and arrive in this
// sequence.
struct ShardChunks {
  std::int64_t heads = 1;
  std::int64_t head_chunks = 1;  // of a batch entry
  std::int64_t count(std::int64_t batch) const { return batch * head_chunks; }
};

struct Walk {
  std::int64_t q_rows = 0;            // rows of Q, O and LSE in a batch entry
  std::int64_t kv_rows = 0;           // rows of K and V of the own shard in a batch entry
  std::int64_t sources = 0;           // received shards
  std::int64_t received_rows = 0;     // rows of K and V that each of them has room for in a batch entry
  bool heads_first = false;           // of received shards, see ReceivedShards
  std::vector<std::int32_t> q_slots;  // slot of each row; empty: linear
  ShardChunks chunks;
  std::vector<WalkBranch> branches;  // one for each launch
};

// What a run finds on the device. k and v: [sources, batch, received_rows, kv_heads, head_dim], or with
// heads_first [sources, batch, kv_heads, received_rows, head_dim].
struct ReceivedShards {
  const void* k = nullptr;
  const void* v = nullptr;
  // [sources]: after chunk n of a shard has arrived its flag is first + n + 1 or more, modulo 2^32.
  std::uint32_t* arrived = nullptr;
  std::uint32_t first = 0;
  // Words of host memory. `ended`, which may be null: not 0 once the ring has failed, so that keys may never
  // come. `gave_up`, 0 at first: the source, as KeyStretch numbers it, whose keys did not come in time. The
  // launch then waits for nothing more, and its results are wrong.
  const std::uint32_t* ended = nullptr;
  std::uint32_t* gave_up = nullptr;
};

}  // namespace hilbench
