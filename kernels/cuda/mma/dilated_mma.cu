// Attention of one branch on the matrix units of compute capability 8.0 and up, for bf16 and fp16.
//
// One block of threads computes one ForwardTile: S = Q K^T, P = exp(scale S - m), O = P V / l over blocks of
// keys with the running maximum m and sum l of every row kept in registers (online softmax; FlashAttention-2,
// arXiv 2307.08691, Algorithm 1). A warp owns 16 or 32 rows of Q; K and V are in shared memory, in a ring of
// blocks that cp.async fills; their 16-byte chunks are swizzled so that ldmatrix has no bank conflicts. P V
// follows the exponentials 16 keys at a time, so that both can run at once.
//
// Does not handle fp32 and head dimensions other than those of make_dilated_mma().
#include <stdexcept>
#include <type_traits>

#include "kernels/cuda/mma/mma.cuh"
#include "kernels/cuda/mma/mma_keys.cuh"
#include "kernels/cuda/mma/mma_softmax.cuh"
#include "kernels/cuda/mma/mma_tiling.cuh"
#include "kernels/cuda/mma/mma_windows.cuh"
#include "kernels/cuda/runtime/status.hpp"
#include "kernels/cuda/shared/element.cuh"
#include "kernels/cuda/shared/window_kernel.hpp"

namespace hilbench::cuda {

namespace {

// Exchanges values of two neighbouring column tiles of a row between lanes. Each lane then holds four
// neighbouring columns: an even lane of the first tile, an odd lane of the second.
__device__ __forceinline__ float4 join_columns(float first0, float first1, float second0, float second1,
                                               int lane) {
  const bool odd = (lane & 1) != 0;
  const float other0 = __shfl_xor_sync(0xffffffff, odd ? first0 : second0, 1);
  const float other1 = __shfl_xor_sync(0xffffffff, odd ? first1 : second1, 1);
  return odd ? make_float4(other0, other1, second0, second1) : make_float4(first0, first1, other0, other1);
}

template <class T>
__device__ __forceinline__ float4 load_four(const T* source) {
  return make_float4(widen(source[0]), widen(source[1]), widen(source[2]), widen(source[3]));
}
template <>
__device__ __forceinline__ float4 load_four<float>(const float* source) {
  return *reinterpret_cast<const float4*>(source);
}

template <class T>
__device__ __forceinline__ void store_four(T* target, float4 value) {
  *reinterpret_cast<uint2*>(target) = make_uint2(pack<T>(value.x, value.y), pack<T>(value.z, value.w));
}
template <>
__device__ __forceinline__ void store_four<float>(float* target, float4 value) {
  *reinterpret_cast<float4*>(target) = value;
}

// The weights of the result in memory and of the tile's result, and the LSE of both together (LongNet, arXiv
// 2307.02486, Eqs. 9-10, in log space).
struct Blend {
  float old_weight;
  float new_weight;
  float lse;
};

__device__ __forceinline__ Blend blend(float old_lse, float new_lse) {
  const float max = fmaxf(old_lse, new_lse);
  if (max == kMinusInfinity) return {0, 0, kMinusInfinity};
  const float old_part = expf(old_lse - max);
  const float new_part = expf(new_lse - max);
  const float sum = old_part + new_part;
  return {old_part / sum, new_part / sum, max + logf(sum)};
}

template <Rows kRowMap>
using ParamsOf = std::conditional_t<kRowMap == Rows::windows, WindowForwardParams, ForwardParams>;

// Writes O and LSE of a thread's rows. U is the type of O in memory.
template <class Tile, Rows kRowMap, class U>
__device__ __forceinline__ void write_rows(const Output<Tile>& o, const RowState<Tile>& state,
                                           const ForwardShape& shape, const ParamsOf<kRowMap>& params,
                                           const ForwardTile& tile, int first_row, int lane) {
#pragma unroll
  for (int m = 0; m < Tile::kRowTiles; ++m)
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      float sum = state.sum[m][h];
      sum += __shfl_xor_sync(0xffffffff, sum, 1);
      sum += __shfl_xor_sync(0xffffffff, sum, 2);
      float lse = sum == 0 ? kMinusInfinity : state.max[m][h] * params.scale + logf(sum);
      float weight = sum == 0 ? 0 : 1 / sum;
      float old_weight = 0;
      const int query = first_row + m * 16 + h * 8 + lane / 4;
      const bool write = query < tile.query_count;
      std::int64_t position = tile.query_first + static_cast<std::int64_t>(query) * params.query_step;
      if constexpr (kRowMap == Rows::windows)
        position = row_of_query(params.windows, tile, min(query, tile.query_count - 1));
      const std::int64_t row =
          (tile.batch * static_cast<std::int64_t>(shape.sequence) + position) * shape.heads + tile.head;
      if (kRowMap != Rows::windows && tile.merge != 0 && write) {
        const Blend parts = blend(params.lse[row], lse);
        weight *= parts.new_weight;
        old_weight = parts.old_weight;
        lse = parts.lse;
      }
      U* target = static_cast<U*>(params.o) + row * Tile::kHeadDim + (lane & 1) * 8 + (lane & 2) * 2;
#pragma unroll
      for (int n = 0; n < Tile::kHeadDim / 8; n += 2) {
        float4 value = join_columns(o[m][n][2 * h] * weight, o[m][n][2 * h + 1] * weight,
                                    o[m][n + 1][2 * h] * weight, o[m][n + 1][2 * h + 1] * weight, lane);
        if (!write) continue;
        if (kRowMap != Rows::windows && tile.merge != 0) {
          const float4 old = load_four(target + n * 8);
          value = make_float4(value.x + old_weight * old.x, value.y + old_weight * old.y,
                              value.z + old_weight * old.z, value.w + old_weight * old.w);
        }
        store_four(target + n * 8, value);
      }
      // All lanes of a row have read the old LSE before one of them writes the new.
      __syncwarp();
      if (write && (lane & 3) == 0) params.lse[row] = lse;
    }
}

// The mask of a thread's rows.
template <class Tile>
__device__ __forceinline__ Mask<Tile> make_mask(const ForwardShape& shape, const ForwardParams& params,
                                                const ForwardTile& tile, int first_row, int lane) {
  Mask<Tile> mask;
  const bool by_table = shape.causal && params.key_positions != nullptr;
  mask.positions = by_table ? params.key_positions + tile.key_begin : nullptr;
  mask.key_count = tile.key_count;
#pragma unroll
  for (int m = 0; m < Tile::kRowTiles; ++m)
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int query = first_row + m * 16 + h * 8 + lane / 4;
      const int position = tile.query_first + query * params.query_step;
      int limit = tile.key_count;
      if (by_table) {
        limit = position + 1;
      } else if (shape.causal) {
        const int behind = position - tile.key_position;
        limit = behind < 0 ? 0 : min(limit, behind / params.key_step + 1);
      }
      mask.limit[m][h] = limit;
    }
  return mask;
}

