// What every CUDA backward kernel is given: one branch of a case as plain device pointers
// (docs/definitions.md, "Backward"). C++17 and no fmt, as every header that .cu files include.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/cuda/shared/forward.hpp"
#include "kernels/cuda/shared/forward_shape.hpp"

namespace hilbench::cuda {

// What the backward pass needs of a row beside Q and dO; like LSE, in position order.
struct alignas(8) RowStatistics {
  float lse2 = 0;   // LSE in units of log2; +infinity for a row that sees no key, so that its weights are 0
  float delta = 0;  // D = sum of dO o O
};

// Successive queries of one head that see the keys of a tile: query i is at position first + i * query_step.
struct alignas(16) QueryRun {
  std::int32_t first = 0;
  std::int32_t count = 0;
  std::int32_t head = 0;
  std::int32_t batch = 0;
};

// Keys of one list, and all queries of the group's heads that see them. No two tiles of a launch share a key.
struct alignas(16) KeyTile {
  std::int32_t key_begin = 0;       // key j is entry key_begin + j of key_slots and key_positions
  std::int32_t key_count = 0;       // 1 .. tile_rows of the kernel
  std::int32_t key_slot = 0;        // strided rows: slot of key 0; key j is at key_slot + j * key_slot_step
  std::int32_t key_position = 0;    // keys by position: key j is at key_position + j * key_step
  std::int32_t first_position = 0;  // queries before it see no key of the tile; 0 without a mask
  std::int32_t last_position = 0;   // queries from it on see all of them; 0 without a mask
  std::int32_t batch = 0;
  std::int32_t kv_head = 0;
  std::int32_t run_begin = 0;  // of `runs`
  std::int32_t run_count = 0;
  std::int32_t key_number = 0;  // of key 0 in its list
  std::int32_t turn = 0;        // how many tiles of its list come before it, by first_position
};

// Tensors lie as in Operands. Gradients of q, k and v lie like q, k and v.
struct GradientParams {
  const void* q = nullptr;
  const void* k = nullptr;
  const void* v = nullptr;
  const void* d_o = nullptr;
  const RowStatistics* statistics = nullptr;  // [batch, sequence, heads]
  void* d_q = nullptr;                        // elements of the shape's dtype, or fp32 if gradients_fp32 is 1
  void* d_k = nullptr;
  void* d_v = nullptr;
  std::int32_t gradients_fp32 = 0;
  std::int32_t adds = 0;  // 1: to what is there, in fp32; 0: rows that the branch computes are overwritten
  std::int32_t kv_rows = 0;
  float scale = 0;  // of the scores
  std::int32_t query_step = 1;
  std::int32_t key_step = 1;
  std::int32_t key_slot_step = 1;
  const std::int32_t* q_slots = nullptr;  // these three as in ForwardParams
  const std::int32_t* key_slots = nullptr;
  const std::int32_t* key_positions = nullptr;
  const ForwardTile* tiles = nullptr;  // of queries
  const KeyTile* key_tiles = nullptr;
  const QueryRun* runs = nullptr;
  std::int32_t tile_count = 0;
  std::int32_t key_tile_count = 0;
  // Null: two launches. Else counts, zero before the launch: how many tiles of keys have begun; then, of each
  // block of turn_queries queries of a run, how many have added to dQ. A run has turn_blocks of these.
  std::int32_t* turns = nullptr;
  std::int32_t turn_blocks = 0;
  BranchDropout dropout;  // as in ForwardParams
};

// A kernel prepared for one shape, which computes a branch in one launch or two. In two, each computes scores
// anew, and no two blocks write one row. In one, blocks of keys add to dQ in turn (GradientParams::turns). So
// two runs give the same bits.
class GradientKernel {
 public:
  virtual ~GradientKernel() = default;
  // Queries of a block whose sums tiles of keys add in turn; 0: it has no such launch. It needs dQ to hold
  // zeros or what it adds to.
  virtual int turn_queries() const { return 0; }
  // Enqueues the launches: one if `params` has turns. Does not synchronise. Throws CudaError if one is
  // refused.
  virtual void launch(const GradientParams& params, cudaStream_t stream) = 0;
};

// The statistics of every row. `o` is in position order, d_o by slot (`q_slots`, null: linear).
void find_row_statistics(const ForwardShape& shape, const void* o, const void* d_o, const float* lse,
                         const std::int32_t* q_slots, RowStatistics* to, cudaStream_t stream);

}  // namespace hilbench::cuda
