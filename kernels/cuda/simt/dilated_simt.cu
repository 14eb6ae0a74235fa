// Forward attention of one branch in fp32 FFMA arithmetic, for compute capability 6.1 and up; fp16 and bf16
// are storage only. O = softmax(scale Q K^T) V and its LSE by online softmax over blocks of keys (running
// maximum and sum per query row, FlashAttention-2, arXiv 2307.08691, algorithm 1), one block per tile.
//
// A warp owns 4 * kRowsPerLane query rows. Its lanes form a grid of 4 row lanes x 8 column lanes: a lane
// holds rows (i / 4) * 16 + row lane * 4 + i % 4, the scores of keys j * 8 + column lane and the output
// columns c * 32 + column lane * 4 .. + 3. Both products are outer products in registers, fed by 16-byte
// loads from shared memory. Q and the probabilities are stored transposed, [head_dim or key][row], for two
// reasons. First, a load then brings an operand to registers of the same bank in every step, so that the sums
// can be in the other bank (an FFMA that takes two operands from one bank waits a cycle). Second, a lane can
// write its probabilities by 16-byte stores. Only the warp that owns the rows touches them. The strides avoid
// all bank conflicts.
//
// Does not handle head_dim above 256 or not a multiple of 8.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <climits>
#include <cmath>
#include <stdexcept>
#include <string>

#include "kernels/cuda/runtime/status.hpp"
#include "kernels/cuda/shared/forward.hpp"

namespace hilbench::cuda {
namespace {

constexpr int kWarpLanes = 32;
constexpr int kRowLanes = 4;
constexpr int kColumnLanes = 8;
constexpr float kLog2E = 1.4426950408889634f;
constexpr float kLn2 = 0.6931471805599453f;
constexpr unsigned kAllLanes = 0xffffffffu;

// Sizes of a block of the kernel. head_dim is rounded up to kHeadDim with zeros. With kTwoBuffers the next
// keys or values are fetched into shared memory during the product before; else keys and values use the same
// buffer in turn.
template <int kHeadDim_, int kRowsPerLane_, int kKeysPerLane_, int kWarps_, bool kTwoBuffers_,
          int kBlocksPerSm_>
struct TileShape {
  static constexpr int kHeadDim = kHeadDim_;
  static constexpr int kRowsPerLane = kRowsPerLane_;
  static constexpr int kKeysPerLane = kKeysPerLane_;
  static constexpr bool kTwoBuffers = kTwoBuffers_;
  static constexpr int kBlocksPerSm = kBlocksPerSm_;
  static constexpr int kThreads = kWarps_ * kWarpLanes;
  static constexpr int kWarpRows = kRowLanes * kRowsPerLane;
  static constexpr int kRows = kWarps_ * kWarpRows;
  static constexpr int kKeys = kColumnLanes * kKeysPerLane;     // of one block of keys
  static constexpr int kQuads = kHeadDim / (kColumnLanes * 4);  // groups of 4 output columns of a lane
  static constexpr int kRowStride = kHeadDim + 4;               // floats, of K and V in shared memory
  static constexpr int kWeightStride = kWarpRows + 8;           // floats, of a key's weights
  static constexpr int kWeights = (kWarps_ * kKeys + 1) * kWeightStride;  // one line is read, never used
  static constexpr int kSharedBytes =
      (kRows * kHeadDim + (kTwoBuffers ? 2 : 1) * kKeys * kRowStride + kWeights) * 4;
  static_assert(kQuads * kColumnLanes * 4 == kHeadDim && kRowsPerLane % 4 == 0);
};

template <Dtype kDtype>
struct Storage {
  static constexpr int kBytes = kDtype == Dtype::fp32 ? 4 : 2;
  static constexpr int kPerChunk = 16 / kBytes;  // elements of one 16-byte access
};

// The elements of one 16-byte chunk as floats.
template <Dtype kDtype>
__device__ __forceinline__ void unpack_chunk(const uint4& chunk, float (&to)[Storage<kDtype>::kPerChunk]) {
  const unsigned words[4] = {chunk.x, chunk.y, chunk.z, chunk.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if constexpr (kDtype == Dtype::fp32) {
      to[i] = __uint_as_float(words[i]);
    } else if constexpr (kDtype == Dtype::bf16) {
      to[2 * i] = __uint_as_float(words[i] << 16);
      to[2 * i + 1] = __uint_as_float(words[i] & 0xffff0000u);
    } else {
      const __half2 pair = *reinterpret_cast<const __half2*>(&words[i]);
      to[2 * i] = __low2float(pair);
      to[2 * i + 1] = __high2float(pair);
    }
  }
}

template <Dtype kDtype>
__device__ __forceinline__ void deposit_chunk(const uint4& chunk, float* to) {
  float values[Storage<kDtype>::kPerChunk];
  unpack_chunk<kDtype>(chunk, values);
#pragma unroll
  for (int i = 0; i < Storage<kDtype>::kPerChunk; i += 4)
    *reinterpret_cast<float4*>(to + i) = make_float4(values[i], values[i + 1], values[i + 2], values[i + 3]);
}

// Rows of one head in device memory, by slot.
struct HeadRows {
  const char* base;           // column 0 of slot 0
  int stride_bytes;           // between slots
  const std::int32_t* slots;  // of each row, or null: row i is at slot first + i * step
  int first;
  int step;
  int count;
};

// base + slot * stride in one instruction; the compiler would use a 64-bit multiplication.
__device__ __forceinline__ const char* row_address(const char* base, int slot, int stride_bytes) {
  const char* row;
  asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(row) : "r"(slot), "r"(stride_bytes), "l"(base));
  return row;
}

[[maybe_unused]] __device__ __forceinline__ void copy_async(float* to, const void* from, bool valid) {
#if __CUDA_ARCH__ >= 800
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(to));
  const int bytes = valid ? 16 : 0;  // the rest of the 16 bytes becomes zero
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from), "r"(bytes)
               : "memory");
