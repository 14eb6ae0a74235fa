#include "kernels/cuda/shared/gradient_image.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <tuple>

#include "kernels/case/case.hpp"
#include "tests/kernels/random_case.hpp"

namespace hilbench::cuda {
namespace {

// Blocks of a run that a tile visits: all from the one in which its first query is (docs/definitions.md,
// causal).
std::int64_t first_block(const QueryRun& run, std::int32_t step, std::int32_t position,
                         std::int32_t queries) {
  std::int64_t query = 0;
  while (query < run.count && run.first + query * step < position) ++query;
  return query / queries;
}

// A block on a GPU takes the tiles in their sequence, and waits for the tiles of its list that have a smaller
// turn. It never waits for one that has not begun, nor for one that does not come to the block of queries.
TEST(KeyTileLists, WaitOnlyForTilesThatHaveBegunAndCome) {
  std::mt19937_64 random(11);
  int waits = 0;
  for (int i = 0; i < 300; ++i) {
    Case work = random_case(random, 200);
    work.mask = i % 2 == 0 ? Mask::causal : Mask::full;
    KernelChoice choice;
    choice.order = i % 3 == 0 ? "linear" : i % 3 == 1 ? "random" : "hilbert";
    choice.key_visit = i % 5 == 0 ? KeyVisit::slot : KeyVisit::position;
    SCOPED_TRACE(case_id(work));
    for (const BranchIndex& branch : build_index(work, choice, 32).branches) {
      const KeyTileLists made = key_tile_lists(work, branch, 16);
      std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t>, std::vector<const KeyTile*>> begun;
      for (const KeyTile& tile : made.tiles) {
        auto& before = begun[{tile.run_begin, tile.batch, tile.kv_head}];
        ASSERT_EQ(tile.turn, static_cast<std::int32_t>(before.size()));
        for (std::int32_t number = 0; number < tile.run_count; ++number) {
          const QueryRun& run = made.runs[static_cast<std::size_t>(tile.run_begin + number)];
          const std::int32_t step = branch.tiles.front().query_step;
          const std::int64_t first = first_block(run, step, tile.first_position, 32);
          for (const KeyTile* other : before) {
            ASSERT_LE(first_block(run, step, other->first_position, 32), first);
            ++waits;
          }
        }
        before.push_back(&tile);
      }
    }
  }
  EXPECT_GT(waits, 1000);
}

}  // namespace
}  // namespace hilbench::cuda