template <class Tile, Rows kRowMap>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kBlocksPerSm)
    dilated_mma(const ForwardShape shape, const ParamsOf<kRowMap> params) {
  using T = typename Tile::Element;
  extern __shared__ __align__(1024) unsigned char shared[];
  // By reference: fields that are needed after the loop are read again there and take no registers inside it.
  const ForwardTile& tile = params.tiles[blockIdx.x];
  const int lane = threadIdx.x & 31;
  const int first_row = threadIdx.x / 32 * 16 * Tile::kRowTiles;
  const std::uint32_t shared_queries = shared_address(shared);

  KeyStream<Tile, kRowMap> keys;
  const std::int64_t head_offset =
      (tile.batch * static_cast<std::int64_t>(params.kv_rows) * shape.kv_heads + tile.kv_head) *
      Tile::kRowBytes;
  keys.k = static_cast<const char*>(params.k) + head_offset;
  keys.v = static_cast<const char*>(params.v) + head_offset;
  keys.slot_bytes = shape.kv_heads * Tile::kRowBytes;
  keys.slots = params.key_slots + (kRowMap != Rows::strided ? tile.key_begin : 0);
  keys.slot = tile.key_slot;
  keys.slot_step = params.key_slot_step;
  keys.count = tile.key_count;
  keys.blocks = (tile.key_count + Tile::kKeys - 1) / Tile::kKeys;
  keys.backwards = tile.keys_backwards != 0;
  keys.shared_ring = shared_queries + Tile::kQueryBytes;
  keys.shared_slots = keys.shared_ring + Tile::kRing * Tile::kBlockBytes;
  keys.next = 0;
  keys.used = 0;

  if constexpr (kRowMap != Rows::strided) {
    keys.prefetch_slots(0);
    keys.prefetch_slots(1);
    commit_copies();
  }
  const char* q =
      static_cast<const char*>(params.q) +
      (tile.batch * static_cast<std::int64_t>(shape.sequence) * shape.heads + tile.head) * Tile::kRowBytes;
  copy_rows<Tile, Tile::kRows>(
      shared_queries, q, shape.heads * Tile::kRowBytes, tile.query_count, [&](int r) {
        const int position = tile.query_first + min(r, tile.query_count - 1) * params.query_step;
        return params.q_slots == nullptr ? position : __ldg(params.q_slots + position);
      });
  if constexpr (kRowMap != Rows::strided) {
    commit_copies();
    wait_copies<1>();
    __syncthreads();
  }

  constexpr float kLog2E = 1.4426950408889634f;
  const float scale_log2 = params.scale * kLog2E;
  const int unmasked = min(tile.unmasked, tile.key_count);
  const int query = first_row + (lane & 15);
  const std::uint32_t query_row =
      shared_queries + query * Tile::kRowBytes + (((lane >> 4) ^ swizzle<Tile>(query)) << 4);

  Output<Tile> o = {};
  Scores<Tile> s;
  Probabilities<Tile> p;
  Queries<Tile> q_registers;
  RowState<Tile> state;
  float shift[Tile::kRowTiles][2];
  float decay[Tile::kRowTiles][2];
#pragma unroll
  for (int m = 0; m < Tile::kRowTiles; ++m)
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      state.max[m][h] = kMinusInfinity;
      state.sum[m][h] = 0;
    }

  WindowMasks<Tile> windows;
  if constexpr (kRowMap == Rows::windows) windows.start(params.windows, tile);

  const auto visit_block = [&](int visit, auto masked) {
    std::uint32_t block = keys.wait();
    if constexpr (kRowMap == Rows::windows)
      windows.fetch(keys.first_key(visit), visit + 1 < keys.blocks ? keys.first_key(visit + 1) : -1);
    keys.copy_k(visit + 1);
#pragma unroll
    for (int step = 0; step < Tile::kHeadDim / 16; ++step)
      add_scores<Tile>(s, q_registers, query_row, block, step, lane);
    if constexpr (kRowMap == Rows::windows)
      windows.apply(s);
    else if constexpr (decltype(masked)::value)
      make_mask<Tile>(shape, params, tile, first_row, lane).apply(s, keys.first_key(visit), lane);
    block = keys.wait();
    take_maxima<Tile>(state, shift, decay, s, scale_log2);
    rescale<Tile>(o, decay);
#pragma unroll
    for (int step = 0; step < Tile::kKeys / 16; ++step) {
      exponentiate<Tile>(p, state, s, shift, scale_log2, step);
      add_values<Tile>(o, p, block, step, lane);
    }
    keys.copy_v(visit + 1);
  };
  const auto is_masked = [&](int visit) { return keys.first_key(visit) + Tile::kKeys > unmasked; };

  keys.copy_k(0);
  keys.copy_v(0);
  if constexpr (Tile::kQueryRegisters) {
    wait_copies<1>();
    __syncthreads();
    load_queries<Tile>(q_registers, query_row);
  }
  if constexpr (kRowMap == Rows::windows) {
    for (int visit = 0; visit < keys.blocks; ++visit) visit_block(visit, std::true_type());
  } else {
    for (int visit = 0; visit < keys.blocks;) {
      if (is_masked(visit)) {
        visit_block(visit++, std::true_type());
        continue;
      }
      do visit_block(visit++, std::false_type());
      while (visit < keys.blocks && !is_masked(visit));
    }
  }
  wait_copies<0>();

  if (params.o_fp32 != 0) {
    write_rows<Tile, kRowMap, float>(o, state, shape, params, tile, first_row, lane);
  } else {
    write_rows<Tile, kRowMap, T>(o, state, shape, params, tile, first_row, lane);
  }
}

