#include "reports/claims/claim_records.hpp"

#include <gtest/gtest.h>

#include "reports/claims/claims_file.hpp"
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
  ComparedVariants compared = compared_by_reports();
  const ClaimRecords found = claim_records(view.cases[0], compared);
  ASSERT_TRUE(found.against && found.variant && found.beside && found.random);
  EXPECT_EQ(found.variant->variant_id, "dilated/hilbert");
  EXPECT_EQ(found.random->variant_id, "dilated/random");
  EXPECT_EQ(found.beside->variant_id, "dilated/hilbert@tokens");
  EXPECT_EQ(found.control, found.random) << "no linear.gathered here";
  compared.order_chunk = 2048;
  EXPECT_EQ(claim_records(view.cases[0], compared).variant, nullptr);
  compared.order_chunk.reset();
  EXPECT_EQ(claim_records(view.cases[0], compared).variant, found.variant) << "any chunk";
}

// Nothing is implied: with other names the same case gives other records.
TEST(ClaimRecords, TakesWhatTheClaimNames) {
  ReportInput input = sample::input();
  input.records = std::vector<Record>(input.records.begin(), input.records.begin() + 7);
  const View view = view_of(input);
  const auto named = [&](const std::string& test) {
    const std::string text =
        "claims: [{id: a, title: t, source: {seed: s, section: x}, provenance: measured, rows: "
        "[{speedup: 2, test: {" +
        test + "}}]}]";
    return claim_records(view.cases[0], parse_claims(text, "a.yaml").at(0).compared);
  };
  const ClaimRecords random =
      named("variant: dilated/random, against: dilated/hilbert, control: dilated/linear");
  ASSERT_TRUE(random.variant && random.against && random.control);
  EXPECT_EQ(random.variant->variant_id, "dilated/random");
  EXPECT_EQ(random.against->variant_id, "dilated/hilbert");
  EXPECT_EQ(random.control->variant_id, "dilated/linear");
  EXPECT_EQ(random.random, nullptr) << "no control is in random order";
  EXPECT_EQ(random.beside, nullptr);
  EXPECT_EQ(named("variant: dilated_wgmma/random, against: dilated/linear").variant, nullptr)
      << "a kernel that is named is that one alone";
}

}  // namespace
}  // namespace hilbench
