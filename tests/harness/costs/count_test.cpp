#include "harness/costs/count.hpp"

#include <gtest/gtest.h>

namespace hilbench {
namespace {

TEST(CostsCount, CallgrindsTotalIsRead) {
  EXPECT_EQ(callgrind_total("version: 1\npart: 1\nfn=(1) f\n1 5\n\ntotals: 37521239\n"), 37521239);
  EXPECT_EQ(callgrind_total("events: Ir\n\ntotals: 0"), 0);
  EXPECT_FALSE(callgrind_total(""));
  EXPECT_FALSE(callgrind_total("version: 1\nsummary: 12\n"));
  EXPECT_FALSE(callgrind_total("\ntotals: many\n"));
  EXPECT_FALSE(callgrind_total("\ntotals: 12 13\n")) << "two kinds of events";
}

TEST(CostsCount, NoneSaysWhy) {
  const InstructionCounter none = find_instruction_counter(InstructionSource::none);
  EXPECT_EQ(none.source, InstructionSource::none);
  EXPECT_FALSE(none.absence.empty());
}

}  // namespace
}  // namespace hilbench