template <class T, int kHeadDim>
struct Tilings;
template <class T>
struct Tilings<T, 32> : Tiling<T, 32, 2, 4, 64, true> {};
template <class T>
struct Tilings<T, 64> : Tiling<T, 64, 2, 4, 64, true> {};
template <class T>
struct Tilings<T, 96> : Tiling<T, 96, 2, 4, 64, false> {};
template <class T>
struct Tilings<T, 128> : Tiling<T, 128, 2, 4, 64, false> {};
template <class T>
struct Tilings<T, 256> : Tiling<T, 256, 1, 4, 32, false> {};

template <class Tile>
class DilatedMma final : public ForwardKernel {
 public:
  explicit DilatedMma(const ForwardShape& shape) : shape_(shape) {
    allow_shared_memory(dilated_mma<Tile, Rows::strided>);
    allow_shared_memory(dilated_mma<Tile, Rows::gathered>);
  }

  void launch(const ForwardParams& params, cudaStream_t stream) override {
    if (params.tile_count == 0) return;
    const auto kernel =
        params.key_slots == nullptr ? dilated_mma<Tile, Rows::strided> : dilated_mma<Tile, Rows::gathered>;
    kernel<<<params.tile_count, Tile::kThreads, Tile::kSharedBytes, stream>>>(shape_, params);
    HILBENCH_CUDA(cudaGetLastError());
  }