#endif
}

__device__ __forceinline__ void await_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

// Moves blocks of kKeys rows into shared memory in two steps, with arithmetic between them: fetch() starts
// the loads, deposit() ends them. Rows past the last and columns past head_dim become zeros. A thread moves
// the same 16 bytes of every kPassRows-th row.
template <Dtype kDtype, typename Shape>
class BlockMover {
 public:
  __device__ __forceinline__ void fetch(const HeadRows& rows, int head_dim, int first, float* to) {
    const int row = first + own_row();
    const int count = own_column() < head_dim ? rows.count : 0;
    const char* const column = rows.base + own_column() * Storage<kDtype>::kBytes;
    if (rows.slots == nullptr) {
      const int first_slot = rows.first + row * rows.step, pass_slots = kPassRows * rows.step;
#pragma unroll
      for (int i = 0; i < kPasses; ++i)
        fetch_chunk(i, row_address(column, first_slot + i * pass_slots, rows.stride_bytes),
                    row + i * kPassRows < count, to);
    } else {
      int slots[kPasses];
#pragma unroll
      for (int i = 0; i < kPasses; ++i)
        slots[i] = row + i * kPassRows < count ? __ldg(rows.slots + row + i * kPassRows) : 0;
#pragma unroll
      for (int i = 0; i < kPasses; ++i)
        fetch_chunk(i, row_address(column, slots[i], rows.stride_bytes), row + i * kPassRows < count, to);
    }
  }

  __device__ __forceinline__ void deposit(float* to) {
    if constexpr (kAsync) {
      await_copies();
    } else {
#pragma unroll
      for (int i = 0; i < kPasses; ++i) deposit_chunk<kDtype>(held_[i], target(i, to));
    }
  }

 private:
#if __CUDA_ARCH__ >= 800
  static constexpr bool kAsync = kDtype == Dtype::fp32 && Shape::kTwoBuffers;
#else
  static constexpr bool kAsync = false;
#endif
  static constexpr int kRowChunks = Shape::kHeadDim / Storage<kDtype>::kPerChunk;
  static constexpr int kPassRows = Shape::kThreads / kRowChunks;
  static constexpr int kPasses = Shape::kKeys / kPassRows;
  static_assert(Shape::kThreads % kRowChunks == 0 && Shape::kKeys % kPassRows == 0);

