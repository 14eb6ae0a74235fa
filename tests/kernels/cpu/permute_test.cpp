#include "kernels/cpu/permute.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

namespace hilbench {
namespace {

std::vector<std::int32_t> linear(std::int64_t length) {
  std::vector<std::int32_t> slots(static_cast<std::size_t>(length));
  std::iota(slots.begin(), slots.end(), 0);
  return slots;
}

// Bytes that encode their own batch entry, position and place in the row.
std::vector<std::uint8_t> distinct_rows(std::int64_t batch, std::int64_t length, std::int64_t row_bytes) {
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(batch * length * row_bytes));
  std::mt19937_64 random(7);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
  return bytes;
}

void expect_moved(std::int64_t batch, const std::vector<std::int32_t>& slots, std::int64_t row_bytes,
                  int threads) {
  const auto length = static_cast<std::int64_t>(slots.size());
  const std::vector<std::uint8_t> from = distinct_rows(batch, length, row_bytes);
  std::vector<std::uint8_t> expected(from.size(), 0);
  for (std::int64_t b = 0; b < batch; ++b)
    for (std::int64_t t = 0; t < length; ++t)
      for (std::int64_t i = 0; i < row_bytes; ++i)
        expected[static_cast<std::size_t>((b * length + slots[static_cast<std::size_t>(t)]) * row_bytes +
                                          i)] =
            from[static_cast<std::size_t>((b * length + t) * row_bytes + i)];
  std::vector<std::uint8_t> to(from.size(), 0xee);
  permute_rows(from.data(), to.data(), batch, slots, row_bytes, threads);
  EXPECT_EQ(to, expected);
  std::vector<std::uint8_t> back(from.size(), 0xee);
  unpermute_rows(to.data(), back.data(), batch, slots, row_bytes, threads);
  EXPECT_EQ(back, from);
}

TEST(Permute, MovesRowsBitForBitAndBack) {
  std::mt19937_64 random(1);
  for (const std::int64_t length : {1, 2, 255, 256, 257, 1000})
    for (const std::int64_t row_bytes : {1, 4, 34, 256})
      for (const std::int64_t batch : {1, 3})
        for (const int threads : {1, 3}) {
          std::vector<std::int32_t> slots = linear(length);
          expect_moved(batch, slots, row_bytes, threads);
          std::reverse(slots.begin(), slots.end());
          expect_moved(batch, slots, row_bytes, threads);
          std::shuffle(slots.begin(), slots.end(), random);
          expect_moved(batch, slots, row_bytes, threads);
        }
}

// Runs that begin and end inside, at and across the stretches that threads share.
TEST(Permute, MovesRunsOfAdjacentRows) {
  for (const std::int64_t run : {2, 5, 64, 100, 256, 300}) {
    const std::int64_t length = 1024;
    std::vector<std::int32_t> slots;
    for (std::int64_t begin = (length - 1) / run * run; begin >= 0; begin -= run)
      for (std::int64_t t = begin; t < std::min(begin + run, length); ++t)
        slots.push_back(static_cast<std::int32_t>(t));
    expect_moved(2, slots, 24, 2);
  }
}

TEST(Permute, TakesAnEmptySequence) {
  permute_rows(nullptr, nullptr, 2, {}, 8, 2);
}

}  // namespace
}  // namespace hilbench
