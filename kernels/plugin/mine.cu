// Attention in CUDA: a block for each tile of queries, a warp for each query, with an online softmax (arXiv
// 1805.02867). K and V are read through `slots`, so every order runs the same code. head_dim is a multiple of
// 32 up to 256. Launches merge in fp32, in the workspace.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <vector>

#include "hilbench/kernel.h"

namespace {

constexpr int kWarps = 8, kTileRows = 64, kMostPerLane = 8;

struct Launch {
  int64_t first, count;  // tiles
};
struct State {
  const hilbench_case* work;
  std::vector<Launch> launches;
};

__device__ float widen(float x) {
  return x;
}
__device__ float widen(__nv_bfloat16 x) {
  return __bfloat162float(x);
}
__device__ float widen(__half x) {
  return __half2float(x);
}
__device__ void narrow(float x, float* to) {
  *to = x;
}
__device__ void narrow(float x, __nv_bfloat16* to) {
  *to = __float2bfloat16(x);
}
__device__ void narrow(float x, __half* to) {
  *to = __float2half(x);
}

struct Shape {
  int64_t length, heads, kv_heads, head_dim;
  float scale;
  bool causal;
};

template <class T>
__global__ void attend(Shape shape, const T* q, const T* k, const T* v, float* sums, float* lse,
                       const int32_t* slots, const hilbench_tile* tiles) {
  const hilbench_tile tile = tiles[blockIdx.x];
  const int lane = threadIdx.x % 32, per_lane = static_cast<int>(shape.head_dim / 32);
  for (int i = threadIdx.x / 32; i < tile.query_count; i += kWarps) {
    const int64_t position = tile.query + static_cast<int64_t>(i) * tile.query_step;
    const int64_t row = (tile.batch * shape.length + position) * shape.heads + tile.head;
    float x[kMostPerLane], sum[kMostPerLane] = {}, top = -INFINITY, total = 0;
    for (int e = 0; e < kMostPerLane; ++e)
      x[e] = e < per_lane ? widen(q[row * shape.head_dim + e * 32 + lane]) * shape.scale : 0;
    for (int j = 0; j < tile.key_count; ++j) {
      const int64_t at = tile.key + static_cast<int64_t>(j) * tile.key_step;
      if (shape.causal && at > position) break;
      const int64_t source = (tile.batch * shape.length + slots[at]) * shape.kv_heads + tile.kv_head;
      float score = 0;
#pragma unroll
      for (int e = 0; e < kMostPerLane; ++e)
        if (e < per_lane) score += x[e] * widen(k[source * shape.head_dim + e * 32 + lane]);
      for (int apart = 16; apart > 0; apart /= 2) score += __shfl_xor_sync(0xffffffffu, score, apart);
      const float most = fmaxf(top, score), shrink = expf(top - most), weight = expf(score - most);
      top = most;
      total = total * shrink + weight;
#pragma unroll
      for (int e = 0; e < kMostPerLane; ++e)
        if (e < per_lane)
          sum[e] = sum[e] * shrink + weight * widen(v[source * shape.head_dim + e * 32 + lane]);
    }
    if (total == 0) continue;
    const float mine = top + logf(total), before = lse[row], most = fmaxf(before, mine);
    const float kept = expf(before - most), share = expf(mine - most);
    __syncwarp();
    if (lane == 0) lse[row] = most + logf(kept + share);
#pragma unroll
    for (int e = 0; e < kMostPerLane; ++e)
      if (e < per_lane) {
        float* place = &sums[row * shape.head_dim + e * 32 + lane];
        *place = (kept * *place + share * sum[e] / total) / (kept + share);
      }
  }
}

__global__ void clear(float* sums, float* lse, int64_t rows, int64_t elements) {
  const int64_t stride = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x; i < elements; i += stride) {
    sums[i] = 0;
    if (i < rows) lse[i] = -INFINITY;
  }
}

template <class T>
__global__ void round_all(const float* sums, T* o, int64_t elements) {
  const int64_t stride = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x; i < elements; i += stride)
    narrow(sums[i], o + i);
}

const char* why_not(const hilbench_case* work) {
  return work->head_dim % 32 != 0 || work->head_dim > 256 ? "head_dim: a multiple of 32 up to 256" : nullptr;
}

int64_t workspace_bytes(const hilbench_case* work) {
  return work->batch * work->sequence_length * work->heads * work->head_dim *
         static_cast<int64_t>(sizeof(float));
}

int32_t prepare(const hilbench_case* work, const hilbench_tensors* t, void** kept) {
  auto* state = new State{work, {}};
  for (int64_t i = 0; i < t->tile_count; ++i) {
    if (i == 0 || t->host_tiles[i].launch != t->host_tiles[i - 1].launch) state->launches.push_back({i, 0});
    ++state->launches.back().count;
  }
  *kept = state;
  return 0;
}

template <class T>
int32_t launch_as(const State& state, const hilbench_tensors& t, cudaStream_t stream) {
  const hilbench_case& work = *state.work;
  const Shape shape{work.sequence_length, work.heads, work.kv_heads,
                    work.head_dim,        work.scale, work.causal != 0};
  const int64_t rows = work.batch * work.sequence_length * work.heads, elements = rows * work.head_dim;
  auto* sums = static_cast<float*>(t.workspace);
  clear<<<1024, 256, 0, stream>>>(sums, t.lse, rows, elements);
  for (const Launch& each : state.launches)
    attend<<<static_cast<unsigned>(each.count), kWarps * 32, 0, stream>>>(
        shape, static_cast<const T*>(t.q), static_cast<const T*>(t.k), static_cast<const T*>(t.v), sums,
        t.lse, t.slots, t.tiles + each.first);
  round_all<<<1024, 256, 0, stream>>>(sums, static_cast<T*>(t.o), elements);
  return cudaGetLastError();
}

int32_t launch(void* kept, const hilbench_tensors* t, void* stream) {
  const State& state = *static_cast<State*>(kept);
  auto* const on = static_cast<cudaStream_t>(stream);
  if (state.work->dtype == HILBENCH_FP32) return launch_as<float>(state, *t, on);
  if (state.work->dtype == HILBENCH_BF16) return launch_as<__nv_bfloat16>(state, *t, on);
  return launch_as<__half>(state, *t, on);
}

void release(void* kept) {
  delete static_cast<State*>(kept);
}

const char* error_text(int32_t status) {
  return cudaGetErrorString(static_cast<cudaError_t>(status));
}

}  // namespace

extern "C" const hilbench_kernel* hilbench_kernel_table(void) {
  static const hilbench_kernel table = {
      HILBENCH_KERNEL_INTERFACE, HILBENCH_ON_CUDA, kTileRows, "mine",  why_not,
      workspace_bytes,           prepare,          launch,    release, error_text};
  return &table;
}