  __device__ __forceinline__ static int own_row() {
    return static_cast<int>(threadIdx.x) / kRowChunks;
  }
  __device__ __forceinline__ static int own_column() {
    return static_cast<int>(threadIdx.x) % kRowChunks * Storage<kDtype>::kPerChunk;
  }
  __device__ __forceinline__ static float* target(int pass, float* to) {
    return to + (own_row() + pass * kPassRows) * Shape::kRowStride + own_column();
  }
  __device__ __forceinline__ void fetch_chunk(int pass, const char* from, bool valid, float* to) {
    if constexpr (kAsync) {
      copy_async(target(pass, to), from, valid);
    } else {
      held_[pass] = valid ? __ldg(reinterpret_cast<const uint4*>(from)) : make_uint4(0, 0, 0, 0);
    }
  }

  uint4 held_[kAsync ? 1 : kPasses];
};

__device__ __forceinline__ float exp2_fast(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

__device__ __forceinline__ void read_quad(const float* from, float (&to)[4]) {
  const float4 quad = *reinterpret_cast<const float4*>(from);
  to[0] = quad.x, to[1] = quad.y, to[2] = quad.z, to[3] = quad.w;
}

// The lane's values of one line of a transposed array, [kWarpRows].
template <int kCount>
__device__ __forceinline__ void read_rows(const float* line, float (&to)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; i += 4) {
    const float4 quad = *reinterpret_cast<const float4*>(line + i * kRowLanes);
    to[i] = quad.x, to[i + 1] = quad.y, to[i + 2] = quad.z, to[i + 3] = quad.w;
  }
}

// Scores of the lane's rows of Q and its keys of the block. The operands of the next step are read before the
// products of this one; the last reads are past the arrays and are not used.
template <typename Shape>
__device__ __forceinline__ void multiply_keys(const float* q, const float* k,
                                              float (&s)[Shape::kRowsPerLane][Shape::kKeysPerLane]) {
  constexpr int kRowsPerLane = Shape::kRowsPerLane, kKeysPerLane = Shape::kKeysPerLane;
  float a[2][kRowsPerLane], b[2][kKeysPerLane][4];
  read_rows(q, a[0]);
#pragma unroll
  for (int j = 0; j < kKeysPerLane; ++j) {
    read_quad(k + j * kColumnLanes * Shape::kRowStride, b[0][j]);
#pragma unroll
    for (int i = 0; i < kRowsPerLane; ++i) s[i][j] = 0;
  }
#pragma unroll 1
  for (int d = 0; d < Shape::kHeadDim; d += 8) {
#pragma unroll
    for (int step = 0; step < 8; ++step) {
      const int half = step / 4, e = step % 4;
      read_rows(q + (d + step + 1) * Shape::kWarpRows, a[(step + 1) % 2]);
#pragma unroll
      for (int j = e * kKeysPerLane / 4; j < (e + 1) * kKeysPerLane / 4; ++j)
        read_quad(k + j * kColumnLanes * Shape::kRowStride + d + 4 * half + 4, b[1 - half][j]);
#pragma unroll
      for (int j = 0; j < kKeysPerLane; ++j)
#pragma unroll
        for (int t = 0; t < kRowsPerLane; ++t) {
          const int i = j % 2 == 0 ? t : kRowsPerLane - 1 - t;
          s[i][j] = fmaf(a[step % 2][i], b[half][j][e], s[i][j]);
        }
    }
  }
}

// Adds the lane's rows of the weights times its columns of V to o; reads ahead in the same way.
template <typename Shape>
__device__ __forceinline__ void multiply_values(const float* weights, const float* v,
                                                float (&o)[Shape::kRowsPerLane][4 * Shape::kQuads]) {
  constexpr int kRowsPerLane = Shape::kRowsPerLane;
  float a[2][kRowsPerLane], b[2][Shape::kQuads][4];
  const auto read = [&](int key, float(&weight)[kRowsPerLane], float(&value)[Shape::kQuads][4]) {
    read_rows(weights + key * Shape::kWeightStride, weight);
#pragma unroll
    for (int c = 0; c < Shape::kQuads; ++c)
      read_quad(v + key * Shape::kRowStride + c * kColumnLanes * 4, value[c]);
  };
  read(0, a[0], b[0]);
#pragma unroll 1
  for (int key = 0; key < Shape::kKeys; key += 2) {
#pragma unroll
    for (int step = 0; step < 2; ++step) {
      read(key + step + 1, a[(step + 1) % 2], b[(step + 1) % 2]);
#pragma unroll
      for (int x = 0; x < 4 * Shape::kQuads; ++x)
#pragma unroll
        for (int t = 0; t < kRowsPerLane; ++t) {
          const int i = x % 2 == 0 ? t : kRowsPerLane - 1 - t;
          o[i][x] = fmaf(a[step % 2][i], b[step % 2][x / 4][x % 4], o[i][x]);
        }
    }
  }
}

