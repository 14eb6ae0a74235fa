#include "kernels/ring/launch_copies.hpp"

#include <gtest/gtest.h>

#include "kernels/ring/shard_chunks.hpp"
#include "kernels/ring/transport/threads.hpp"
#include "tests/kernels/ring/ring_cases.hpp"
#include "tests/kernels/ring/walk_emulation.hpp"
#include "tests/sanitized.hpp"

namespace hilbench {
namespace {

constexpr std::int32_t kHeadBytes = 32;

// Received shards of one rank, and what they are read from.
struct TestedShards {
  TestedShards(Random& random, std::vector<std::int32_t> hops) {
    const auto heads = static_cast<std::int32_t>(between(random, 1, 4));
    copies.source_count = static_cast<std::int32_t>(hops.size());
    copies.batch = static_cast<std::int32_t>(between(random, 1, 2));
    copies.kv_heads = heads;
    copies.chunk_heads = static_cast<std::int32_t>(between(random, 1, heads));
    copies.head_chunks = (heads + copies.chunk_heads - 1) / copies.chunk_heads;
    copies.head_bytes = kHeadBytes;
    copies.copiers = static_cast<std::uint32_t>(between(random, 1, 5));
    const std::int64_t row = heads * kHeadBytes, room = 40;
    copies.batch_step = room * row;
    const auto bytes = static_cast<std::size_t>(copies.batch * copies.batch_step);
    shown.resize(hops.size());
    arrived.resize(hops.size());
    counts.resize(hops.size() * static_cast<std::size_t>(chunk_count(copies)) + 1);
    for (std::vector<std::byte>* received : {&received_k, &received_v})
      received->assign(hops.size() * bytes, std::byte{0xee});
    for (std::size_t s = 0; s < hops.size(); ++s) {
      const std::byte* const k = from.emplace_back(bytes).data();
      const std::byte* const v = from.emplace_back(bytes).data();
      const auto rows = static_cast<std::int32_t>(between(random, 1, room));
      sources.push_back({k, v, rows * row, &shown[s], rows, hops[s]});
    }
    copies.sources = sources.data();
    copies.k = received_k.data();
    copies.v = received_v.data();
    copies.arrived = arrived.data();
    copies.counts = counts.data();
    copies.read = &told;
    copies.read_count = 1;
    copies.waits = {1'000'000'000, &ended, gave_up};
  }

  // As if `executions` had been before.
  void start_at(std::uint32_t executions) {
    copies.execution = executions;
    for (std::uint32_t& word : arrived) word = executions * static_cast<std::uint32_t>(chunk_count(copies));
    for (std::uint32_t& word : counts) word = executions * copies.copiers;
    shown = arrived;
    for (std::size_t s = 0; s < sources.size(); ++s)
      if (sources[s].hop == 0) shown[s] = executions;
    read = executions;
  }

  void fill(Random& random) {
    for (std::vector<std::byte>& tensor : from)
      for (std::byte& byte : tensor) byte = static_cast<std::byte>(between(random, 0, 200));
  }

  void expect_received() const {
    for (std::size_t s = 0; s < sources.size(); ++s)
      for (std::int32_t entry = 0; entry < copies.batch; ++entry) {
        const ShardSource& source = sources[s];
        const auto bytes = static_cast<std::size_t>(source.batch_step);
        const auto at = static_cast<std::size_t>((static_cast<std::int64_t>(s) * copies.batch + entry) *
                                                 copies.batch_step);
        const auto begin = static_cast<std::size_t>(entry * source.batch_step);
        EXPECT_EQ(std::memcmp(&received_k[at], source.k + begin, bytes), 0) << "K of source " << s;
        EXPECT_EQ(std::memcmp(&received_v[at], source.v + begin, bytes), 0) << "V of source " << s;
        for (std::size_t i = at + bytes; i < at + static_cast<std::size_t>(copies.batch_step); ++i)
          ASSERT_EQ(received_k[i], std::byte{0xee}) << "past the rows of source " << s;
      }
  }

  ShardCopies copies;
  std::vector<ShardSource> sources;
  std::vector<std::vector<std::byte>> from;
  std::vector<std::byte> received_k, received_v;
  std::vector<std::uint32_t> shown, arrived, counts;
  std::uint32_t read = 0, ended = 0, gave_up[2] = {};
  std::uint32_t* told = &read;
};

std::vector<std::int32_t> random_hops(Random& random, bool passes_on) {
  std::vector<std::int32_t> hops(static_cast<std::size_t>(between(random, 1, 4)), 0);
  if (passes_on)
    for (std::size_t s = 1; s < hops.size(); ++s)
      hops[s] = hops[s - 1] + static_cast<std::int32_t>(between(random, 1, 2));
  return hops;
}

// Any number of copiers, chunks and sources; executions around the largest number too.
TEST(CopyShards, BringEveryWordOfEveryExecution) {
  Random random(3);
  for (int i = 0; i < (kSanitized ? 20 : 100); ++i) {
    TestedShards shards(random, random_hops(random, i % 2 == 0));
    shards.start_at(one_of<std::uint32_t>(random, {0, 0xfffffffe}));
    const auto chunks = static_cast<std::uint32_t>(chunk_count(shards.copies));
    for (int execution = 0; execution < 3; ++execution) {
      const std::uint32_t number = ++shards.copies.execution, before = arrived_before(shards.copies);
      shards.fill(random);
      for (const std::uint32_t arrived : shards.arrived) EXPECT_EQ(arrived, before);
      std::jthread shows([&] {
        for (std::size_t s = 0; s < shards.sources.size(); ++s)
          HostThread().store(&shards.shown[s], shards.sources[s].hop == 0 ? number : before + chunks);
      });
      { const EmulatedCopiers copiers(shards.copies); }
      for (const std::uint32_t arrived : shards.arrived) EXPECT_EQ(arrived, before + chunks);
      EXPECT_EQ(shards.read, number);
      EXPECT_EQ(shards.gave_up[kMissedKeys], 0u);
      shards.expect_received();
      if (HasFailure()) return;
    }
  }
}

// The sequence in which a copier comes to the chunks: what was passed on h times in the h-th round after its
// chunk, so that the rank before this one comes to it in an earlier round.
TEST(CopyShards, ComeToWhatIsPassedOnOneRoundLater) {
  struct Recorder : HostCopier {
    std::vector<const std::uint32_t*> counted;
    bool is_last(std::uint32_t* word, std::uint32_t needed) {
      counted.push_back(word);
      return HostCopier::is_last(word, needed);
    }
  };
  Random random(5);
  for (int i = 0; i < 30; ++i) {
    TestedShards shards(random, random_hops(random, i % 2 == 0));
    shards.copies.copiers = 1;
    shards.copies.execution = 1;
    const std::int32_t chunks = chunk_count(shards.copies);
    for (std::size_t s = 0; s < shards.sources.size(); ++s)
      shards.shown[s] = shards.sources[s].hop == 0 ? 1 : static_cast<std::uint32_t>(chunks);
    Recorder by;
    copy_shards(shards.copies, 0, by);
    ASSERT_EQ(by.counted.size(), shards.counts.size());
    std::pair<std::int64_t, std::int64_t> before{-1, 0};
    for (std::size_t n = 0; n + 1 < by.counted.size(); ++n) {
      const std::int64_t number = by.counted[n] - shards.counts.data();
      const std::int64_t source = number / chunks, chunk = number % chunks;
      const std::pair now{chunk + shards.sources[static_cast<std::size_t>(source)].hop, source};
      EXPECT_LT(before, now) << "chunk " << chunk << " of source " << source;
      before = now;
    }
  }
}

// What never comes ends all copiers; a chunk of which some part is missing does not arrive, and the rank that
// is read from need not wait.
TEST(CopyShards, EndIfAChunkNeverComes) {
  Random random(8);
  for (const bool ended : {false, true}) {
    TestedShards shards(random, {0, 1});
    shards.copies.copiers = 3;
    shards.copies.execution = 1;
    shards.copies.waits.patience_ns = ended ? 300'000'000'000 : 50'000'000;
    shards.shown = {1, 0};  // the second source shows no chunk
    std::jthread ends([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      if (ended) HostThread().store(&shards.ended, 1);
    });
    { const EmulatedCopiers copiers(shards.copies); }
    EXPECT_EQ(shards.gave_up[kMissedKeys], 2u);
    EXPECT_EQ(shards.arrived[1], 0u);
    EXPECT_EQ(shards.read, 1u);
  }
}

// A rank writes to its rows as soon as its stream has passed end(). Every other rank has the rows of before.
class LaunchCopiesOfRanks : public testing::TestWithParam<RingAlgorithm> {};
TEST_P(LaunchCopiesOfRanks, LetRowsChangeOnlyAfterAllHaveRead) {
  constexpr int kRanks = 4, kExecutions = kSanitized ? 4 : 20;
  const Case work{.sequence_length = 61,
                  .pattern = {{61, 1}},
                  .heads = 3,
                  .kv_heads = 3,
                  .head_dim = 16,
                  .dtype = Dtype::bf16,
                  .ring_size = kRanks};
  Variant variant{.kernel = "dilated_cpu"};
  variant.ring_algorithm = GetParam();
  variant.ring_launch = RingLaunch::persistent;
  const Ring ring(work, variant);
  const ShardChunks chunks = shard_chunks(ring, ChunkShape::heads, {.least_line_bytes = 1, .least_bytes = 1});
  const auto ends = thread_transports(kRanks, 60);
  expect_no_errors(run_ranks(kRanks, [&](int rank) {
    Transport& transport = *ends[static_cast<std::size_t>(rank)];
    const auto memory = cpu_ring_device(1);
    StreamedDevice device(*memory);
    const std::size_t row = 3 * 16 * 2, buffers = ring.buffer_rows(rank).size();
    const std::size_t room = static_cast<std::size_t>(ring.longest_sent_rows()) * row;
    std::vector<std::byte> k(static_cast<std::size_t>(ring.kv_rows(rank)) * row), v(k.size());
    std::vector<std::byte> received_k(buffers * room), received_v(received_k.size());
    std::vector<std::uint32_t> arrived(buffers, 0);
    const auto gave_up = device.host_words(2);
    LaunchCopies copies(ring, chunks, device, transport, gave_up.get());
    for (int execution = 1; execution <= kExecutions; ++execution) {
      const auto value = [&](std::int64_t of) { return static_cast<std::byte>(of * 50 + execution); };
      std::fill(k.begin(), k.end(), value(rank));
      std::fill(v.begin(), v.end(), value(rank));
      const ShardCopies made =
          copies.begin({k.data(), v.data(), received_k.data(), received_v.data(), arrived.data()});
      transport.access([&] { device.copy_shards(made); });
      copies.end();
      device.synchronize();
      std::fill(k.begin(), k.end(), std::byte{0xff});
      std::fill(v.begin(), v.end(), std::byte{0xff});
      for (const RingStep& step : ring.steps(rank))
        for (const ShardMove& receive : step.receives) {
          const auto at = static_cast<std::size_t>(receive.buffer) * room;
          const std::size_t bytes = static_cast<std::size_t>(ring.sent_rows(receive.source)) * row;
          for (const auto* received : {&received_k, &received_v})
            EXPECT_EQ(std::count(received->begin() + static_cast<std::ptrdiff_t>(at),
                                 received->begin() + static_cast<std::ptrdiff_t>(at + bytes),
                                 value(receive.source)),
                      static_cast<std::ptrdiff_t>(bytes))
                << "rank " << rank << " of rank " << receive.source << " in execution " << execution;
        }
    }
    EXPECT_EQ(gave_up.get()[kMissedKeys], 0u);
    EXPECT_EQ(static_cast<double>(transport.bytes_sent()), kExecutions * ring.sent_bytes(rank));
  }));
}
INSTANTIATE_TEST_SUITE_P(Algorithms, LaunchCopiesOfRanks,
                         testing::Values(RingAlgorithm::ring, RingAlgorithm::allgather));

TEST(CopiesInLaunch, NeedRanksThatRunTogetherToPassShardsOn) {
  const Case work{.sequence_length = 64, .pattern = {{64, 1}}, .heads = 1, .kv_heads = 1, .ring_size = 4};
  Variant variant{.kernel = "dilated_cpu"};
  variant.ring_launch = RingLaunch::persistent;
  for (const RingAlgorithm algorithm : {RingAlgorithm::ring, RingAlgorithm::allgather}) {
    variant.ring_algorithm = algorithm;
    const Ring ring(work, variant);
    EXPECT_TRUE(copies_in_launch(ring, Transport::Reach::running));
    EXPECT_EQ(copies_in_launch(ring, Transport::Reach::mapped), algorithm == RingAlgorithm::allgather);
    EXPECT_FALSE(copies_in_launch(ring, Transport::Reach::none));
  }
}

}  // namespace
}  // namespace hilbench
