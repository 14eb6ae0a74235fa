// What the CUDA forward kernels share: the work of one branch of a case as plain device pointers. C++17 and
// no fmt, as every header that .cu files include.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>

#include "kernels/cuda/shared/forward_shape.hpp"

namespace hilbench::cuda {

// Queries of one (segment, head, batch entry) against the keys of their segment's stream: one work item. The
// rows of queries and keys are numbered from 0 inside the tile.
struct alignas(16) ForwardTile {
  std::int32_t query_first = 0;  // position of query 0; query i is at query_first + i * query_step
  std::int32_t query_count = 0;  // 1 .. tile_rows of the kernel
  std::int32_t key_begin = 0;    // key j is entry key_begin + j of key_slots and key_positions
  std::int32_t key_count = 0;  // keys to read; may be 0. Causal, keys by position: those the last query sees
  std::int32_t key_slot = 0;   // strided rows: slot of key 0; key j is at key_slot + j * key_slot_step
  std::int32_t key_position =
      0;                      // keys by position: position of key 0; key j is at key_position + j * key_step
  std::int32_t unmasked = 0;  // leading keys that every query sees; key_count where there is no mask
  std::int32_t batch = 0;
  std::int32_t head = 0;
  std::int32_t kv_head = 0;
  std::int32_t keys_backwards = 0;  // 1: visit the blocks of keys from the last to the first
  std::int32_t merge = 0;           // 1: O and LSE of an earlier branch stand in memory: combine with them
};

// Which rows of a head the first branch that it runs selects as queries: position t where
// t % segment_length % dilation == offset. All others get O = 0 and LSE = -infinity before any merge.
struct HeadCover {
  std::int32_t segment_length = 0;
  std::int32_t dilation = 1;
  std::int32_t offset = 0;
};

// One branch. Tensors are contiguous: q, o [batch, sequence, heads, head_dim], k, v [batch, kv_rows,
// kv_heads, head_dim], lse [batch, sequence, heads]. q, k, v hold `element`s at slots; o and lse stand in
// position order.
struct ForwardParams {
  const void* q = nullptr;
  const void* k = nullptr;
  const void* v = nullptr;
  std::int32_t kv_rows = 0;     // of k and v in a batch entry; as many as of q on one rank
  void* o = nullptr;            // `element`s, or fp32 where o_fp32
  float* lse = nullptr;         // natural logarithm; -infinity for a query without visible key (its O is 0)
  std::int32_t o_fp32 = 0;      // 1: o is fp32, since further branches will merge into it
  std::int32_t any_merge = 0;   // 1: some tile has merge = 1
  float scale = 0;              // of the scores: 1 / sqrt(head_dim)
  std::int32_t query_step = 1;  // positions between queries
  std::int32_t key_step = 1;    // positions between keys, where key_positions is null
  std::int32_t key_slot_step = 1;               // slots between keys, where key_slots is null
  const std::int32_t* q_slots = nullptr;        // [sequence] slot of a position in q; null: linear
  const std::int32_t* key_slots = nullptr;      // slot of each key (gathered rows); null: strided rows
  const std::int32_t* key_positions = nullptr;  // position of each key, needed under a causal mask where
                                                // keys are visited by slot; else null
  const ForwardTile* tiles = nullptr;           // [tile_count], in the sequence of the traversal
  std::int32_t tile_count = 0;                  // may be 0
  const HeadCover* fill = nullptr;              // [heads]; not null: rows not covered are to be cleared
  std::int32_t* counters = nullptr;             // two zeros, for work distribution; left as zeros
};

// A kernel made ready for one shape. Objects keep no pointer beyond what launch() is given, except as a key
// to what they derived from it (tensor maps).
class ForwardKernel {
 public:
  virtual ~ForwardKernel() = default;
  // Whether launch() itself clears the rows that `fill` tells; else the caller runs clear_uncovered() first.
  virtual bool clears() const { return false; }
  // Enqueues the branch. Does not synchronise. Throws CudaError where the launch is refused.
  virtual void launch(const ForwardParams& params, cudaStream_t stream) = 0;
};

// O = 0 and LSE = -infinity in the rows that fill[head] does not cover. `o_fp32` as in ForwardParams.
void clear_uncovered(const ForwardShape& shape, const ForwardParams& params, cudaStream_t stream);

// Rounds the fp32 workspace o_fp32 [batch, sequence, heads, head_dim] of merging branches to the shape's
// element, to nearest, into o.
void round_output(const ForwardShape& shape, const float* o_fp32, void* o, cudaStream_t stream);

}  // namespace hilbench::cuda