// Stores the weights of the lane in their transposed array.
template <typename Shape>
__device__ __forceinline__ void hand_over(const float (&s)[Shape::kRowsPerLane][Shape::kKeysPerLane],
                                          float* weights) {
#pragma unroll
  for (int j = 0; j < Shape::kKeysPerLane; ++j)
#pragma unroll
    for (int i = 0; i < Shape::kRowsPerLane; i += 4)
      *reinterpret_cast<float4*>(weights + j * kColumnLanes * Shape::kWeightStride + i * kRowLanes) =
          make_float4(s[i][j], s[i + 1][j], s[i + 2][j], s[i + 3][j]);
}

// Row i of a lane, counted from its row 0.
__device__ __forceinline__ constexpr int row_offset(int i) {
  return i / 4 * 4 * kRowLanes + i % 4;
}

// Bits 0, 2 and 3 of the lane give its column, bits 1 and 4 its row. Lanes that differ in bit 0
// alone have the same rows, lanes that differ in bit 1 alone the same columns, so that neighbours
// load the same 16 bytes.
__device__ __forceinline__ int row_lane_of(int lane) {
  return (lane >> 1 & 1) | (lane >> 3 & 2);
}
__device__ __forceinline__ int column_lane_of(int lane) {
  return (lane & 1) | (lane >> 1 & 6);
}

template <typename Combine>
__device__ __forceinline__ float across_columns(float x, Combine combine) {
  x = combine(x, __shfl_xor_sync(kAllLanes, x, 1));
  x = combine(x, __shfl_xor_sync(kAllLanes, x, 4));
  return combine(x, __shfl_xor_sync(kAllLanes, x, 8));
}

// Online softmax of the lane's rows, in powers of two. The maximum is kept after rounding, so that all blocks
// are relative to the same value.
template <typename Shape>
struct SoftmaxRows {
  float top[Shape::kRowsPerLane];  // maximum of the scores so far, times log2(e)
  float sum[Shape::kRowsPerLane];  // of the weights of this lane's keys, relative to `top`

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int i = 0; i < Shape::kRowsPerLane; ++i) top[i] = -INFINITY, sum[i] = 0;
  }

  // Adds a block: s becomes the weights, o is scaled to the new maxima. `scale2` is the scale of
  // the scores times log2(e).
  __device__ __forceinline__ void update(float scale2, float (&s)[Shape::kRowsPerLane][Shape::kKeysPerLane],
                                         float (&o)[Shape::kRowsPerLane][4 * Shape::kQuads]) {
    float factors[Shape::kRowsPerLane];
    bool changed = false;
#pragma unroll
    for (int i = 0; i < Shape::kRowsPerLane; ++i) {
      float block_top = s[i][0];
#pragma unroll
      for (int j = 1; j < Shape::kKeysPerLane; ++j) block_top = fmaxf(block_top, s[i][j]);
      block_top = across_columns(block_top, [](float a, float b) { return fmaxf(a, b); });
      const float new_top = fmaxf(top[i], block_top * scale2);
      const float origin = new_top == -INFINITY ? 0.0f : new_top;  // no key seen: weights of 0
      factors[i] = exp2_fast(top[i] - origin);
      changed |= new_top != top[i];
      top[i] = new_top;
      float block_sum = 0;
#pragma unroll
      for (int j = 0; j < Shape::kKeysPerLane; ++j) {
        s[i][j] = exp2_fast(fmaf(s[i][j], scale2, -origin));
        block_sum += s[i][j];
      }
      sum[i] = fmaf(sum[i], factors[i], block_sum);
    }
    if (!__any_sync(kAllLanes, changed)) return;
#pragma unroll
    for (int i = 0; i < Shape::kRowsPerLane; ++i)
#pragma unroll
      for (int x = 0; x < 4 * Shape::kQuads; ++x) o[i][x] *= factors[i];
  }
};

