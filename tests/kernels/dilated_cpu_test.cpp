#include "kernels/cpu/dilated_cpu.hpp"

#include <gtest/gtest.h>
#include <hwy/aligned_allocator.h>
#include <hwy/targets.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "baselines/reference.hpp"
#include "harness/rounding.hpp"
#include "kernels/cpu/permute.hpp"
#include "kernels/orders/order.hpp"

namespace hilbench {
namespace {

using Random = std::mt19937_64;

std::int64_t between(Random& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}
template <class T>
T one_of(Random& random, std::initializer_list<T> choices) {
  return *(choices.begin() + between(random, 0, static_cast<std::int64_t>(choices.size()) - 1));
}

// Values of N(0, 1), rounded to dtype; one row in 16 is an outlier that takes scores to several hundred.
std::vector<float> random_tensor(Random& random, std::int64_t rows, std::int64_t head_dim, Dtype dtype) {
  std::normal_distribution<float> normal;
  std::vector<float> values;
  for (std::int64_t row = 0; row < rows; ++row) {
    const float scale = between(random, 0, 15) == 0 ? 15.0f : 1.0f;
    for (std::int64_t d = 0; d < head_dim; ++d)
      values.push_back(static_cast<float>(round_to(dtype, scale * normal(random))));
  }
  return values;
}

using Bytes = hwy::AlignedFreeUniquePtr<std::byte[]>;

Bytes stored(const std::vector<float>& values, const Case& work, std::int64_t heads,
             const std::vector<std::int32_t>& slots) {
  const std::size_t size = values.size() * static_cast<std::size_t>(dtype_bytes(work.dtype));
  Bytes bytes = hwy::AllocateAligned<std::byte>(size);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto bits = std::bit_cast<std::uint32_t>(values[i]);
    if (work.dtype == Dtype::fp32)
      std::memcpy(&bytes[4 * i], &bits, 4);
    else
      std::memcpy(&bytes[2 * i], reinterpret_cast<const char*>(&bits) + 2, 2);
  }
  if (slots.empty()) return bytes;
  Bytes moved = hwy::AllocateAligned<std::byte>(size);
  permute_rows(bytes.get(), moved.get(), work.batch, slots, heads * work.head_dim * dtype_bytes(work.dtype),
               1);
  return moved;
}

struct Output {
  std::vector<float> o, lse;
};

// A case with its inputs, and the kernel's output for any variant of it.
struct Problem {
  Case work;
  std::vector<float> q, k, v;

  Problem(const Case& a_case, Random& random) : work(a_case) {
    const std::int64_t positions = work.batch * work.sequence_length;
    q = random_tensor(random, positions * work.heads, work.head_dim, work.dtype);
    k = random_tensor(random, positions * work.kv_heads, work.head_dim, work.dtype);
    v = random_tensor(random, positions * work.kv_heads, work.head_dim, work.dtype);
  }

  Output run(const VariantSpec& spec, int threads) const {
    EXPECT_EQ(kDilatedCpu.unsupported(work, spec), std::nullopt);
    const Index index = build_index(work, spec, kDilatedCpu.tile_rows(work));
    const Bytes stored_q = stored(q, work, work.heads, index.q_slots);
    const Bytes stored_k = stored(k, work, work.kv_heads, index.k_slots);
    const Bytes stored_v = stored(v, work, work.kv_heads, index.k_slots);
    const std::size_t o_size = q.size() * static_cast<std::size_t>(dtype_bytes(work.dtype));
    const Bytes o = hwy::AllocateAligned<std::byte>(o_size);
    std::memset(o.get(), 0xff, o_size);  // NaN in either dtype
    Output output{std::vector<float>(q.size()),
                  std::vector<float>(q.size() / static_cast<std::size_t>(work.head_dim),
                                     std::numeric_limits<float>::quiet_NaN())};
    kDilatedCpu.prepare(work, spec, threads)
        ->run({stored_q.get(), stored_k.get(), stored_v.get(), o.get(), output.lse.data()}, index);
    for (std::size_t i = 0; i < output.o.size(); ++i) {
      std::uint32_t bits = 0;
      if (work.dtype == Dtype::fp32)
        std::memcpy(&bits, &o[4 * i], 4);
      else
        std::memcpy(reinterpret_cast<char*>(&bits) + 2, &o[2 * i], 2);
      output.o[i] = std::bit_cast<float>(bits);
    }
    return output;
  }
};

// Rows of the oracle and what a result may differ from them: twice the error of plain evaluation in the
// dtype, plus the dtype's resolution.
struct Expected {
  std::vector<RowId> ids;
  std::vector<ReferenceRow> rows;
  double o_tolerance = 0;
  double lse_tolerance = 0;

  Expected(const Problem& problem, std::vector<RowId> row_ids) : ids(std::move(row_ids)) {
    const ReferenceInputs inputs{problem.q, problem.k, problem.v};
    double o_error = 0, lse_error = 0, o_max = 0, lse_max = 0;
    for (const RowId& id : ids) {
      rows.push_back(reference_row(problem.work, inputs, id));
      if (std::isinf(rows.back().lse)) continue;
      const ReferenceRow plain = plain_row(problem.work, inputs, id);
      lse_error = std::max(lse_error, std::abs(plain.lse - rows.back().lse));
      lse_max = std::max(lse_max, std::abs(rows.back().lse));
      for (std::size_t d = 0; d < plain.o.size(); ++d) {
        o_error = std::max(o_error, std::abs(plain.o[d] - rows.back().o[d]));
        o_max = std::max(o_max, std::abs(rows.back().o[d]));
      }
    }
    o_tolerance = 2 * o_error + (problem.work.dtype == Dtype::fp32 ? 0x1p-23 : 0x1p-8) * o_max;
    lse_tolerance = 2 * lse_error + 0x1p-23 * lse_max;
  }

