#include "kernels/windows/mask_store.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "kernels/windows/window_tiles.hpp"
#include "tests/process_memory.hpp"
#include "tests/sanitized.hpp"

namespace hilbench {
namespace {

// Different masks for different numbers: the number stands in one word of them.
BlockMask mask_numbered(std::size_t number) {
  BlockMask mask = {};
  mask[number % kMaskedKeys][number % 2] = number + 1;
  return mask;
}

TEST(MaskStore, StoresEqualMasksOnce) {
  MaskStore store(4);
  EXPECT_EQ(store.number_of(mask_numbered(7)), 0);
  EXPECT_EQ(store.number_of(mask_numbered(8)), 1);
  EXPECT_EQ(store.number_of(mask_numbered(7)), 0);
  const MaskList masks = store.masks();
  ASSERT_EQ(masks.size(), 2u);
  EXPECT_EQ(masks[0], mask_numbered(7));
  EXPECT_EQ(masks[1], mask_numbered(8));
}

TEST(MaskStore, TellsMasksWithTheSameHashApart) {
  MaskStore store(3);
  for (int again = 0; again < 2; ++again)
    for (std::int32_t i = 0; i < 3; ++i)
      EXPECT_EQ(store.number_of(mask_numbered(static_cast<std::size_t>(i)), 42), i);
  EXPECT_EQ(store.masks().size(), 3u);
}

// Many in one part of the store, which grows meanwhile.
TEST(MaskStore, FindsEveryMaskAmongManyWithFewHashes) {
  constexpr std::int32_t kMasks = 300;
  MaskStore store(kMasks);
  for (int again = 0; again < 2; ++again)
    for (std::int32_t i = 0; i < kMasks; ++i)
      ASSERT_EQ(
          store.number_of(mask_numbered(static_cast<std::size_t>(i)), static_cast<std::uint64_t>(i) % 7), i);
  EXPECT_EQ(store.masks().size(), static_cast<std::size_t>(kMasks));
}

TEST(MaskStore, IsEmptyAtFirst) {
  EXPECT_EQ(MaskStore(0).masks().size(), 0u);
}

// All blocks of a large index together may have masks of more bytes than the machine has.
TEST(MaskStore, TakesMemoryOnlyForWhatIsAdded) {
  MaskStore store(std::size_t{1} << 24);  // of 2 KiB each
  EXPECT_EQ(store.number_of(mask_numbered(3)), 0);
  EXPECT_EQ(store.masks().size(), 1u);
}

TEST(MaskStore, NeedsNoAddressesForAllThatItMayHold) {
  if (kSanitized) GTEST_SKIP() << "sanitizers map more than any limit";
  const AddressLimit limit(1 << 30);
  EXPECT_EQ(MaskStore(std::size_t{1} << 24).number_of(mask_numbered(3)), 0);
  const std::vector<char> room(std::size_t{200} << 20);
  EXPECT_EQ(room.back(), 0);
}

// The masks outlive the store, and copies share them.
TEST(MaskStore, LeavesItsMasksBehind) {
  MaskList masks;
  {
    MaskStore store(1);
    store.number_of(mask_numbered(5));
    masks = store.masks();
  }
  const MaskList copy = masks;
  EXPECT_EQ(copy.data(), masks.data());
  EXPECT_EQ(copy[0], mask_numbered(5));
}

TEST(MaskStore, TakesMasksFromSeveralThreads) {
  constexpr std::size_t kDifferent = 500, kTimes = 20;
  MaskStore store(kDifferent * kTimes);
  std::vector<std::int32_t> numbers(kDifferent * kTimes);
#pragma omp parallel for num_threads(4) schedule(dynamic)
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = store.number_of(mask_numbered(i % kDifferent));
  const MaskList masks = store.masks();
  ASSERT_EQ(masks.size(), kDifferent);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    ASSERT_EQ(masks[static_cast<std::size_t>(numbers[i])], mask_numbered(i % kDifferent));
}

TEST(HashOfMask, DependsOnEveryWord) {
  std::set<std::uint64_t> hashes = {hash_of(BlockMask{})};
  for (std::size_t key = 0; key < kMaskedKeys; ++key)
    for (std::size_t word = 0; word < 2; ++word) {
      BlockMask mask = {};
      mask[key][word] = 1;
      hashes.insert(hash_of(mask));
    }
  EXPECT_EQ(hashes.size(), 257u);
}

}  // namespace
}  // namespace hilbench
