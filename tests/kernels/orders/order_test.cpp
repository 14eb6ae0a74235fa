#include "kernels/orders/order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "kernels/base/files/npy.hpp"
#include "kernels/base/text/error.hpp"
#include "kernels/orders/curves.hpp"

namespace hilbench {
namespace {

using Slots = std::vector<std::int64_t>;

Slots slots_of(const std::string& name, std::int64_t length, std::int64_t chunk = 0, std::int64_t residue = 1,
               std::uint64_t seed = 1) {
  return order_slots({.name = name, .length = length, .chunk = chunk, .residue = residue, .seed = seed});
}

OrderCheck check_of(const std::string& name, std::int64_t length, std::int64_t chunk = 0,
                    std::int64_t residue = 1) {
  const OrderRequest request{.name = name, .length = length, .chunk = chunk, .residue = residue};
  return check_order(request, order_slots(request));
}

const std::vector<std::string> kValid = {"linear", "snake",   "morton",         "gray",   "hilbert",
                                         "moore",  "residue", "bitrev_residue", "random", "auto"};

TEST(Orders, EveryValidOrderIsABijectionAtEveryShortLength) {
  for (const std::string& name : kValid)
    for (std::int64_t length = 1; length <= 300; ++length)
      for (const std::int64_t residue : {1, 2, 8, 512}) {
        const OrderCheck check = check_of(name, length, 0, residue);
        ASSERT_TRUE(check.valid()) << name << " " << length << ": " << order_fault({.name = name}, check);
      }
}

TEST(Orders, EveryValidOrderIsABijectionAtOddLongLengths) {
  for (const std::string& name : kValid)
    for (const std::int64_t length : {4095, 4097, 10007, 65537, 262143, 1000003})
      for (const std::int64_t chunk : {0, 1, 7, 4096})
        ASSERT_TRUE(check_of(name, length, chunk, 16).valid()) << name << " " << length << " chunk " << chunk;
}

TEST(Orders, CurvesTakeUnitStepsOnFullRasters) {
  for (std::int64_t width = 1; width <= 70; ++width)
    for (const std::int64_t height : {width - 1, width}) {
      if (height == 0) continue;
      for (const char* name : {"snake", "hilbert", "moore"}) {
        const OrderCheck check = check_of(name, width * height);
        EXPECT_EQ(check.steps, width * height - 1) << name;
        EXPECT_TRUE(check.valid()) << name << " on " << width << " x " << height;
      }
    }
}

TEST(Orders, HilbertOnASquareFollowsTheTables) {
  EXPECT_EQ(slots_of("hilbert", 16), (Slots{0, 1, 14, 15, 3, 2, 13, 12, 4, 7, 8, 11, 5, 6, 9, 10}));
  EXPECT_EQ(slots_of("hilbert", 64), (Slots{
                                         0,  3,  4,  5,  58, 59, 60, 63,  //
                                         1,  2,  7,  6,  57, 56, 61, 62,  //
                                         14, 13, 8,  9,  54, 55, 50, 49,  //
                                         15, 12, 11, 10, 53, 52, 51, 48,  //
                                         16, 17, 30, 31, 32, 33, 46, 47,  //
                                         19, 18, 29, 28, 35, 34, 45, 44,  //
                                         20, 23, 24, 27, 36, 39, 40, 43,  //
                                         21, 22, 25, 26, 37, 38, 41, 42,  //
                                     }));
}

// Full squares take ranks from the index formula, others walk the curve.
TEST(Orders, HilbertOnASquareIsTheCurveItself) {
  for (std::int64_t width = 1; width <= 256; width *= 2) {
    std::vector<std::uint32_t> cells(static_cast<std::size_t>(width * width));
    hilbert_curve(width, width, cells);
    const Slots slots = slots_of("hilbert", width * width);
    for (std::size_t rank = 0; rank < cells.size(); ++rank)
      ASSERT_EQ(slots[cells[rank]], static_cast<std::int64_t>(rank));
  }
}

TEST(Orders, SmallTablesByHand) {
  EXPECT_EQ(slots_of("snake", 9), (Slots{0, 1, 2, 5, 4, 3, 6, 7, 8}));
  EXPECT_EQ(slots_of("morton", 16), (Slots{0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15}));
  EXPECT_EQ(slots_of("gray", 16), (Slots{0, 1, 7, 6, 3, 2, 4, 5, 15, 14, 8, 9, 12, 13, 11, 10}));
  EXPECT_EQ(slots_of("moore", 4), (Slots{0, 3, 1, 2}));
  EXPECT_EQ(slots_of("residue", 10, 0, 4), (Slots{0, 3, 6, 8, 1, 4, 7, 9, 2, 5}));
  EXPECT_EQ(slots_of("bitrev_residue", 10, 0, 4), (Slots{0, 5, 3, 8, 1, 6, 4, 9, 2, 7}));
}

TEST(Orders, CellsPastTheEndAreSkippedAndRanksCompressed) {
  // 13 positions on the 4 x 4 raster: the curve without cells 13, 14, 15 (ranks 6, 9, 10).
  EXPECT_EQ(slots_of("hilbert", 13), (Slots{0, 1, 11, 12, 3, 2, 10, 9, 4, 6, 7, 8, 5}));
}

TEST(Orders, ChunksStandAloneAndAShortOneHasItsOwnRaster) {
  const Slots whole = slots_of("hilbert", 41, 16);
  const Slots full = slots_of("hilbert", 16);
  const Slots rest = slots_of("hilbert", 9);
  for (std::size_t t = 0; t < 41; ++t) {
    const std::size_t begin = t / 16 * 16;
    EXPECT_EQ(whole[t], static_cast<std::int64_t>(begin) + (begin == 32 ? rest : full)[t - begin]);
  }
  EXPECT_EQ(slots_of("hilbert", 41, 64), slots_of("hilbert", 41));
}

TEST(Orders, StepsAreCountedInEveryFullChunk) {
  const OrderCheck check = check_of("hilbert", 41, 16);
  EXPECT_EQ(check.steps, 15 + 15 + 8);
  EXPECT_TRUE(check.valid());
  // 5 x 4 cells need a diagonal: one in each chunk is allowed.
  const OrderCheck diagonals = check_of("hilbert", 60, 20);
  EXPECT_EQ(diagonals.diagonal_steps, 1);
  EXPECT_TRUE(diagonals.valid());
}

TEST(Orders, ResidueMakesEveryStreamContiguous) {
  for (const std::int64_t length : {1, 5, 64, 1000, 1001})
    for (const std::int64_t r : {1, 2, 3, 7, 16, 2000}) {
      const Slots slots = slots_of("residue", length, 0, r);
      for (std::int64_t t = 0; t + r < length; ++t)
        ASSERT_EQ(slots[static_cast<std::size_t>(t + r)], slots[static_cast<std::size_t>(t)] + 1);
    }
}

TEST(Orders, BitReversalMakesTheStreamsOfEveryPowerOfTwoContiguous) {
  for (const std::int64_t length : {64, 1000, 1024})
    for (std::int64_t r = 1; r <= 16; r *= 2) {
      const Slots slots = slots_of("bitrev_residue", length, 0, 16);
      for (std::int64_t offset = 0; offset < r; ++offset) {
        std::int64_t low = length, high = 0, count = 0;
        for (std::int64_t t = offset; t < length; t += r, ++count) {
          low = std::min(low, slots[static_cast<std::size_t>(t)]);
          high = std::max(high, slots[static_cast<std::size_t>(t)]);
        }
        EXPECT_EQ(high - low + 1, count) << "dilation " << r << " offset " << offset;
      }
    }
}

TEST(Orders, RandomDependsOnItsSeedAlone) {
  EXPECT_EQ(slots_of("random", 1000), slots_of("random", 1000));
  EXPECT_NE(slots_of("random", 1000), slots_of("random", 1000, 0, 1, 2));
  // Fixed by the standard's engine and our own draws: the same on every platform.
  EXPECT_EQ(slots_of("random", 8), (Slots{4, 6, 3, 5, 1, 7, 2, 0}));
}

TEST(Orders, RandomPermutationsAreUniform) {
  std::vector<int> counts(24);
  for (std::uint64_t seed = 0; seed < 24000; ++seed) {
    const Slots slots = slots_of("random", 4, 0, 1, seed);
    Slots sorted(4);
    std::iota(sorted.begin(), sorted.end(), 0);
    std::size_t rank = 0;
    while (sorted != slots) std::next_permutation(sorted.begin(), sorted.end()), ++rank;
    ++counts[rank];
  }
  // 1000 expected each, standard deviation 31.
  for (const int count : counts) EXPECT_NEAR(count, 1000, 160);
}

TEST(Orders, TheSeedsFormulaIsNoBijection) {
  const OrderCheck check = check_of("seed_d2xy", 4096);
  EXPECT_EQ(check.in_range, 1465);
  EXPECT_EQ(check.distinct, 1281);
  EXPECT_FALSE(check.valid());
  EXPECT_EQ(order_fault({.name = "seed_d2xy"}, check),
            "order seed_d2xy is no bijection: 1465 of 4096 positions have a slot in range, 1281 slots are "
            "distinct");
  for (std::int64_t length = 2; length <= 300; ++length) EXPECT_FALSE(check_of("seed_d2xy", length).valid());
}

// As the analysis computes its map: half of its entries stay 0, unless the length is a power of 4.
TEST(Orders, TheAnalysisMapLeavesSlotsAtZero) {
  EXPECT_EQ(slots_of("seed_zeros", 8), (Slots{0, 1, 0, 0, 3, 2, 0, 0}));
  for (const std::int64_t length : {2048, 8192}) {
    const OrderCheck check = check_of("seed_zeros", length);
    EXPECT_EQ(check.in_range, length);
    EXPECT_EQ(check.distinct, length / 2);
    EXPECT_FALSE(check.valid());
  }
  for (const std::int64_t length : {4, 1024, 4096}) EXPECT_TRUE(check_of("seed_zeros", length).valid());
}

TEST(Orders, TheSeedsListIsAPermutationButNoCurve) {
  EXPECT_EQ(slots_of("seed_list", 16), (Slots{0, 1, 14, 15, 2, 3, 12, 13, 4, 7, 8, 11, 5, 6, 9, 10}));
  const OrderCheck check = check_of("seed_list", 16);
  EXPECT_TRUE(check.bijection());
  EXPECT_EQ(check.steps, 15);
  EXPECT_EQ(check.long_steps, 0);
  EXPECT_EQ(check.diagonal_steps, 4);
  EXPECT_FALSE(check.valid());
  EXPECT_EQ(
      order_fault({.name = "seed_list"}, check),
      "order seed_list is no unit-step curve: of 15 steps 0 are longer than one cell, 4 diagonal in one "
      "rectangle (one is allowed)");
  EXPECT_FALSE(check_of("seed_list", 4096).valid());
  EXPECT_FALSE(check_of("seed_list", 37).valid());
  EXPECT_TRUE(check_of("seed_list", 37).bijection());
}

TEST(Orders, ChecksCountWhatIsWrong) {
  const OrderRequest request{.name = "hilbert", .length = 4};
  const OrderCheck outside = check_order(request, Slots{0, 1, 2, 4});
  EXPECT_EQ(outside.in_range, 3);
  EXPECT_FALSE(outside.bijection());
  const OrderCheck twice = check_order(request, Slots{0, 1, 1, 2});
  EXPECT_EQ(twice.in_range, 4);
  EXPECT_EQ(twice.distinct, 3);
  const OrderCheck rows = check_order({.name = "hilbert", .length = 9}, Slots{0, 1, 2, 3, 4, 5, 6, 7, 8});
  EXPECT_EQ(rows.long_steps, 2);
  EXPECT_FALSE(rows.valid());
  EXPECT_THROW(check_order(request, Slots{0, 1}), UsageError);
}

class OrderFile : public testing::Test {
 protected:
  void SetUp() override {
    file_ = std::filesystem::path(testing::TempDir()) /
            (std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) + ".npy");
  }
  void TearDown() override { std::filesystem::remove(file_); }
  Slots read(const Slots& slots, std::int64_t length) {
    write_npy(file_, slots);
    return order_slots({.name = "file", .length = length, .file = file_});
  }
  std::filesystem::path file_;
};

TEST_F(OrderFile, GivesTheSlots) {
  EXPECT_EQ(read({2, 0, 1}, 3), (Slots{2, 0, 1}));
}

TEST_F(OrderFile, IsRefusedWhereItIsNoPermutationOfTheSequence) {
  EXPECT_THROW(read({2, 0, 1}, 4), UsageError);
  EXPECT_THROW(read({2, 0, 2}, 3), UsageError);
  EXPECT_THROW(read({3, 0, 1}, 3), UsageError);
  EXPECT_THROW(read({-1, 0, 1}, 3), UsageError);
  EXPECT_THROW(order_slots({.name = "file", .length = 3}), UsageError);
  EXPECT_THROW(order_slots({.name = "file", .length = 3, .file = "/no/such/file.npy"}), UsageError);
}

TEST(Orders, RefusesUnknownNamesAndAbsurdSizes) {
  EXPECT_THROW(slots_of("hilbret", 16), UsageError);
  EXPECT_THROW(slots_of("linear", 0), UsageError);
  EXPECT_THROW(slots_of("linear", -1), UsageError);
  EXPECT_THROW(slots_of("linear", std::int64_t{1} << 31), UsageError);
  EXPECT_THROW(slots_of("hilbert", 16, -1), UsageError);
  EXPECT_THROW(slots_of("residue", 16, 0, 0), UsageError);
  EXPECT_THROW(slots_of("residue", 16, 0, std::int64_t{1} << 40), UsageError);
  EXPECT_THROW(slots_of("bitrev_residue", 16, 0, 6), UsageError);
}

TEST(OrderRequest, TakesTheChunkForCurvesOnly) {
  const Case work{.sequence_length = 8192};
  EXPECT_EQ(order_request(work, {.order = "hilbert"}).chunk, 8192);
  EXPECT_EQ(order_request(work, {.order = "hilbert", .order_chunk = 4096}).chunk, 4096);
  EXPECT_EQ(order_request(work, {.order = "hilbert", .order_param = 256, .order_chunk = 4096}).chunk, 256);
  EXPECT_EQ(order_request(work, {.order = "residue", .order_chunk = 4096}).chunk, 0);
  EXPECT_THROW(order_request(work, {.order = "hilbert", .order_param = 0}), UsageError);
  EXPECT_THROW(order_request(work, {.order = "linear", .order_param = 2}), UsageError);
  EXPECT_THROW(order_request(work, {.order = "nosuch"}), UsageError);
}

TEST(OrderRequest, DerivesTheResidueFromTheDilations) {
  const Case work{.sequence_length = 8192, .pattern = {{2048, 4}, {4096, 6}}};
  EXPECT_EQ(order_request(work, {.order = "residue"}).residue, 12);
  EXPECT_EQ(order_request(work, {.order = "residue", .order_param = 5}).residue, 5);
  EXPECT_EQ(order_request(work, {.order = "bitrev_residue"}).residue, 8);
  EXPECT_EQ(order_request(work, {.order = "random"}).seed, 1u);
  EXPECT_EQ(order_request(work, {.order = "random", .order_param = 7}).seed, 7u);
  EXPECT_THROW(order_request(work, {.order = "random", .order_param = -7}), UsageError);
  EXPECT_THROW(order_request(work, {.order = "residue", .order_param = 0}), UsageError);
  const std::int64_t huge = std::int64_t{1} << 40;
  const Case absurd{.sequence_length = 64, .pattern = {{huge, huge - 1}, {huge, huge - 3}, {huge, huge - 5}}};
  EXPECT_EQ(order_request(absurd, {.order = "residue"}).residue, kMaxResidue);
  EXPECT_TRUE(check_of("residue", 64, 0, kMaxResidue).valid());
  EXPECT_TRUE(check_of("bitrev_residue", 64, 0, kMaxResidue).valid());
}

TEST(OrderRequest, AutoIsResidueForDilatedCasesElseLinear) {
  const Case dilated{.sequence_length = 64, .pattern = {{32, 1}, {64, 4}}};
  const OrderRequest request = order_request(dilated, {.order = "auto"});
  EXPECT_EQ(request.name, "residue");
  EXPECT_EQ(request.residue, 4);
  EXPECT_EQ(order_request(Case{}, {.order = "auto"}).name, "linear");
  EXPECT_EQ(slots_of("auto", 10, 0, 4), slots_of("residue", 10, 0, 4));
  EXPECT_EQ(slots_of("auto", 10), slots_of("linear", 10));
}

TEST(Orders, TheTableKnowsEveryOrder) {
  EXPECT_EQ(orders().size(), kValid.size() + 7);  // with file, three of grids alone and three wrong ones
  for (const std::string& name : kValid) EXPECT_NE(find_order(name), nullptr);
  EXPECT_TRUE(find_order("moore")->unit_steps);
  EXPECT_EQ(find_order("bitrev_residue")->param, OrderParam::max_residue);
  EXPECT_EQ(find_order(""), nullptr);
}

}  // namespace
}  // namespace hilbench
