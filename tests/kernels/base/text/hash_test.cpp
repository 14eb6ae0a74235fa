#include "kernels/base/text/hash.hpp"

#include <gtest/gtest.h>

namespace hilbench {
namespace {

// From the test vectors of draft-eastlake-fnv, appendix C.
TEST(Hash, IsFnv1a) {
  static_assert(fnv1a("") == 0xcbf29ce484222325u);
  EXPECT_EQ(fnv1a("a"), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(fnv1a("foobar"), 0x85944171f73967e8u);
  EXPECT_EQ(fnv1a_32("a"), 0xe40c292cu);
  EXPECT_EQ(fnv1a_32("foobar"), 0xbf9cf968u);
}

TEST(Hash, ContinuesOverParts) {
  EXPECT_EQ(fnv1a("bar", fnv1a("foo")), fnv1a("foobar"));
  EXPECT_EQ(fnv1a_32("bar", fnv1a_32("foo")), fnv1a_32("foobar"));
}

TEST(Hash, IntegersInAnotherSequenceDiffer) {
  const auto both = [](std::int64_t a, std::int64_t b) {
    return hash_integer(hash_integer(kFnvBasis, a), b);
  };
  EXPECT_NE(both(1, 2), both(2, 1));
  EXPECT_NE(both(0, 0), both(0, 1));
}

}  // namespace
}  // namespace hilbench
