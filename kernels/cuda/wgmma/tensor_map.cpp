#include "kernels/cuda/wgmma/tensor_map.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "kernels/cuda/runtime/driver.hpp"

namespace hilbench::cuda {
namespace {

constexpr std::size_t kCached = 64;

using Encode = decltype(&cuTensorMapEncodeTiled);

// A map of 16-bit elements in five dimensions, the fastest first; `strides` in bytes.
CUtensorMap encode(Dtype dtype, const void* tensor, const cuuint64_t (&dims)[5],
                   const cuuint64_t (&strides)[4], const cuuint32_t (&box)[5]) {
  const cuuint32_t unit[5] = {1, 1, 1, 1, 1};
  const auto type = dtype == Dtype::bf16 ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 : CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
  static const Encode encoder = reinterpret_cast<Encode>(driver_function("cuTensorMapEncodeTiled"));
  CUtensorMap map;
  const CUresult status = encoder(&map, type, 5, const_cast<void*>(tensor), dims, strides, box, unit,
                                  CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                  CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (status != CUDA_SUCCESS) {
    throw std::runtime_error("cuTensorMapEncodeTiled: driver error " +
                             std::to_string(static_cast<int>(status)));
  }
  return map;
}

// [batch, slots, heads, head_dim], or with heads_first [batch, heads, slots, head_dim]
struct Tensor {
  const void* rows;
  std::int32_t slots;
  std::int32_t heads;
  std::int32_t step;
  bool heads_first = false;
};

CUtensorMap encode(const ForwardShape& shape, const Tensor& tensor, std::int32_t residues, std::int32_t count,
                   std::int32_t box_rows) {
  const cuuint64_t row_bytes = 2ull * shape.head_dim;
  const cuuint64_t slot_bytes = tensor.heads_first ? row_bytes : row_bytes * tensor.heads;
  const cuuint64_t head_bytes = tensor.heads_first ? row_bytes * tensor.slots : row_bytes;
  const cuuint64_t dims[5] = {static_cast<cuuint64_t>(shape.head_dim), static_cast<cuuint64_t>(residues),
                              static_cast<cuuint64_t>(count), static_cast<cuuint64_t>(tensor.heads),
                              static_cast<cuuint64_t>(shape.batch)};
  const cuuint64_t strides[4] = {slot_bytes, slot_bytes * tensor.step, head_bytes,
                                 row_bytes * tensor.heads * tensor.slots};
  const cuuint32_t box[5] = {64, 1, static_cast<cuuint32_t>(box_rows), 1, 1};
  return encode(shape.dtype, tensor.rows, dims, strides, box);
}

StridedRows encode(const ForwardShape& shape, const Tensor& tensor, std::int32_t box_rows) {
  StridedRows rows{};
  if (tensor.slots == 0) return rows;
  const std::int32_t whole = tensor.slots / tensor.step;
  const std::int32_t longer = tensor.slots % tensor.step;
  for (int which = 0; which < 2; ++which) {
    // If one of the two kinds of residue does not exist, its map is that of the other.
    const bool more = (which == 1 && longer > 0) || whole == 0;
    rows.map[which] = encode(shape, tensor, more ? longer : tensor.step, whole + (more ? 1 : 0), box_rows);
  }
  return rows;
}

StridedMapKey key_of(const ForwardParams& params) {
  const bool strided = params.key_slots == nullptr;
  return {params.q_slots == nullptr ? params.q : nullptr,
          strided ? params.k : nullptr,
          strided ? params.v : nullptr,
          params.o_fp32 == 0 ? params.o : nullptr,
          params.kv_rows,
          params.query_step,
          params.key_slot_step};
}

StridedMaps encode(const ForwardShape& shape, const ForwardParams& params, const BoxRows& boxes) {
  const auto [q, k, v, o, kv_rows, query_step, key_slot_step] = key_of(params);
  StridedMaps maps{};
  if (q != nullptr) maps.q = encode(shape, {q, shape.sequence, shape.heads, query_step}, boxes.q);
  if (o != nullptr) maps.o = encode(shape, {o, shape.sequence, shape.heads, query_step}, boxes.o);
  if (k != nullptr) maps.k = encode(shape, {k, kv_rows, shape.kv_heads, key_slot_step}, boxes.kv);
  if (v != nullptr) maps.v = encode(shape, {v, kv_rows, shape.kv_heads, key_slot_step}, boxes.kv);
  return maps;
}

// Boxes of `box_rows` positions: the grid's, or halves.
CUtensorMap encode_boxes(const ForwardShape& shape, const void* tensor, std::int32_t heads,
                         const GridBoxes& grid, std::int32_t box_rows) {
  const auto extent = [&](int d) { return static_cast<cuuint64_t>(grid.extents[d]); };
  const cuuint64_t dims[5] = {static_cast<cuuint64_t>(shape.head_dim), static_cast<cuuint64_t>(heads),
                              extent(2), extent(1), extent(0) * static_cast<cuuint64_t>(shape.batch)};
  cuuint64_t strides[4] = {2 * dims[0]};
  for (int d = 1; d < 4; ++d) strides[d] = strides[d - 1] * dims[d];
  cuuint32_t box[5] = {64, 1, static_cast<cuuint32_t>(grid.box[2]), static_cast<cuuint32_t>(grid.box[1]),
                       static_cast<cuuint32_t>(grid.box[0])};
  if (grid.box[0] * grid.box[1] * grid.box[2] > box_rows)
    box[grid.box[0] > 1 ? 4 : grid.box[1] > 1 ? 3 : 2] /= 2;
  return encode(shape.dtype, tensor, dims, strides, box);
}

}  // namespace

const StridedMaps& BoxMapCache::of(const ForwardShape& shape, const WindowForwardParams& params,
                                   const BoxRows& boxes) {
  const std::tuple key(params.q, params.k, params.v);
  const auto found = maps_.find(key);
  if (found != maps_.end()) return found->second;
  if (maps_.size() >= kCached) maps_.clear();
  StridedMaps& maps = maps_[key];
  const GridBoxes& grid = params.windows.boxes;
  maps.q.map[0] = encode_boxes(shape, params.q, shape.heads, grid, grid.box[0] * grid.box[1] * grid.box[2]);
  maps.k.map[0] = encode_boxes(shape, params.k, shape.kv_heads, grid, boxes.kv);
  maps.v.map[0] = encode_boxes(shape, params.v, shape.kv_heads, grid, boxes.kv);
  return maps;
}

const StridedMaps& StridedMapCache::of(const ForwardShape& shape, const ForwardParams& params,
                                       const BoxRows& boxes) {
  const StridedMapKey key = key_of(params);
  const auto found = maps_.find(key);
  if (found != maps_.end()) return found->second;
  if (maps_.size() >= kCached) maps_.clear();
  return maps_[key] = encode(shape, params, boxes);
}

const WalkMaps& WalkMapCache::of(const ForwardShape& shape, const WalkForwardParams& params,
                                 const BoxRows& boxes) {
  const WalkTables& walk = params.walk;
  const bool by_map = params.key_slots == nullptr && walk.sources > 0;
  const Key key(key_of(params), by_map ? walk.k : nullptr, by_map ? walk.v : nullptr, walk.kv_rows,
                walk.key_slot_step, walk.heads_first);
  const auto found = maps_.find(key);
  if (found != maps_.end()) return found->second;
  if (maps_.size() >= kCached) maps_.clear();
  WalkMaps maps{};
  static_cast<StridedMaps&>(maps) = encode(shape, params, boxes);
  if (by_map) {
    ForwardShape received = shape;
    received.batch = shape.batch * walk.sources;
    Tensor tensor{walk.k, walk.kv_rows, shape.kv_heads, walk.key_slot_step, walk.heads_first};
    maps.received_k = encode(received, tensor, boxes.kv);
    tensor.rows = walk.v;
    maps.received_v = encode(received, tensor, boxes.kv);
  }
  return maps_[key] = maps;
}

}  // namespace hilbench::cuda
