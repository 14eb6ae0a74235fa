#include "kernels/ring/ring_index.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "baselines/reference.hpp"
#include "kernels/case/pattern.hpp"
#include "kernels/ring/rank_case.hpp"
#include "tests/kernels/ring/ring_cases.hpp"
#include "tests/sanitized.hpp"

namespace hilbench {
namespace {

using Row = std::tuple<std::int64_t, std::int64_t, std::int64_t>;  // batch entry, head, position
using Pairs = std::map<Row, std::multiset<std::int64_t>>;          // keys of each query

// Reads the indices of a rank as a kernel does, and notes which keys each query sees.
class Reader {
 public:
  Reader(const Ring& ring, std::int64_t rank) : ring_(ring), rank_(rank) {}

  void read_all() {
    for (const RingStep& step : ring_.steps(rank_))
      for (const RingStep::Source& source : step.sources) read(source.rank, source.head_part);
    const Case& work = ring_.work();
    EXPECT_EQ(std::ssize(written_), work.batch * ring_.computed_heads() * ring_.computed_rows(rank_));
  }
  const Pairs& pairs() const { return pairs_; }

 private:
  void read(std::int64_t source, std::int64_t part) {
    const FirstPiece first = source == rank_ ? FirstPiece::yes : FirstPiece::no;
    const Index index = ring_index(ring_, rank_, source, first, 1 + ring_.work().sequence_length % 7,
                                   {.head_part = part, .causal = CausalTraversal::longest_first_grouped});
    stored_ = ring_.splits_heads() ? of_all_ranks(stored_kv_positions) : stored_kv_positions(ring_, source);
    packed_ = source != rank_ && ring_.packed(source);
    if (packed_) shard_ = packed_shard(ring_, source);
    EXPECT_EQ(index.kv_rows, packed_ ? shard_.rows : std::ssize(stored_));
    EXPECT_EQ(index.q_rows, ring_.computed_rows(rank_));
    if (ring_.splits_heads()) expect_slots_of_queries(index);
    const std::int64_t first_head =
        ring_.splits_heads() ? (rank_ * ring_.head_parts() + part) * ring_.piece_heads() : 0;
    cut_ = std::any_of(index.branches.begin(), index.branches.end(), cuts_keys);
    for (const BranchIndex& branch : index.branches) {
      std::set<Row> met;  // rows of O that this launch has written
      for (const IndexTile& tile : branch.tiles) {
        ASSERT_GT(tile.query_count, 0);
        ASSERT_LT(tile.head, ring_.piece_heads());
        ASSERT_EQ(tile.kv_head,
                  kv_head_of(ring_.work(), first_head + tile.head) - kv_head_of(ring_.work(), first_head));
        ASSERT_EQ(tile.query_step, branch.tiles.front().query_step);
        for (std::int64_t row = tile.query_row; row <= tile.last_row(); row += tile.query_step) {
          ASSERT_LT(row, index.q_rows);
          const Row name{tile.batch, first_head + tile.head,
                         ring_.splits_heads() ? row : ring_.shards().position(rank_, row)};
          ASSERT_TRUE(met.insert(name).second);
          ASSERT_TRUE(tile.merge ? written_.contains(name) : !pairs_.contains(name));
          written_.insert(name);
          read_keys(branch, tile, row, name);
        }
      }
    }
  }

  // What all ranks store, one rank after another.
  template <class Stored>
  std::vector<std::int32_t> of_all_ranks(const Stored& stored) const {
    std::vector<std::int32_t> all;
    for (std::int64_t rank = 0; rank < ring_.ranks(); ++rank)
      for (const std::int32_t position : stored(ring_, rank)) all.push_back(position);
    return all;
  }

  void expect_slots_of_queries(const Index& index) const {
    const std::vector<std::int32_t> stored = of_all_ranks(stored_q_positions);
    for (std::size_t t = 0; t < stored.size(); ++t)
      EXPECT_EQ(stored[index.q_slots.empty() ? t : static_cast<std::size_t>(index.q_slots[t])],
                static_cast<std::int32_t>(t));
  }

