// Vector types of the CPU kernels, and the size of the register tile for the target being compiled.
#if defined(HILBENCH_KERNELS_CPU_SIMD_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef HILBENCH_KERNELS_CPU_SIMD_INL_HPP_
#undef HILBENCH_KERNELS_CPU_SIMD_INL_HPP_
#else
#define HILBENCH_KERNELS_CPU_SIMD_INL_HPP_
#endif

#include <cstddef>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace hilbench {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Ints = hn::RebindToSigned<Floats>;
using Vector = hn::Vec<Floats>;
constexpr Floats kFloats;
constexpr std::size_t kLanes = hn::MaxLanes(kFloats);

// A register tile holds kTileRows x kTileVectors accumulators, kTileVectors operands and a broadcast: 24 of
// 32 registers, or 12 of 16.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
constexpr std::size_t kTileRows = 8;
#else
constexpr std::size_t kTileRows = 4;
#endif
constexpr std::size_t kTileVectors = 3;

}  // namespace HWY_NAMESPACE
}  // namespace hilbench
HWY_AFTER_NAMESPACE();

#endif