 private:
  template <class Kernel>
  static void allow_shared_memory(Kernel* kernel) {
    HILBENCH_CUDA(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Tile::kSharedBytes));
  }

  ForwardShape shape_;
};

template <class Tile>
class WindowsMma final : public WindowKernel {
 public:
  explicit WindowsMma(const ForwardShape& shape) : shape_(shape) {
    HILBENCH_CUDA(cudaFuncSetAttribute(dilated_mma<Tile, Rows::windows>,
                                       cudaFuncAttributeMaxDynamicSharedMemorySize, Tile::kSharedBytes));
  }

  MaskLayout mask_layout() const override { return MaskLayout::mma; }

  void launch(const WindowForwardParams& params, cudaStream_t stream) override {
    dilated_mma<Tile, Rows::windows>
        <<<params.tile_count, Tile::kThreads, Tile::kSharedBytes, stream>>>(shape_, params);
    HILBENCH_CUDA(cudaGetLastError());
  }

 private:
  ForwardShape shape_;
};

// Calls visit(Tilings<T, D>()) for the shape's element and head dimension.
template <class T, class Visit>
auto visit_head_dim(const ForwardShape& shape, Visit visit) {
  switch (shape.head_dim) {
    case 32:
      return visit(Tilings<T, 32>());
    case 64:
      return visit(Tilings<T, 64>());
    case 96:
      return visit(Tilings<T, 96>());
    case 128:
      return visit(Tilings<T, 128>());
    case 256:
      return visit(Tilings<T, 256>());
    default:
      throw std::invalid_argument("dilated_mma: head_dim must be 32, 64, 96, 128 or 256");
  }
}

template <class Visit>
auto visit_tiling(const ForwardShape& shape, Visit visit) {
  switch (shape.dtype) {
    case Dtype::bf16:
      return visit_head_dim<__nv_bfloat16>(shape, visit);
    case Dtype::fp16:
      return visit_head_dim<__half>(shape, visit);
    default:
      throw std::invalid_argument("dilated_mma: the element must be bf16 or fp16");
  }
}

}  // namespace

std::int32_t dilated_mma_tile_rows(const ForwardShape& shape) {
  return visit_tiling(shape, [](auto tile) -> std::int32_t { return decltype(tile)::kRows; });
}

std::unique_ptr<ForwardKernel> make_dilated_mma(const ForwardShape& shape) {
  return visit_tiling(shape, [&](auto tile) -> std::unique_ptr<ForwardKernel> {
    return std::make_unique<DilatedMma<decltype(tile)>>(shape);
  });
}

std::unique_ptr<WindowKernel> make_windows_mma(const ForwardShape& shape) {
  return visit_tiling(shape, [&](auto tile) -> std::unique_ptr<WindowKernel> {
    if constexpr (WindowMasks<decltype(tile)>::kFits)
      return std::make_unique<WindowsMma<decltype(tile)>>(shape);
    throw std::invalid_argument("windows of mma have head_dim 32, 64, 96 and 128");
  });
}

}  // namespace hilbench::cuda