// Scores of keys that a query does not see become -infinity.
template <typename Shape>
__device__ __forceinline__ void mask_scores(const ForwardParams& params, const ForwardTile& tile,
                                            int first_key, int first_row, int column_lane,
                                            float (&s)[Shape::kRowsPerLane][Shape::kKeysPerLane]) {
#pragma unroll
  for (int j = 0; j < Shape::kKeysPerLane; ++j) {
    const int key = first_key + j * kColumnLanes + column_lane;
    int position = INT_MAX;  // past the last key: seen by no query
    if (key < tile.unmasked) {
      position = INT_MIN;
    } else if (key < tile.key_count) {
      position = params.key_positions != nullptr ? params.key_positions[tile.key_begin + key]
                                                 : tile.key_position + key * params.key_step;
    }
#pragma unroll
    for (int i = 0; i < Shape::kRowsPerLane; ++i) {
      const int query = tile.query_first + (first_row + row_offset(i)) * params.query_step;
      if (position > query) s[i][j] = -INFINITY;
    }
  }
}

template <Dtype kDtype>
__device__ __forceinline__ void read_output(const void* o, long long at, bool o_fp32, float (&to)[4]) {
  if (kDtype == Dtype::fp32 || o_fp32) {
    read_quad(static_cast<const float*>(o) + at, to);
    return;
  }
  const uint2 words = *reinterpret_cast<const uint2*>(static_cast<const char*>(o) + at * 2);
  const unsigned pairs[2] = {words.x, words.y};
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    if constexpr (kDtype == Dtype::bf16) {
      to[2 * i] = __uint_as_float(pairs[i] << 16);
      to[2 * i + 1] = __uint_as_float(pairs[i] & 0xffff0000u);
    } else {
      const __half2 pair = *reinterpret_cast<const __half2*>(&pairs[i]);
      to[2 * i] = __low2float(pair);
      to[2 * i + 1] = __high2float(pair);
    }
  }
}

template <Dtype kDtype>
__device__ __forceinline__ unsigned pack_pair(float low, float high) {
  if constexpr (kDtype == Dtype::bf16) {
    const __nv_bfloat16 pair[2] = {__float2bfloat16(low), __float2bfloat16(high)};
    return static_cast<unsigned>(reinterpret_cast<const unsigned short&>(pair[0])) |
           static_cast<unsigned>(reinterpret_cast<const unsigned short&>(pair[1])) << 16;
  } else {
    const __half2 pair = __floats2half2_rn(low, high);
    return *reinterpret_cast<const unsigned*>(&pair);
  }
}

template <Dtype kDtype>
__device__ __forceinline__ void write_output(void* o, long long at, bool o_fp32, const float (&from)[4]) {
  if (kDtype == Dtype::fp32 || o_fp32) {
    *reinterpret_cast<float4*>(static_cast<float*>(o) + at) = make_float4(from[0], from[1], from[2], from[3]);
  } else {
    const uint2 words = {pack_pair<kDtype>(from[0], from[1]), pack_pair<kDtype>(from[2], from[3])};
    *reinterpret_cast<uint2*>(static_cast<char*>(o) + at * 2) = words;
  }
}