  void read_keys(const BranchIndex& branch, const IndexTile& tile, std::int64_t row, const Row& name) {
    for (std::int32_t i = 0; i < tile.key_count; ++i) {
      const auto key = static_cast<std::size_t>(tile.key_begin + i);
      std::int32_t slot = branch.key_slot[key];
      if (packed_)
        slot = shard_.slots[static_cast<std::size_t>(
            shard_.class_of_head[static_cast<std::size_t>(tile.kv_head)])][static_cast<std::size_t>(slot)];
      const std::int64_t position = stored_[static_cast<std::size_t>(slot)];
      const bool seen = ring_.work().mask == Mask::full || position <= std::get<2>(name);
      if (ring_.work().mask == Mask::causal) {
        ASSERT_EQ(branch.key_position[key] <= row, seen);
        if (branch.keys_by_step && cut_) {  // a kernel masks all tiles of a piece if it masks one
          ASSERT_EQ(
              branch.key_position[static_cast<std::size_t>(tile.key_begin)] + i * branch.key_step <= row,
              seen);
        }
      }
      ASSERT_TRUE(seen || i >= tile.unmasked);
      if (seen) pairs_[name].insert(position);
    }
  }

  const Ring& ring_;
  std::int64_t rank_;
  std::vector<std::int32_t> stored_;  // position in each slot of the source
  bool packed_ = false;
  PackedShard shard_;
  bool cut_ = false;  // some query of the piece does not see some key of its tile
  std::set<Row> written_;
  Pairs pairs_;
};

Pairs expected_pairs(const Case& work) {
  Pairs pairs;
  for (std::int64_t b = 0; b < work.batch; ++b)
    for (std::int64_t head = 0; head < work.heads; ++head)
      for (std::int64_t branch = 0; branch < std::ssize(work.pattern); ++branch) {
        if (!head_runs_branch(work, head, branch)) continue;
        for (std::int64_t t = 0; t < work.sequence_length; ++t)
          for (const std::int64_t key : visible_keys(work, head, branch, t)) pairs[{b, head, t}].insert(key);
      }
  return pairs;
}

void expect_every_pair_once(const Case& work, const Variant& variant) {
  SCOPED_TRACE(described(work, variant));
  const Ring ring(work, variant);
  Pairs all;
  for (std::int64_t rank = 0; rank < ring.ranks(); ++rank) {
    Reader reader(ring, rank);
    reader.read_all();
    for (const auto& [row, keys] : reader.pairs()) all[row].insert(keys.begin(), keys.end());
  }
  EXPECT_EQ(all, expected_pairs(work));
}

class RingIndexProperty : public testing::TestWithParam<int> {};

TEST_P(RingIndexProperty, EveryPairIsMetOnce) {
  Random random(static_cast<std::uint64_t>(100 + GetParam()));
  for (const RingAlgorithm algorithm : kRingAlgorithms)
    for (const Sharding sharding : kShardings)
      for (const std::int64_t ranks : kRingSizes)
        for (int i = 0; i < (kSanitized ? 2 : 10); ++i) {
          const Case work = random_ring_case(random, ranks, 60, algorithm);
          expect_every_pair_once(work, random_ring_variant(random, ranks, algorithm, sharding));
          if (HasFailure()) return;
        }
}
INSTANTIATE_TEST_SUITE_P(Seeds, RingIndexProperty, testing::Range(0, 6));

// What a piece reads without a table: slots at a fixed distance, and masks by steps.
TEST(RingIndex, LinearStreamsStayStrided) {
  for (const Sharding sharding : kShardings)
    for (const RingAlgorithm algorithm : {RingAlgorithm::ring, RingAlgorithm::ring_packed})
      for (const Mask mask : {Mask::full, Mask::causal}) {
        const Case work{.sequence_length = 4096,
                        .pattern = {{4096, 4}},
                        .heads = 4,
                        .kv_heads = 4,
                        .mask = mask,
                        .ring_size = 4};
        Variant variant{KernelChoice{.name = "dilated_cpu"}};
        variant.ring.algorithm = algorithm;
        variant.ring.sharding = sharding;
        const Ring ring(work, variant);
        for (std::int64_t rank = 0; rank < 4; ++rank)
          for (const RingStep& step : ring.steps(rank))
            for (const RingStep::Source& source : step.sources) {
              const Index index = ring_index(ring, rank, source.rank, FirstPiece::no, 128);
              for (const BranchIndex& branch : index.branches) {
                EXPECT_TRUE(branch.keys_by_step);
                std::set<std::int32_t> steps;
                for (std::size_t list = 0; list + 1 < branch.begin.size(); ++list)
                  for (std::int64_t key = branch.begin[list] + 1; key < branch.begin[list + 1]; ++key)
                    steps.insert(branch.key_slot[static_cast<std::size_t>(key)] -
                                 branch.key_slot[static_cast<std::size_t>(key - 1)]);
                EXPECT_LE(steps.size(), 1u);
              }
            }
      }
}

}  // namespace
}  // namespace hilbench
