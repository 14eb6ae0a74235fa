#include "kernels/ring/ring_execution.hpp"

#include <gtest/gtest.h>

#include <mutex>

#include "kernels/cpu/dilated_cpu.hpp"
#include "kernels/ring/ring_index.hpp"
#include "kernels/ring/threads.hpp"
#include "tests/kernels/ring/ring_cases.hpp"
#include "tests/kernels/ring/run_ranks.hpp"

namespace hilbench {
namespace {

constexpr double kTimeoutS = 60;

// Rows `positions` of every batch entry of a tensor in position order, as a rank stores them.
Bytes rows_at(const std::vector<float>& tensor, const Case& work, std::int64_t heads,
              const std::vector<std::int32_t>& positions) {
  const std::int64_t row = heads * work.head_dim;
  std::vector<float> taken;
  for (std::int64_t b = 0; b < work.batch; ++b)
    for (const std::int32_t t : positions) {
      const auto first = tensor.begin() + (b * work.sequence_length + t) * row;
      taken.insert(taken.end(), first, first + row);
    }
  Bytes bytes =
      hwy::AllocateAligned<std::byte>(taken.size() * static_cast<std::size_t>(dtype_bytes(work.dtype)) + 1);
  narrow(work.dtype, taken, bytes.get());
  return bytes;
}

// What a rank's rows of O and LSE hold, at their positions in the whole.
void put_back(const Case& work, const Ring& ring, std::int64_t rank, const std::vector<float>& own,
              std::int64_t row, std::vector<float>& whole) {
  const std::int64_t rows = ring.shards().count(rank);
  for (std::int64_t b = 0; b < work.batch; ++b)
    for (std::int64_t i = 0; i < rows; ++i)
      std::copy_n(own.begin() + (b * rows + i) * row, row,
                  whole.begin() + (b * work.sequence_length + ring.shards().position(rank, i)) * row);
}

struct RingOutput {
  AttentionOutput output;
  double sent_bytes = 0;
};

RingOutput run_ring(const AttentionProblem& problem, const VariantSpec& spec, int threads) {
  const Case& work = problem.work;
  const Ring ring(work, spec);
  const auto transports = thread_transports(static_cast<int>(ring.ranks()), kTimeoutS);
  RingOutput result{{std::vector<float>(problem.q.size()),
                     std::vector<float>(problem.q.size() / static_cast<std::size_t>(work.head_dim))}};
  std::mutex mutex;
  expect_no_errors(run_ranks(static_cast<int>(ring.ranks()), [&](int rank) {
    Transport& transport = *transports[static_cast<std::size_t>(rank)];
    try {
      const std::vector<std::int32_t> keys = stored_kv_positions(ring, rank);
      const Bytes q = rows_at(problem.q, work, work.heads, stored_q_positions(ring, rank));
      const Bytes k = rows_at(problem.k, work, work.kv_heads, keys);
      const Bytes v = rows_at(problem.v, work, work.kv_heads, keys);
      const auto rows = static_cast<std::size_t>(ring.shards().count(rank) * work.batch * work.heads);
      const std::size_t elements = rows * static_cast<std::size_t>(work.head_dim);
      const auto device = cpu_ring_device(threads);
      RingExecution execution(ring, kDilatedCpu, *device, transport, threads);
      const RankBytes planned = ring.memory(rank);
      EXPECT_EQ(execution.buffer_bytes(), planned.buffers + planned.fp32_output);
      std::vector<float> o(elements), lse(rows);
      // Twice: what a run leaves behind must not change the next.
      for (int run = 0; run < 2; ++run) {
        const Bytes out = hwy::AllocateAligned<std::byte>(elements * sizeof(float) + 1);
        std::memset(out.get(), 0xff, elements * sizeof(float));
        std::fill(lse.begin(), lse.end(), std::numeric_limits<float>::quiet_NaN());
        execution.run({q.get(), k.get(), v.get(), out.get(), lse.data()});
        widen(work.dtype, out.get(), o);
      }
      EXPECT_EQ(static_cast<double>(transport.bytes_sent()), 2 * ring.sent_bytes(rank));
      const std::lock_guard lock(mutex);
      result.sent_bytes += static_cast<double>(transport.bytes_sent()) / 2;
      put_back(work, ring, rank, o, work.heads * work.head_dim, result.output.o);
      put_back(work, ring, rank, lse, work.heads, result.output.lse);
    } catch (const std::exception& error) {
      transport.abort(error.what());
      throw;
    }
  }));
  EXPECT_EQ(result.sent_bytes, ring.sent_bytes());
  return result;
}

class RingEqualsOneRank : public testing::TestWithParam<std::tuple<RingAlgorithm, Sharding>> {};

// Every ring size under both masks and in both dtypes, lengths odd and below the number of ranks, all other
// options at random.
TEST_P(RingEqualsOneRank, ForEverySizeMaskAndDtype) {
  const auto [algorithm, sharding] = GetParam();
  Random random(static_cast<std::uint64_t>(static_cast<int>(algorithm) * 10 + static_cast<int>(sharding)));
  for (const std::int64_t ranks : kRingSizes)
    for (const Mask mask : {Mask::full, Mask::causal})
      for (const Dtype dtype : {Dtype::fp32, Dtype::bf16})
        for (int i = 0; i < 4; ++i) {
          Case work = random_ring_case(random, ranks, 90);
          work.mask = mask;
          work.dtype = dtype;
          const VariantSpec spec = random_ring_variant(random, algorithm, sharding);
          SCOPED_TRACE(described(work, spec));
          const AttentionProblem problem(work, random);
          const ExpectedRows expected(problem, every_row(work));
          EXPECT_EQ(expected.mismatch(work, run_ring(problem, spec, 1 + i % 2).output), "");
          if (HasFailure()) return;
        }
}
INSTANTIATE_TEST_SUITE_P(All, RingEqualsOneRank,
                         testing::Combine(testing::ValuesIn(kRingAlgorithms), testing::ValuesIn(kShardings)));

// Several tiles and blocks of keys a piece, at the sizes of real tiles.
TEST(RingExecution, LongerSequencesEqualOneRank) {
  Random random(3);
  for (const RingAlgorithm algorithm : kRingAlgorithms)
    for (const Sharding sharding : kShardings)
      for (const Mask mask : {Mask::full, Mask::causal}) {
        const Case work{.sequence_length = 2111,
                        .pattern = {{700, 1}, {2111, 4}},
                        .heads = 4,
                        .kv_heads = 2,
                        .head_dim = 64,
                        .dtype = Dtype::bf16,
                        .mask = mask,
                        .ring_size = 3};
        VariantSpec spec{.kernel = "dilated_cpu"};
        spec.ring_algorithm = algorithm;
        spec.sharding = sharding;
        SCOPED_TRACE(described(work, spec));
        const AttentionProblem problem(work, random);
        const ExpectedRows expected(problem, sampled_rows(work, random, 40));
        EXPECT_EQ(expected.mismatch(work, run_ring(problem, spec, 1).output), "");
      }
}

TEST(HiddenShare, IsTheExchangeThatTookNoTime) {
  EXPECT_EQ(hidden_share(10, 4, 10), 1);
  EXPECT_EQ(hidden_share(10, 4, 14), 0);
  EXPECT_EQ(hidden_share(10, 4, 12), 0.5);
  EXPECT_EQ(hidden_share(10, 4, 9), 1);
  EXPECT_EQ(hidden_share(10, 4, 20), 0);
  EXPECT_EQ(hidden_share(10, 0, 10), 1);
}

}  // namespace
}  // namespace hilbench
