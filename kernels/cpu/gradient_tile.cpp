#include "kernels/cpu/gradient_tile.hpp"

// As in dilated_tile.cpp.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/gradient_tile.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/cpu/tile_gradients-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace hilbench {
namespace HWY_NAMESPACE {

void run_gradient_tile_here(const GradientTile& tile, float* workspace) {
#if HWY_ARCH_X86_64 && HWY_TARGET <= HWY_AVX3
  const Tile& forward = tile.forward;
  if (forward.dtype == Dtype::bf16 && forward.bf16_products == Bf16Products::avx512_bf16)
    return run_gradient_tile_with<VectorPairGradients>(tile, workspace);
  if (forward.dtype == Dtype::bf16 && forward.bf16_products == Bf16Products::amx_bf16)
    return run_gradient_tile_with<TilePairGradients<AmxTiles>>(tile, workspace);
#endif
  run_gradient_tile_with<SingleGradients>(tile, workspace);
}

template <class Element>
float delta_of_row(const Element* d_o, const Element* o, std::size_t count) {
  Vector sum = hn::Zero(kFloats);
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    sum = hn::MulAdd(load_floats(kFloats, d_o + i), load_floats(kFloats, o + i), sum);
  float rest = 0;
  for (; i < count; ++i) rest += to_float(d_o[i]) * to_float(o[i]);
  return hn::GetLane(hn::SumOfLanes(kFloats, sum)) + rest;
}

void compute_deltas_here(const DeltaRows& rows, std::int64_t first, std::int64_t count, float* to) {
  const auto width = static_cast<std::size_t>(rows.head_dim);
  for (std::int64_t row = first; row < first + count; ++row) {
    const std::int64_t slot = rows.slots.empty() ? row : rows.slots[static_cast<std::size_t>(row)];
    to[row * rows.to_stride] = rows.dtype == Dtype::fp32
                                   ? delta_of_row(row_of<float>(rows.d_o, slot, rows.stride),
                                                  row_of<float>(rows.o, row, rows.stride), width)
                                   : delta_of_row(row_of<std::uint16_t>(rows.d_o, slot, rows.stride),
                                                  row_of<std::uint16_t>(rows.o, row, rows.stride), width);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace hilbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hilbench {

HWY_EXPORT(run_gradient_tile_here);
HWY_EXPORT(compute_deltas_here);

std::int64_t gradient_workspace_floats(std::int64_t head_dim, std::int64_t tile_rows) {
  const GradientBuffers buffers(nullptr, static_cast<std::size_t>(head_dim),
                                static_cast<std::size_t>(tile_rows));
  return static_cast<std::int64_t>(buffers.floats);
}

void run_gradient_tile(const GradientTile& tile, float* workspace) {
  HWY_DYNAMIC_DISPATCH(run_gradient_tile_here)(tile, workspace);
}

void compute_deltas(const DeltaRows& rows, std::int64_t first, std::int64_t count, float* to) {
  HWY_DYNAMIC_DISPATCH(compute_deltas_here)(rows, first, count, to);
}

}  // namespace hilbench
#endif
