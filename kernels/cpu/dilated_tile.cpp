#include "kernels/cpu/dilated_tile.hpp"

#include <cstring>

// Vectors whose length is unknown at compile time cannot be elements of the register tile's array.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/dilated_tile.cpp"
#include "hwy/cache_control.h"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/cpu/tile_attention-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace hilbench {
namespace HWY_NAMESPACE {

void run_tile_here(const Tile& tile, float* workspace) {
#if HWY_ARCH_X86_64 && HWY_TARGET <= HWY_AVX3
  if (tile.dtype == Dtype::bf16 && tile.bf16_products == Bf16Products::avx512_bf16)
    return run_tile_with<VectorPairs>(tile, workspace);
  if (tile.dtype == Dtype::bf16 && tile.bf16_products == Bf16Products::amx_bf16)
    return run_tile_with<TilePairs<AmxTiles>>(tile, workspace);
#endif
  run_tile_with<Singles>(tile, workspace);
}

// `memory` and `bytes` are multiples of a cache line. Readers in other threads must wait for this thread.
void stream_zeros_here(std::byte* memory, std::size_t bytes) {
  auto* floats = reinterpret_cast<float*>(memory);
  for (std::size_t i = 0; i < bytes / sizeof(float); i += kLanes)
    hn::Stream(hn::Zero(kFloats), kFloats, floats + i);
}

std::int64_t target_here() {
  return HWY_TARGET;
}

void round_to_bf16_here(const float* from, std::uint16_t* to, std::int64_t count) {
  store_row(from, 1.0f, static_cast<std::size_t>(count), to);
}

}  // namespace HWY_NAMESPACE
}  // namespace hilbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hilbench {

HWY_EXPORT(run_tile_here);
HWY_EXPORT(round_to_bf16_here);
HWY_EXPORT(stream_zeros_here);
HWY_EXPORT(target_here);

std::int64_t tile_workspace_floats(std::int64_t head_dim, std::int64_t tile_rows) {
  const TileBuffers buffers(nullptr, static_cast<std::size_t>(head_dim), static_cast<std::size_t>(tile_rows));
  return static_cast<std::int64_t>(buffers.floats);
}

void run_tile(const Tile& tile, float* workspace) {
  HWY_DYNAMIC_DISPATCH(run_tile_here)(tile, workspace);
}

std::string_view vector_instructions() {
  return hwy::TargetName(HWY_DYNAMIC_DISPATCH(target_here)());
}

bool multiplies_pairs() {
  return HWY_ARCH_X86_64 && HWY_DYNAMIC_DISPATCH(target_here)() <= HWY_AVX3;
}

void clear(std::byte* memory, std::size_t bytes, Clearing clearing) {
  const bool whole_lines = (reinterpret_cast<std::uintptr_t>(memory) | bytes) % kLineBytes == 0;
  if (clearing == Clearing::past_caches && whole_lines)
    HWY_DYNAMIC_DISPATCH(stream_zeros_here)(memory, bytes);
  else
    std::memset(memory, 0, bytes);
}

void finish_clearing(Clearing clearing) {
  if (clearing == Clearing::past_caches) hwy::FlushStream();
}

void round_to_bf16(const float* from, std::uint16_t* to, std::int64_t count) {
  HWY_DYNAMIC_DISPATCH(round_to_bf16_here)(from, to, count);
}

}  // namespace hilbench
#endif