// Writes O and LSE of the lane's rows to memory; if the tile merges, combined with what is there: O = sum of
// softmax denominator shares times O_i (LongNet, arXiv 2307.02486, Eqs. 9-10), in log space.
template <Dtype kDtype, typename Shape>
__device__ __forceinline__ void write_rows(const ForwardParams& params, const ForwardShape& shape,
                                           const ForwardTile& tile, int first_row, int column_lane,
                                           const SoftmaxRows<Shape>& softmax,
                                           float (&o)[Shape::kRowsPerLane][4 * Shape::kQuads]) {
#pragma unroll
  for (int i = 0; i < Shape::kRowsPerLane; ++i) {
    const int row = first_row + row_offset(i);
    const float sum = across_columns(softmax.sum[i], [](float a, float b) { return a + b; });
    const bool inside = row < tile.query_count;
    const int position = tile.query_first + row * params.query_step;
    const long long head_row =
        (static_cast<long long>(tile.batch) * shape.sequence + position) * shape.heads + tile.head;
    float lse = sum > 0 ? fmaf(softmax.top[i], kLn2, logf(sum)) : -INFINITY;
    float share = sum > 0 ? 1 / sum : 0.0f, share_before = 0;
    if (tile.merge != 0) {
      const float lse_before = inside ? params.lse[head_row] : -INFINITY;
      const float most = fmaxf(lse, lse_before);
      const float origin = most == -INFINITY ? 0.0f : most;
      const float now = expf(lse - origin), before = expf(lse_before - origin);
      share *= now + before > 0 ? now / (now + before) : 0.0f;
      share_before = now + before > 0 ? before / (now + before) : 0.0f;
      lse = most == -INFINITY ? -INFINITY : most + logf(now + before);
      __syncwarp();  // all lanes of the row read the LSE before one writes it
    }
    if (!inside) continue;
    if (column_lane == 0) params.lse[head_row] = lse;
#pragma unroll
    for (int c = 0; c < Shape::kQuads; ++c) {
      const int column = (c * kColumnLanes + column_lane) * 4;
      if (column >= shape.head_dim) continue;
      const long long at = head_row * shape.head_dim + column;
      float out[4] = {o[i][4 * c] * share, o[i][4 * c + 1] * share, o[i][4 * c + 2] * share,
                      o[i][4 * c + 3] * share};
      if (share_before > 0) {
        float earlier[4];
        read_output<kDtype>(params.o, at, params.o_fp32 != 0, earlier);
#pragma unroll
        for (int x = 0; x < 4; ++x) out[x] = fmaf(earlier[x], share_before, out[x]);
      }
      write_output<kDtype>(params.o, at, params.o_fp32 != 0, out);
    }
  }
}

// The warp's rows of Q as floats, [kHeadDim][kWarpRows]; zeros past the last row and past head_dim. A lane
// reads along one row.
template <Dtype kDtype, typename Shape>
__device__ __forceinline__ void load_queries(const ForwardParams& params, const ForwardShape& shape,
                                             const ForwardTile& tile, int warp_row, int lane, float* q) {
  constexpr int kPerChunk = Storage<kDtype>::kPerChunk;
  constexpr int kRowThreads = kWarpLanes / Shape::kWarpRows;
  const int row = lane % Shape::kWarpRows;
  const bool inside = warp_row + row < tile.query_count;
  const int position = tile.query_first + (inside ? warp_row + row : 0) * params.query_step;
  const int slot = params.q_slots != nullptr ? params.q_slots[position] : position;
  const long long head_row =
      (static_cast<long long>(tile.batch) * shape.sequence + slot) * shape.heads + tile.head;
  const char* const from =
      static_cast<const char*>(params.q) + head_row * shape.head_dim * Storage<kDtype>::kBytes;
#pragma unroll 4
  for (int column = lane / Shape::kWarpRows * kPerChunk; column < Shape::kHeadDim;
       column += kRowThreads * kPerChunk) {
    uint4 chunk = make_uint4(0, 0, 0, 0);
    if (inside && column < shape.head_dim)
      chunk = __ldg(reinterpret_cast<const uint4*>(from + column * Storage<kDtype>::kBytes));
    float values[kPerChunk];
    unpack_chunk<kDtype>(chunk, values);
#pragma unroll
    for (int e = 0; e < kPerChunk; ++e) q[(column + e) * Shape::kWarpRows + row] = values[e];
  }
}

template <Dtype kDtype>
__device__ __forceinline__ HeadRows key_rows(const void* tensor, const ForwardParams& params,
                                             const ForwardShape& shape, const ForwardTile& tile) {
  const int stride_bytes = shape.kv_heads * shape.head_dim * Storage<kDtype>::kBytes;
  const char* base = static_cast<const char*>(tensor) +
                     static_cast<long long>(tile.batch) * params.kv_rows * stride_bytes +
                     static_cast<long long>(tile.kv_head) * shape.head_dim * Storage<kDtype>::kBytes;
  const std::int32_t* slots = params.key_slots != nullptr ? params.key_slots + tile.key_begin : nullptr;
  return {base, stride_bytes, slots, tile.key_slot, params.key_slot_step, tile.key_count};
}

