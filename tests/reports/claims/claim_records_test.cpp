#include "reports/claims/claim_records.hpp"

#include <gtest/gtest.h>

#include "tests/reports/sample_records.hpp"

namespace hilbench {
namespace {

TEST(SameWork, IgnoresDeviceThreadsAndDtypeOnly) {
  const Case claimed{.sequence_length = 8192, .pattern = {{2048, 1}}, .kv_heads = 8};
  Case here = claimed;
  here.device = DeviceKind::cpu;
  here.threads = 2;
  EXPECT_TRUE(same_work(claimed, here));
  here.dtype = Dtype::bf16;
  EXPECT_TRUE(same_work(claimed, here)) << "the answer tells the dtype";
  here = claimed;
  here.mask = Mask::causal;
  EXPECT_FALSE(same_work(claimed, here));
}

TEST(ClaimRecords, TakesThePlainVariantsOfOneKernelWithTheClaimedChunk) {
  ReportInput input = sample::input();
  std::vector<Record> records(input.records.begin(), input.records.begin() + 7);
  Record slot = records[1];
  slot.variant.change().key_visit = KeyVisit::slot;
  slot.variant_id = variant_id(slot.variant);
  records.insert(records.begin(), slot);
  input.records = records;
  const View view = view_of(input);
  const ClaimRecords found = claim_records(view.cases[0], 4096);
  ASSERT_TRUE(found.standard && found.hilbert && found.tokens && found.random);
  EXPECT_EQ(found.hilbert->variant_id, "dilated/hilbert");
  EXPECT_EQ(found.random->variant_id, "dilated/random");
  EXPECT_EQ(found.tokens->variant_id, "dilated/hilbert@tokens");
  EXPECT_EQ(claim_records(view.cases[0], 2048).hilbert, nullptr);
}

}  // namespace
}  // namespace hilbench
