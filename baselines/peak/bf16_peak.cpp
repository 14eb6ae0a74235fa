#include "baselines/peak/bf16_peak.hpp"

#include <array>
#include <cstddef>

#if defined(__x86_64__)
#include <immintrin.h>

#include "kernels/cpu/amx_products.hpp"
#endif

namespace hilbench {
namespace {

// Iterations take 0.1 to 0.3 ms. There are enough sums to hide the latency of the instructions.
constexpr std::int64_t kVectorSums = 12, kVectorRounds = 50'000;
constexpr std::int64_t kTileSums = 6, kTileRounds = 3'125;
constexpr double kFlopsOfVector = 2 * 2 * 16;
constexpr double kFlopsOfTile = 2 * 16 * 16 * 32;

#if defined(__x86_64__)
constexpr std::uint32_t kOne = 0x3f80, kSmall = 0x3a83;  // bf16: 1, about 0.001

__attribute__((target("avx512f,avx512bf16"))) float multiply_vectors() {
  __m512 sums[kVectorSums];
  for (int i = 0; i < kVectorSums; ++i) sums[i] = _mm512_set1_ps(static_cast<float>(i));
  auto a = reinterpret_cast<__m512bh>(_mm512_set1_epi32(kOne << 16 | kOne));
  const auto b = reinterpret_cast<__m512bh>(_mm512_set1_epi32(kSmall << 16 | kOne));
  for (std::int64_t round = 0; round < kVectorRounds; ++round) {
#pragma GCC unroll 12
    for (int i = 0; i < kVectorSums; ++i) sums[i] = _mm512_dpbf16_ps(sums[i], a, b);
    asm volatile("" : "+v"(a));  // keeps the compiler from moving products out of the loop
  }
  __m512 sum = sums[0];
  for (int i = 1; i < kVectorSums; ++i) sum = _mm512_add_ps(sum, sums[i]);
  return _mm512_cvtss_f32(sum);
}

float multiply_tiles() {
  alignas(64) std::array<float, kAmxRows * kAmxWords> operand;
  operand.fill(0.999f);  // two bf16 whose sums stay finite
  AmxTiles tiles;
  tiles.load<0>(operand.data(), 64);
  tiles.load<1>(operand.data(), 64);
  tiles.load<2>(operand.data(), 64);
  tiles.load<3>(operand.data(), 64);
  tiles.load<4>(operand.data(), 64);
  tiles.load<5>(operand.data(), 64);
  tiles.load<6>(operand.data(), 64);
  tiles.load<7>(operand.data(), 64);
  for (std::int64_t round = 0; round < kTileRounds; ++round) {
    tiles.multiply_add<0, 6, 7>();
    tiles.multiply_add<1, 6, 7>();
    tiles.multiply_add<2, 6, 7>();
    tiles.multiply_add<3, 6, 7>();
    tiles.multiply_add<4, 6, 7>();
    tiles.multiply_add<5, 6, 7>();
  }
  tiles.store<0>(operand.data(), 64);
  return operand[0];
}
#else
float multiply_vectors() {
  return 0;
}
float multiply_tiles() {
  return 0;
}
#endif

}  // namespace

float run_bf16_products(Bf16Products products) {
  return products == Bf16Products::amx_bf16 ? multiply_tiles() : multiply_vectors();
}

double flops_of_bf16_products(Bf16Products products) {
  return products == Bf16Products::amx_bf16 ? kFlopsOfTile * kTileSums * kTileRounds
                                            : kFlopsOfVector * kVectorSums * kVectorRounds;
}

}  // namespace hilbench
