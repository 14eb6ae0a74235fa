#include "kernels/ring/ring.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "baselines/reference.hpp"
#include "kernels/case/pattern.hpp"
#include "kernels/ring/piece_work.hpp"
#include "kernels/ring/ring_index.hpp"
#include "tests/kernels/ring/ring_cases.hpp"
#include "tests/kernels/ring/ring_variants.hpp"

namespace hilbench {
namespace {

// Follows step by step what each rank has in each buffer: sends and receives match, only data that are there
// are sent and computed with, and nothing is received into a buffer that is being read.
void expect_sound_schedule(const Ring& ring) {
  if (ring.splits_heads()) return;  // it passes no shards on
  std::map<std::pair<std::int64_t, int>, std::int64_t> held;
  std::map<std::pair<std::int64_t, int>, Span> partly;  // rows that have arrived of a shard
  std::vector<std::vector<RingStep>> steps;
  for (std::int64_t rank = 0; rank < ring.ranks(); ++rank) steps.push_back(ring.steps(rank));
  const auto has = [&](std::int64_t rank, int buffer, std::int64_t source) {
    if (buffer == kOwnRows) return source == rank;
    const auto at = held.find({rank, buffer});
    return at != held.end() && at->second == source;
  };
  for (std::size_t s = 0; s < steps[0].size(); ++s) {
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::pair<std::int64_t, std::int64_t>>> sent,
        expected;  // shards and their parts
    std::map<std::pair<std::int64_t, int>, std::int64_t> arriving;
    for (std::int64_t rank = 0; rank < ring.ranks(); ++rank) {
      ASSERT_EQ(steps[static_cast<std::size_t>(rank)].size(), steps[0].size());
      const RingStep& step = steps[static_cast<std::size_t>(rank)][s];
      std::set<int> read;
      for (const ShardMove& move : step.sends) {
        EXPECT_TRUE(has(rank, move.buffer, move.source));
        EXPECT_GT(ring.sent_rows(move.source), 0);
        read.insert(move.buffer);
        sent[{rank, move.peer}].emplace_back(move.source, move.part);
      }
      for (const RingStep::Source& source : step.sources) {
        EXPECT_TRUE(has(rank, source.buffer, source.rank));
        read.insert(source.buffer);
      }
      for (const ShardMove& move : step.receives) {
        EXPECT_FALSE(read.contains(move.buffer));
        EXPECT_LE(ring.sent_rows(move.source), ring.buffer_rows(rank)[static_cast<std::size_t>(move.buffer)]);
        expected[{move.peer, rank}].emplace_back(move.source, move.part);
        Span& rows = partly[{rank, move.buffer}];
        if (move.part == 0) rows = {};
        EXPECT_EQ(ring.moved_rows(move).begin, rows.end) << "one part after another";
        rows.end = ring.moved_rows(move).end;
        held.erase({rank, move.buffer});
        if (move.part + 1 < move.parts) continue;
        EXPECT_EQ(rows.end, ring.work().batch * ring.sent_rows(move.source));
        EXPECT_TRUE((arriving.emplace(std::pair{rank, move.buffer}, move.source).second));
      }
    }
    EXPECT_EQ(sent, expected);
    for (const auto& [place, source] : arriving) held[place] = source;
  }
}

// Which ranks see keys of which others, and which keys others see, found from every pair.
struct LookedAt {
  std::set<std::pair<std::int64_t, std::int64_t>> sees;
  std::map<std::pair<std::int64_t, std::int64_t>, std::set<std::int64_t>> needed;  // (K/V head, source)
};
LookedAt look(const Ring& ring) {
  const Case& work = ring.work();
  LookedAt seen;
  for (std::int64_t head = 0; head < work.heads; ++head)
    for (std::int64_t b = 0; b < std::ssize(work.pattern); ++b) {
      if (!head_runs_branch(work, head, b)) continue;
      for (std::int64_t query = 0; query < work.sequence_length; ++query)
        for (const std::int64_t key : visible_keys(work, head, b, query)) {
          const std::int64_t rank = ring.shards().owner(query), source = ring.shards().owner(key);
          if (rank == source) continue;
          seen.sees.insert({rank, source});
          seen.needed[{kv_head_of(work, head), source}].insert(key);
        }
    }
  return seen;
}

class RingProperty : public testing::TestWithParam<int> {};

TEST_P(RingProperty, GeometryIsWhatEveryPairSays) {
  Random random(static_cast<std::uint64_t>(GetParam()));
  for (int i = 0; i < 400; ++i) {
    const std::int64_t ranks = kRingSizes[static_cast<std::size_t>(between(random, 0, 5))];
    const RingAlgorithm algorithm =
        kRingAlgorithms[static_cast<std::size_t>(between(random, 0, std::ssize(kRingAlgorithms) - 1))];
    const Case work = random_ring_case(random, ranks, 45, algorithm);
    const Variant variant = random_ring_variant(
        random, ranks, algorithm,
        one_of(random, {Sharding::automatic, Sharding::contiguous, Sharding::zigzag, Sharding::striped}));
    SCOPED_TRACE(described(work, variant));
    ASSERT_EQ(why_not_ring(work, variant), std::nullopt);
    const Ring ring(work, variant);
    expect_sound_schedule(ring);
    LookedAt looked = look(ring);
    const RingNeeds needs(work, ring.shards(), ring.classes());
    EXPECT_EQ(needs.any(), !looked.sees.empty());
    for (std::int64_t source = 0; source < ranks; ++source) {
      for (std::int64_t rank = 0; rank < ranks; ++rank)
        if (rank != source) {
          EXPECT_EQ(needs.sees(rank, source), looked.sees.contains({rank, source})) << rank << source;
        }
      if (ring.global_order()) continue;
      const PackedShard packed = packed_shard(ring, source);
      EXPECT_EQ(packed.rows, needs.packed_rows(source));
      const std::vector<std::int32_t> stored = stored_kv_positions(ring, source);
      for (std::int64_t head = 0; head < work.kv_heads; ++head) {
        std::set<std::int64_t> taken;
        for (const std::int32_t slot :
             packed.slots[static_cast<std::size_t>(packed.class_of_head[static_cast<std::size_t>(head)])])
          taken.insert(stored[static_cast<std::size_t>(slot)]);
        EXPECT_EQ(taken, (looked.needed[{head, source}])) << "head " << head << " of rank " << source;
      }
    }
    if (HasFailure()) return;
  }
}
INSTANTIATE_TEST_SUITE_P(Seeds, RingProperty, testing::Range(0, 5));

// The parts of a transfer between groups are as many as the steps of a round, and differ by a row at most.
TEST(RingSteps, TransfersBetweenGroupsTakeAllStepsOfARound) {
  const Case work{.sequence_length = 8 * 11, .pattern = {{8 * 11, 1}}, .kv_heads = 8, .ring_size = 8};
  const Ring ring(work, grouped(RingAlgorithm::hierarchical, 2));
  const std::vector<RingStep> steps = ring.steps(1);
  ASSERT_EQ(steps.size(), 8u);
  for (std::size_t s = 0; s < 8; ++s) {
    std::vector<ShardMove> outside;
    for (const ShardMove& move : steps[s].sends)
      if (ring.between_groups(1, move.peer)) outside.push_back(move);
    ASSERT_EQ(outside.size(), s < 4 ? 1u : 0u);
    if (outside.empty()) continue;
    EXPECT_EQ(outside[0].peer, 5);
    EXPECT_EQ(outside[0].source, 1);
    const Span rows = ring.moved_rows(outside[0]);
    EXPECT_EQ(rows.end - rows.begin, s < 3 ? 3 : 2);
  }
}

// Ranks that send to all others do so in turn: no two send to the same rank at a time.
TEST(RingSteps, AllSendInTurn) {
  for (const RingAlgorithm algorithm :
       {RingAlgorithm::allgather, RingAlgorithm::allgather_packed, RingAlgorithm::ulysses})
    for (const std::int64_t ranks : {2, 4, 5}) {
      const Case work{.sequence_length = 20 * ranks,
                      .pattern = {{20 * ranks, 1}},
                      .heads = 20,
                      .kv_heads = 20,
                      .ring_size = ranks};
      Variant variant{KernelChoice{.name = "dilated_cpu"}};
      variant.ring.algorithm = algorithm;
      const Ring ring(work, variant);
      for (std::size_t s = 0; s < ring.steps(0).size(); ++s)
        for (std::size_t number = 0; number < ring.steps(0)[s].sends.size(); ++number) {
          std::set<std::int64_t> receivers;
          for (std::int64_t rank = 0; rank < ranks; ++rank)
            receivers.insert(ring.steps(rank)[s].sends.at(number).peer);
          EXPECT_EQ(std::ssize(receivers), ranks) << "send " << number << " of step " << s;
        }
    }
}

// auto is zigzag if a causal ring exchanges keys; nothing that is balanced already pays for it.
TEST(Sharding, AutoIsZigzagWhereItBalances) {
  Case work{.sequence_length = 4096,
            .pattern = {{4096, 1}},
            .heads = 8,
            .kv_heads = 8,
            .mask = Mask::causal,
            .ring_size = 4};
  const auto chosen = [&](RingAlgorithm algorithm, auto... option) {
    Variant variant = variant_of(algorithm, Sharding::automatic);
    (option(variant), ...);
    return Ring(work, variant).shards().sharding();
  };
  const auto global = [](Variant& variant) { variant.ring.order_span = OrderSpan::global; };
  for (const RingAlgorithm algorithm :
       {RingAlgorithm::automatic, RingAlgorithm::ring, RingAlgorithm::allgather, RingAlgorithm::ring_packed,
        RingAlgorithm::allgather_packed})
    EXPECT_EQ(chosen(algorithm), Sharding::zigzag);
  EXPECT_EQ(chosen(RingAlgorithm::ulysses), Sharding::contiguous);
  EXPECT_EQ(chosen(RingAlgorithm::allgather_packed,
                   [](Variant& variant) { variant.choice = BaselineName{"rival"}; }),
            Sharding::contiguous);
  work.pattern = {{1024, 1}};
  EXPECT_EQ(chosen(RingAlgorithm::ring), Sharding::contiguous) << "local, and balanced";
  EXPECT_EQ(Ring(work, variant_of(RingAlgorithm::ring, Sharding::automatic)).algorithm(),
            RingAlgorithm::local);
  EXPECT_EQ(chosen(RingAlgorithm::ring, global), Sharding::zigzag) << "any key may be anywhere";
  work.pattern = {{1024, 1}, {2048, 2}};
  EXPECT_EQ(chosen(RingAlgorithm::ring), Sharding::zigzag);
  work.mask = Mask::full;
  EXPECT_EQ(chosen(RingAlgorithm::ring), Sharding::contiguous);
}

// In zigzag every rank has as many pairs to compute in each step as every other; in contiguous shards the
// last rank has p times as many as the first over all steps.
TEST(RingSteps, ZigzagBalancesEveryStepOfACausalRing) {
  const Case work{.sequence_length = 8 * 512,
                  .pattern = {{8 * 512, 1}},
                  .heads = 1,
                  .kv_heads = 1,
                  .mask = Mask::causal,
                  .ring_size = 8};
  const Ring zigzag(work, variant_of(RingAlgorithm::ring, Sharding::automatic));
  const std::vector<PieceWork> works = piece_works(zigzag);
  const auto pairs = [&](std::int64_t rank, std::int64_t step) {
    return works[static_cast<std::size_t>(rank * 8 + (rank - step + 8) % 8)].pairs;
  };
  for (std::int64_t step = 0; step < 8; ++step)
    for (std::int64_t rank = 1; rank < 8; ++rank) EXPECT_EQ(pairs(rank, step), pairs(0, step));
  EXPECT_NEAR(pairs(0, 0), pairs(0, 1), 512);  // the diagonal
}

TEST(RingUnsupported, SaysWhy) {
  Case work{.kv_heads = 8, .ring_size = 4};
  Variant variant = variant_of(RingAlgorithm::ring_packed);
  EXPECT_EQ(why_not_ring(work, variant), std::nullopt);
  variant.ring.order_span = OrderSpan::global;
  EXPECT_EQ(why_not_ring(work, variant), "packed rows are taken from shards: order_span must be shard");
  variant = variant_of(RingAlgorithm::ring);
  variant.ring.order_span = OrderSpan::global;
  variant.change().order_tensors = OrderTensors::qkv;
  EXPECT_EQ(why_not_ring(work, variant), "order_span global stores Q by position: order_tensors must be kv");
  variant = variant_of(RingAlgorithm::ring);
  variant.change().order = "file";
  EXPECT_NE(why_not_ring(work, variant), std::nullopt);
  variant = grouped(RingAlgorithm::hierarchical, 0);
  EXPECT_NE(why_not_ring(work, variant)->find("ring_groups must say how many"), std::string::npos);
  EXPECT_EQ(why_not_ring(work, grouped(RingAlgorithm::hierarchical, 4)), std::nullopt);
  EXPECT_EQ(why_not_ring(work, grouped(RingAlgorithm::hierarchical_packed, 0))->find("hierarchical_packed "),
            0u);
  variant = grouped(RingAlgorithm::ring, 0);
  variant.ring.outer_link = OuterLink::emulated_host;
  EXPECT_NE(why_not_ring(work, variant)->find("ring_groups must say how many"), std::string::npos);
  variant.ring.groups = 2;
  EXPECT_EQ(why_not_ring(work, variant), std::nullopt);
  EXPECT_EQ(why_not_ring(work, grouped(RingAlgorithm::ring, 3)),
            "ring_groups 3: ring_size 4 is no multiple of it");
  EXPECT_NE(why_not_ring(work, grouped(RingAlgorithm::ring, -1)), std::nullopt);
  variant = variant_of(RingAlgorithm::ulysses);
  EXPECT_EQ(why_not_ring(work, variant), std::nullopt);
  variant.ring.head_parts = 2;
  EXPECT_EQ(why_not_ring(work, variant), std::nullopt);
  variant.ring.head_parts = 3;
  EXPECT_EQ(why_not_ring(work, variant), "head_parts 3: a rank's K/V heads, 2, are no multiple of it");
  variant.ring.head_parts = 0;
  variant.ring.head_moves = HeadMoves::direct;
  EXPECT_EQ(why_not_ring(work, variant), std::nullopt);
  variant.ring.transport = TransportKind::nccl;
  EXPECT_EQ(why_not_ring(work, variant), "head_moves direct: transport nccl moves only what is contiguous");
  variant.ring.transport = TransportKind::peer;
  variant.ring.groups = 2;
  variant.ring.outer_link = OuterLink::emulated_host;
  EXPECT_EQ(why_not_ring(work, variant), "head_moves direct: an emulated link moves only what is contiguous");
  variant = variant_of(RingAlgorithm::ulysses);
  work.kv_heads = 2;
  EXPECT_EQ(why_not_ring(work, variant),
            "ulysses gives each rank as many heads: of heads 8 and kv_heads 2, both must be multiples of "
            "ring_size 4");
  work.pattern = {{work.sequence_length / 4, 1}};
  EXPECT_EQ(why_not_ring(work, variant), std::nullopt) << "local";
  work.ring_size = 257;
  EXPECT_NE(why_not_ring(work, variant_of(RingAlgorithm::ring)), std::nullopt);
}

// Heads that move directly need no buffers for what is sent and received.
TEST(HeadMoves, AreDirectIfTheTransportMovesLines) {
  const Case work{.sequence_length = 256, .pattern = {{256, 1}}, .heads = 8, .kv_heads = 8, .ring_size = 4};
  Variant variant = variant_of(RingAlgorithm::ulysses);
  const auto chosen = [&] { return Ring(work, variant).variant().ring.head_moves; };
  for (const TransportKind lines : {TransportKind::automatic, TransportKind::threads, TransportKind::peer}) {
    variant.ring.transport = lines;
    EXPECT_EQ(chosen(), HeadMoves::direct);
  }
  const double direct = Ring(work, variant).memory(0).buffers;
  for (const TransportKind none : {TransportKind::nccl, TransportKind::mpi}) {
    variant.ring.transport = none;
    EXPECT_EQ(chosen(), HeadMoves::regrouped);
  }
  EXPECT_GT(Ring(work, variant).memory(0).buffers, direct);
  variant.ring.transport = TransportKind::peer;
  variant.ring.head_moves = HeadMoves::regrouped;
  EXPECT_EQ(chosen(), HeadMoves::regrouped);
  variant.ring.head_moves = HeadMoves::automatic;
  variant.ring.groups = 2;
  variant.ring.outer_link = OuterLink::emulated_host;
  EXPECT_EQ(chosen(), HeadMoves::regrouped);
}

}  // namespace
}  // namespace hilbench
