// Whole tiles of attention with emulated products of tile registers, so that processors without AMX test the
// rest of that path.
#include <gtest/gtest.h>
#include <hwy/aligned_allocator.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "kernels/base/files/float16.hpp"
#include "kernels/cpu/dilated_tile.hpp"
#include "kernels/cpu/gradient_tile.hpp"
#include "tests/kernels/cpu/emulated_tiles.hpp"
#include "tests/sanitized.hpp"

#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/kernels/cpu/tile_pairs_test.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/cpu/tile_gradients-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace hilbench {
namespace HWY_NAMESPACE {

// Does nothing if multiplies_pairs() is false.
void run_emulated_here([[maybe_unused]] const Tile& tile, [[maybe_unused]] float* workspace) {
#if HWY_ARCH_X86_64 && HWY_TARGET <= HWY_AVX3
  run_tile_with<TilePairs<EmulatedTiles>>(tile, workspace);
#endif
}

void run_emulated_gradients_here([[maybe_unused]] const GradientTile& tile,
                                 [[maybe_unused]] float* workspace) {
#if HWY_ARCH_X86_64 && HWY_TARGET <= HWY_AVX3
  run_gradient_tile_with<TilePairGradients<EmulatedTiles>>(tile, workspace);
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace hilbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hilbench {
namespace {

HWY_EXPORT(run_emulated_here);
HWY_EXPORT(run_emulated_gradients_here);

constexpr float kUntouched = -7;
constexpr double kTolerance = 0.02;  // of O, whose values are about 1: probabilities are rounded to bf16
constexpr double kLseTolerance = 1e-3;

hwy::AlignedFreeUniquePtr<float[]> workspace_of_nans(std::int64_t count) {
  const auto floats = static_cast<std::size_t>(count);
  auto memory = hwy::AllocateAligned<float>(floats);
  std::fill_n(memory.get(), floats, std::numeric_limits<float>::quiet_NaN());
  return memory;
}

// One head: `rows` queries from position `first_query` on, `keys` keys in a shuffled sequence.
struct TileProblem {
  std::int64_t head_dim, rows, keys;
  Mask mask;
  std::vector<std::uint16_t> q, k, v;
  std::vector<std::int32_t> slot, position;

  TileProblem(std::int64_t d, std::int64_t query_count, std::int64_t key_count, Mask the_mask,
              float steepness)
      : head_dim(d), rows(query_count), keys(key_count), mask(the_mask) {
    std::mt19937 random(static_cast<unsigned>(1000 * d + 10 * rows + keys));
    std::normal_distribution<float> normal;
    const auto fill = [&](std::vector<std::uint16_t>& tensor, std::int64_t count, float scale) {
      for (std::int64_t i = 0; i < count * d; ++i) tensor.push_back(bf16_bits(scale * normal(random)));
    };
    fill(q, rows, steepness);
    fill(k, keys, 1);
    fill(v, keys, 1);
    position.resize(static_cast<std::size_t>(keys));
    std::iota(position.begin(), position.end(), 0);
    std::ranges::shuffle(position, random);
    slot = position;
  }

  struct Result {
    std::vector<float> o, lse;
  };
  Tile tile(Result& result) const {
    result.o.assign(static_cast<std::size_t>(rows * head_dim), kUntouched);
    result.lse.assign(static_cast<std::size_t>(rows), kUntouched);
    Tile tile{.dtype = Dtype::bf16, .head_dim = head_dim, .q = q.data(), .k = k.data(), .v = v.data()};
    tile.q_stride = tile.kv_stride = head_dim;
    tile.queries = {0, 1, rows};
    tile.key_slot = slot;
    tile.key_position = position;
    tile.mask = mask;
    tile.o = result.o.data();
    tile.lse = result.lse.data();
    tile.lse_stride = 1;
    return tile;
  }
  hwy::AlignedFreeUniquePtr<float[]> workspace() const {
    return workspace_of_nans(tile_workspace_floats(head_dim, rows));
  }
  Result expected() const {
    Result result;
    run_tile(tile(result), workspace().get());
    return result;
  }
  Result emulated() const {
    Result result;
    HWY_DYNAMIC_DISPATCH(run_emulated_here)(tile(result), workspace().get());
    return result;
  }
};

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = a[i] == b[i] ? 0 : std::abs(double{a[i]} - b[i]);
    largest =
        std::isnan(difference) ? std::numeric_limits<double>::infinity() : std::max(largest, difference);
  }
  return largest;
}

void expect_agreement(const TileProblem& problem) {
  const TileProblem::Result expected = problem.expected();
  const TileProblem::Result emulated = problem.emulated();
  EXPECT_LT(largest_difference(emulated.o, expected.o), kTolerance)
      << problem.head_dim << " " << problem.rows << " " << problem.keys;
  EXPECT_LT(largest_difference(emulated.lse, expected.lse), kLseTolerance)
      << problem.head_dim << " " << problem.rows << " " << problem.keys;
}

float largest_of(const std::vector<float>& values) {
  float largest = 1e-3f;  // of one key dQ and dK are 0 but for rounding
  for (const float value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

enum class Gradients { all, of_queries, of_keys };

// The gradients of a problem; dO is Q from its end.
struct GradientsOfTile {
  std::vector<float> d_q, d_k, d_v;
  template <class Run>
  GradientsOfTile(const TileProblem& problem, Gradients wanted, const Run& run) {
    TileProblem::Result forward;
    GradientTile tile{.forward = problem.tile(forward)};
    run_tile(tile.forward, problem.workspace().get());
    std::vector<std::uint16_t> d_o(problem.q);
    std::ranges::reverse(d_o);
    std::vector<float> delta(static_cast<std::size_t>(problem.rows));
    for (std::size_t i = 0; i < d_o.size(); ++i)
      delta[i / static_cast<std::size_t>(problem.head_dim)] += bf16_value(d_o[i]) * forward.o[i];
    d_q.resize(problem.q.size());
    d_k.resize(problem.k.size());
    d_v.resize(problem.k.size());
    tile.d_o = d_o.data();
    tile.delta = delta.data();
    if (wanted != Gradients::of_keys) tile.d_q = d_q.data();
    if (wanted != Gradients::of_queries) tile.d_k = d_k.data(), tile.d_v = d_v.data();
    tile.keys = {0, problem.keys};
    run(tile, workspace_of_nans(gradient_workspace_floats(problem.head_dim, problem.rows)).get());
  }
};

void expect_equal_gradients(const TileProblem& problem, Gradients wanted) {
  const GradientsOfTile expected(problem, wanted, run_gradient_tile);
  const GradientsOfTile emulated(problem, wanted, [](const GradientTile& tile, float* workspace) {
    HWY_DYNAMIC_DISPATCH(run_emulated_gradients_here)(tile, workspace);
  });
  for (const auto of : {&GradientsOfTile::d_q, &GradientsOfTile::d_k, &GradientsOfTile::d_v})
    EXPECT_LT(largest_difference(emulated.*of, expected.*of), kTolerance * largest_of(expected.*of))
        << problem.head_dim << " " << problem.rows << " " << problem.keys;
}

class TilePairsTest : public testing::Test {
  void SetUp() override {
    if (!multiplies_pairs()) GTEST_SKIP() << "this processor has no 512-bit vectors";
  }
};

TEST_F(TilePairsTest, AgreeWithWidenedProducts) {
  for (const std::int64_t head_dim : {16, 40, 64, 128, 200})
    for (const std::int64_t rows : {1, 31, 33, 100})
      for (const std::int64_t keys : {1, 2, 31, 128, 161, 300})
        for (const Mask mask : {Mask::full, Mask::causal}) {
          if (kSanitized && (mask == Mask::causal) != (keys % 2 == 0)) continue;
          expect_agreement(TileProblem(head_dim, rows, keys, mask, 1));
        }
}

TEST_F(TilePairsTest, GradientsAgreeWithWidenedProducts) {
  for (const std::int64_t head_dim : {16, 40, 128, 200})
    for (const std::int64_t rows : {1, 33, 100})
      for (const std::int64_t keys : {1, 2, 63, 161})
        for (const Gradients wanted : {Gradients::all, Gradients::of_queries, Gradients::of_keys}) {
          if (kSanitized && (wanted == Gradients::all) != (keys % 2 == 0)) continue;
          expect_equal_gradients(TileProblem(head_dim, rows, keys, rows == 33 ? Mask::causal : Mask::full, 1),
                                 wanted);
        }
}

// Scores that exceed the maximum by less and by more than the slack.
TEST_F(TilePairsTest, AgreeWhereMaximaRise) {
  for (const float steepness : {2.0f, 8.0f, 30.0f})
    for (const Mask mask : {Mask::full, Mask::causal})
      expect_agreement(TileProblem(64, 70, 1000, mask, steepness));
}

}  // namespace
}  // namespace hilbench
#endif