template <Dtype kDtype, typename Shape>
__device__ __forceinline__ void compute_tile(const ForwardParams& params, const ForwardShape& shape,
                                             const ForwardTile& tile) {
  extern __shared__ float4 shared[];
  float* const q_rows = reinterpret_cast<float*>(shared);
  float* const k_rows = q_rows + Shape::kRows * Shape::kHeadDim;
  float* const v_rows = Shape::kTwoBuffers ? k_rows + Shape::kKeys * Shape::kRowStride : k_rows;
  float* const weight_rows = v_rows + Shape::kKeys * Shape::kRowStride;

  const int lane = threadIdx.x % kWarpLanes, warp = threadIdx.x / kWarpLanes;
  const int row_lane = row_lane_of(lane), column_lane = column_lane_of(lane);
  const int warp_row = warp * Shape::kWarpRows;
  const int first_row = warp_row + row_lane * 4;
  const bool warp_works = warp_row < tile.query_count;
  float* const q_warp = q_rows + warp_row * Shape::kHeadDim;
  float* const weights_warp = weight_rows + warp * Shape::kKeys * Shape::kWeightStride;
  const float* const k_lane = k_rows + column_lane * Shape::kRowStride;
  const float* const v_lane = v_rows + column_lane * 4;
  // If keys are visited by position, a block that begins past the warp's last query is skipped.
  const int last_query = tile.query_first + (warp_row + Shape::kWarpRows - 1) * params.query_step;

  float s[Shape::kRowsPerLane][Shape::kKeysPerLane];
  float o[Shape::kRowsPerLane][4 * Shape::kQuads];
#pragma unroll
  for (int i = 0; i < Shape::kRowsPerLane; ++i)
#pragma unroll
    for (int x = 0; x < 4 * Shape::kQuads; ++x) o[i][x] = 0;
  SoftmaxRows<Shape> softmax;
  softmax.clear();

  const HeadRows keys = key_rows<kDtype>(params.k, params, shape, tile);
  const HeadRows values = key_rows<kDtype>(params.v, params, shape, tile);
  const int blocks = (tile.key_count + Shape::kKeys - 1) / Shape::kKeys;
  BlockMover<kDtype, Shape> mover;
  if (blocks > 0) {
    mover.fetch(keys, shape.head_dim, tile.keys_backwards != 0 ? (blocks - 1) * Shape::kKeys : 0, k_rows);
    load_queries<kDtype, Shape>(params, shape, tile, warp_row, lane, q_warp);
    mover.deposit(k_rows);
  }
  for (int visit = 0; visit < blocks; ++visit) {
    const int first_key = (tile.keys_backwards != 0 ? blocks - 1 - visit : visit) * Shape::kKeys;
    const bool works = warp_works && (first_key < tile.unmasked || params.key_positions != nullptr ||
                                      tile.key_position + first_key * params.key_step <= last_query);
    __syncthreads();  // the block's keys are there; nobody reads the values before any more
    mover.fetch(values, shape.head_dim, first_key, v_rows);
    if (works) {
      multiply_keys<Shape>(q_warp + row_lane * 4, k_lane, s);
      if (first_key + Shape::kKeys > tile.unmasked)
        mask_scores<Shape>(params, tile, first_key, first_row, column_lane, s);
      softmax.update(params.scale * kLog2E, s, o);
      hand_over<Shape>(s, weights_warp + column_lane * Shape::kWeightStride + row_lane * 4);
    }
    if constexpr (!Shape::kTwoBuffers) __syncthreads();  // nobody reads the keys any more
    mover.deposit(v_rows);
    __syncthreads();  // values and weights are there; nobody reads the keys any more
    const bool another = visit + 1 < blocks;
    const int next_key = first_key + (tile.keys_backwards != 0 ? -Shape::kKeys : Shape::kKeys);
    if (another) mover.fetch(keys, shape.head_dim, next_key, k_rows);
    if (works) multiply_values<Shape>(weights_warp + row_lane * 4, v_lane, o);
    if constexpr (!Shape::kTwoBuffers) __syncthreads();  // nobody reads the values any more
    if (another) mover.deposit(k_rows);
  }
  if (warp_works) write_rows<kDtype, Shape>(params, shape, tile, first_row, column_lane, softmax, o);
}

// The most shared memory of a block on the devices that run code for `architecture` (610, 800...); that code
// leaves out shapes that need more.
__host__ __device__ constexpr int most_shared_bytes(int architecture) {
  return architecture < 800 ? 48 * 1024 : 227 * 1024;
}

