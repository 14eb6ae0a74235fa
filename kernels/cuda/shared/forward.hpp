// What every CUDA forward kernel is given: one branch of a case as plain device pointers. C++17 and no fmt,
// as every header that .cu files include.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>

#include "kernels/case/dropout.hpp"
#include "kernels/cuda/shared/forward_shape.hpp"

namespace hilbench::cuda {

// One work item: queries of one (segment, head, batch entry) and the keys that this head selects in the
// segment. Queries and keys are numbered from 0 inside the tile.
struct alignas(16) ForwardTile {
  std::int32_t query_first = 0;  // position of query 0; query i is at query_first + i * query_step
  std::int32_t query_count = 0;  // 1 .. tile_rows of the kernel
  std::int32_t key_begin = 0;    // key j is entry key_begin + j of key_slots and key_positions
  std::int32_t key_count = 0;  // keys to read; may be 0. Causal, by position: those that the last query sees
  std::int32_t key_slot = 0;   // strided rows: slot of key 0; key j is at key_slot + j * key_slot_step
  std::int32_t key_position = 0;  // keys by position: key j is at key_position + j * key_step
  std::int32_t unmasked = 0;      // leading keys that every query sees; key_count without a mask
  std::int32_t batch = 0;
  std::int32_t head = 0;
  std::int32_t kv_head = 0;
  std::int32_t keys_backwards = 0;  // 1: visit the blocks of keys from the last to the first
  std::int32_t merge = 0;           // 1: combine with O and LSE of earlier branches, which are in memory
};

// The rows that the first branch of a head selects as queries: positions t with t % segment_length % dilation
// == offset. All other rows get O = 0 and LSE = -infinity before any merge.
struct HeadCover {
  std::int32_t segment_length = 0;
  std::int32_t dilation = 1;
  std::int32_t offset = 0;
};

// What dropout needs to know of a branch, besides where a pair stands in its segment.
struct BranchDropout {
  Dropout dropout;
  std::int32_t segment_length = 1;
  std::int32_t branch = 0, branches = 1;

  // Of the pairs of a query at `position`, of one head.
  HILBENCH_HOST_DEVICE DropoutStream stream(int position, int batch, int heads, int head) const {
    return {static_cast<std::uint32_t>(position / segment_length),
            static_cast<std::uint32_t>((batch * heads + head) * branches + branch)};
  }
  // The number of a query among those of its segment, `step` positions apart.
  HILBENCH_HOST_DEVICE int query_number(int position, int step) const {
    return position % segment_length / step;
  }
};

// One branch. Tensors are contiguous: q, o [batch, sequence, heads, head_dim], k, v [batch, kv_rows,
// kv_heads, head_dim], lse [batch, sequence, heads]. q, k and v hold elements of the shape's dtype, by slot;
// o and lse are in position order.
struct ForwardParams {
  const void* q = nullptr;
  const void* k = nullptr;
  const void* v = nullptr;
  std::int32_t kv_rows = 0;     // rows of k and v in a batch entry; on one rank as many as q has
  void* o = nullptr;            // elements of the shape's dtype, or fp32 if o_fp32 is 1
  float* lse = nullptr;         // natural logarithm; -infinity for a query without visible key (its O is 0)
  std::int32_t o_fp32 = 0;      // 1: o is fp32, because further branches merge into it
  std::int32_t any_merge = 0;   // 1: some tile has merge = 1
  float scale = 0;              // of the scores: 1 / sqrt(head_dim)
  std::int32_t query_step = 1;  // positions between queries
  std::int32_t key_step = 1;    // positions between keys, if key_positions is null
  std::int32_t key_slot_step = 1;               // slots between keys, if key_slots is null
  const std::int32_t* q_slots = nullptr;        // [sequence] slot of a position in q; null: linear
  const std::int32_t* key_slots = nullptr;      // slot of each key (gathered rows); null: strided rows
  const std::int32_t* key_positions = nullptr;  // position of each key, needed under a causal mask if
                                                // keys are visited by slot; else null
  const ForwardTile* tiles = nullptr;           // [tile_count], in the sequence of the traversal
  std::int32_t tile_count = 0;                  // may be 0
  const HeadCover* fill = nullptr;              // [heads]; not null: clear the rows that are not covered
  BranchDropout dropout;                        // keys are visited by position if it drops any
  std::int32_t* counters = nullptr;  // two zeros, by which blocks share the work; zeros again at the end
};

// A kernel prepared for one shape. Between launches it keeps no pointer of ForwardParams, except as a key of
// what it derived from it (tensor maps).
class ForwardKernel {
 public:
  virtual ~ForwardKernel() = default;
  // True if launch() itself clears the rows that `fill` does not cover; else the
  // caller runs clear_uncovered() first.
  virtual bool clears() const { return false; }
  // Enqueues the branch. Does not synchronise. Throws CudaError if the launch is refused.
  virtual void launch(const ForwardParams& params, cudaStream_t stream) = 0;
};

// O = 0 and LSE = -infinity in the rows that fill[head] does not cover. `o_fp32` as in ForwardParams.
void clear_uncovered(const ForwardShape& shape, const ForwardParams& params, cudaStream_t stream);

// Rounds o_fp32 [batch, sequence, heads, head_dim], in which branches have merged, to the shape's dtype (to
// nearest) into o.
void round_output(const ForwardShape& shape, const float* o_fp32, void* o, cudaStream_t stream);

}  // namespace hilbench::cuda