  // Empty, or the first row that differs.
  std::string mismatch(const Case& work, const Output& output) const {
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const std::int64_t place =
          (ids[i].batch * work.sequence_length + ids[i].position) * work.heads + ids[i].head;
      const std::string where = "batch " + std::to_string(ids[i].batch) + " position " +
                                std::to_string(ids[i].position) + " head " + std::to_string(ids[i].head);
      const double lse = output.lse[static_cast<std::size_t>(place)];
      const bool uncovered = std::isinf(rows[i].lse);
      if (uncovered ? lse != rows[i].lse : !(std::abs(lse - rows[i].lse) <= lse_tolerance))
        return where + ": LSE " + std::to_string(lse) + ", not " + std::to_string(rows[i].lse);
      for (std::size_t d = 0; d < rows[i].o.size(); ++d) {
        const double o = output.o[static_cast<std::size_t>(place * work.head_dim) + d];
        if (uncovered ? o != 0 : !(std::abs(o - rows[i].o[d]) <= o_tolerance))
          return where + ": O[" + std::to_string(d) + "] " + std::to_string(o) + ", not " +
                 std::to_string(rows[i].o[d]) + "; off by " + std::to_string(o - rows[i].o[d]) +
                 ", allowed " + std::to_string(o_tolerance);
      }
    }
    return {};
  }
};

std::vector<RowId> every_row(const Case& work) {
  std::vector<RowId> ids;
  for (std::int64_t b = 0; b < work.batch; ++b)
    for (std::int64_t t = 0; t < work.sequence_length; ++t)
      for (std::int64_t h = 0; h < work.heads; ++h) ids.push_back({b, h, t});
  return ids;
}

std::vector<RowId> sampled_rows(const Case& work, Random& random, int count) {
  std::vector<RowId> ids;
  for (int i = 0; i < count; ++i)
    ids.push_back({between(random, 0, work.batch - 1), between(random, 0, work.heads - 1),
                   between(random, 0, work.sequence_length - 1)});
  return ids;
}

Case random_case(Random& random) {
  Case work{.sequence_length =
                one_of(random, {between(random, 1, 40), between(random, 20, 150), between(random, 130, 400)}),
            .pattern = {},
            .batch = between(random, 1, 3),
            .heads = between(random, 1, 5),
            .head_dim = one_of<std::int64_t>(
                random, {16, 32, 64, 80, 128, between(random, 16, 100), between(random, 16, 256)}),
            .dtype = one_of(random, {Dtype::fp32, Dtype::fp32, Dtype::bf16}),
            .mask = one_of(random, {Mask::full, Mask::causal}),
            .queries = one_of(random, {Queries::dilated, Queries::dilated, Queries::dense}),
            .head_offset = one_of(random, {HeadOffset::modulo, HeadOffset::contiguous, HeadOffset::none}),
            .branch_heads = one_of(random, {BranchHeads::all, BranchHeads::all, BranchHeads::partition}),
            .device = DeviceKind::cpu};
  work.kv_heads = one_of(random, {work.heads, between(random, 1, work.heads)});
  for (std::int64_t branches = between(random, 1, 3); branches > 0; --branches) {
    const std::int64_t w =
        between(random, 1, one_of(random, {work.sequence_length, 2 * work.sequence_length}));
    work.pattern.push_back({w, one_of(random, {std::int64_t{1}, between(random, 1, w),
                                               std::min<std::int64_t>(w, between(random, 1, 8)), w})});
  }
  return work;
}

VariantSpec random_variant(Random& random) {
  VariantSpec spec{.kernel = "dilated_cpu"};
  spec.order = one_of<std::string>(random, {"linear", "snake", "morton", "gray", "hilbert", "moore",
                                            "residue", "bitrev_residue", "random"});
  spec.order_chunk = one_of<std::int64_t>(random, {0, 0, 16, 64});
  spec.order_tensors = one_of(random, {OrderTensors::kv, OrderTensors::qkv});
  spec.key_visit = one_of(random, {KeyVisit::position, KeyVisit::slot});
  spec.traversal = one_of<std::string>(
      random, {"head_major", "head_minor", "sawtooth", "grouped", "hilbert", "morton", "longest_first"});
  if (spec.traversal == "grouped") spec.traversal_param = between(random, 1, 5);
  return spec;
}

// Runs `check` once for every instruction set that this machine has and this build dispatches to.
template <class Check>
void on_every_target(const Check& check) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    check();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

class DilatedCpuProperty : public testing::TestWithParam<int> {};

// Fifty seeded cases a block.
TEST_P(DilatedCpuProperty, EqualsTheOracle) {
  for (int i = 0; i < 50; ++i) {
    const auto seed = static_cast<std::uint64_t>(GetParam() * 50 + i);
    Random random(seed);
    const Problem problem(random_case(random), random);
    const VariantSpec spec = random_variant(random);
    const int threads = static_cast<int>(between(random, 1, 3));
    const Expected expected(problem, every_row(problem.work));
    on_every_target([&] {
      EXPECT_EQ(expected.mismatch(problem.work, problem.run(spec, threads)), "")
          << "seed " << seed << ", " << case_id(problem.work) << ", " << spec.order << " " << spec.traversal
          << " " << threads << " threads";
    });
  }
}
INSTANTIATE_TEST_SUITE_P(Seeds, DilatedCpuProperty, testing::Range(0, 12));

}  // namespace
}  // namespace hilbench
