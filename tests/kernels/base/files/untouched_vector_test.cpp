#include "kernels/base/files/untouched_vector.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>

#include "tests/process_memory.hpp"
#include "tests/sanitized.hpp"

namespace hilbench {
namespace {

TEST(UntouchedVector, HoldsWhatIsWritten) {
  UntouchedVector<std::int32_t> values(1000);
  std::iota(values.begin(), values.end(), 0);
  values.push_back(1000);
  values.resize(1200);
  const UntouchedVector<std::int32_t> copy = values;
  ASSERT_EQ(copy.size(), 1200u);
  for (std::int32_t i = 0; i <= 1000; ++i) ASSERT_EQ(copy[static_cast<std::size_t>(i)], i);
}

TEST(UntouchedVector, ComparesAsAnyVector) {
  const UntouchedVector<std::int32_t> values = {3, 1, 2};
  EXPECT_EQ(values, (UntouchedVector<std::int32_t>{3, 1, 2}));
  EXPECT_NE(values, (UntouchedVector<std::int32_t>{3, 1, 3}));
  EXPECT_EQ((UntouchedVector<std::int32_t>(2, 7)), (UntouchedVector<std::int32_t>{7, 7}));
}

// A gigabyte, of which only one page is taken.
TEST(UntouchedVector, TakesNoMemoryBeforeItIsWritten) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer keeps memory of its own";
  const std::uint64_t before = process_bytes().resident;
  UntouchedVector<std::int32_t> values(std::size_t{1} << 28);
  values[0] = 1;
  EXPECT_LT(process_bytes().resident, before + (100 << 20));
}

}  // namespace
}  // namespace hilbench