// One tile per block, in the sequence of the tile list.
template <Dtype kDtype, typename Shape>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kBlocksPerSm)
    dilated_simt(const ForwardParams params, const ForwardShape shape) {
#ifdef __CUDA_ARCH__
  if constexpr (Shape::kSharedBytes <= most_shared_bytes(__CUDA_ARCH__))
    compute_tile<kDtype, Shape>(params, shape, params.tiles[blockIdx.x]);
#endif
}

// head_dim, rows and keys of a lane, warps, two buffers, blocks on a multiprocessor
using Small64 = TileShape<64, 8, 4, 2, true, 4>;
using Small128 = TileShape<128, 4, 4, 2, false, 2>;
using Large64 = TileShape<64, 8, 8, 4, true, 2>;
using Large128 = TileShape<128, 8, 4, 8, true, 1>;
using Large256 = TileShape<256, 4, 4, 4, true, 1>;

struct Instance {
  void (*kernel)(ForwardParams, ForwardShape) = nullptr;  // null: no shape fits
  int rows = 0;
  int threads = 0;
  int shared_bytes = 0;
};

template <Dtype kDtype, typename Shape>
Instance instance_of() {
  return {dilated_simt<kDtype, Shape>, Shape::kRows, Shape::kThreads, Shape::kSharedBytes};
}

// True if the current device can run the instance from the code that this build has for it. True for every
// instance if there is no device here (a plan for another machine). Creates no context.
bool runs_here(const Instance& instance) {
  int device = 0, optin_bytes = 0, major = 0;
  const cudaError_t found = cudaGetDevice(&device);
  if (found == cudaErrorInsufficientDriver || found == cudaErrorNoDevice) return true;
  HILBENCH_CUDA(found);
  HILBENCH_CUDA(cudaDeviceGetAttribute(&optin_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  HILBENCH_CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  return instance.shared_bytes <= optin_bytes && instance.shared_bytes <= most_shared_bytes(major * 100);
}

template <Dtype kDtype>
Instance choose_instance(int head_dim) {
  const Instance shapes_64[] = {instance_of<kDtype, Large64>(), instance_of<kDtype, Small64>()};
  const Instance shapes_128[] = {instance_of<kDtype, Large128>(), instance_of<kDtype, Small128>()};
  const Instance large_256 = instance_of<kDtype, Large256>();
  if (head_dim > 128) return runs_here(large_256) ? large_256 : Instance{};
  for (const Instance& instance : head_dim > 64 ? shapes_128 : shapes_64)
    if (runs_here(instance)) return instance;
  return {};
}

Instance choose_instance(const ForwardShape& shape) {
  if (shape.head_dim < 8 || shape.head_dim > 256 || shape.head_dim % 8 != 0) return {};
  switch (shape.dtype) {
    case Dtype::bf16:
      return choose_instance<Dtype::bf16>(shape.head_dim);
    case Dtype::fp16:
      return choose_instance<Dtype::fp16>(shape.head_dim);
    default:
      return choose_instance<Dtype::fp32>(shape.head_dim);
  }
}

class DilatedSimt : public ForwardKernel {
 public:
  DilatedSimt(const ForwardShape& shape, const Instance& instance) : shape_(shape), instance_(instance) {
    HILBENCH_CUDA(cudaFuncSetAttribute(instance_.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                       instance_.shared_bytes));
  }

  void launch(const ForwardParams& params, cudaStream_t stream) override {
    if (params.tile_count == 0) return;
    instance_.kernel<<<params.tile_count, instance_.threads, instance_.shared_bytes, stream>>>(params,
                                                                                               shape_);
    HILBENCH_CUDA(cudaGetLastError());
  }

 private:
  ForwardShape shape_;
  Instance instance_;
};

}  // namespace

// 0 if the current device has no instance for the shape.
std::int32_t dilated_simt_tile_rows(const ForwardShape& shape) {
  return choose_instance(shape).rows;
}

std::unique_ptr<ForwardKernel> make_dilated_simt(const ForwardShape& shape) {
  const Instance instance = choose_instance(shape);
  if (instance.kernel == nullptr)
    throw std::runtime_error("dilated_simt: head_dim " + std::to_string(shape.head_dim) +
                             " fits no tile of this device");
  return std::make_unique<DilatedSimt>(shape, instance);
}

}  // namespace hilbench::cuda
