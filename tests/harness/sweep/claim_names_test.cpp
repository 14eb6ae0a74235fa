#include "harness/sweep/claim_names.hpp"

#include <gtest/gtest.h>

#include <string>

#include "kernels/base/text/error.hpp"
#include "reports/claims/claims_file.hpp"

namespace hilbench {
namespace {

std::string answer_to_test(const std::string& test) {
  const std::string claim =
      "claims:\n  - {id: a, title: t, source: {seed: s, section: x}, provenance: measured,\n     rows: "
      "[{speedup: 2, test: {";
  try {
    check_claim_names(parse_claims(claim + test + "}}]}\n", "my.yaml"));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ClaimNames, OfBuiltInClaimsAreKnown) {
  EXPECT_NO_THROW(check_claim_names(built_in_claims()));
}

TEST(ClaimNames, ThatAreUnknownAreRefusedWithTheirRow) {
  EXPECT_EQ(answer_to_test("variant: dilated/hilbert/sawtooth, against: dilated/linear/ring"), "accepted");
  EXPECT_EQ(answer_to_test("variant: torch_windows.flex_boxes, against: torch_windows.flex"), "accepted");
  const std::string order = answer_to_test("variant: dilated/hilbrt, against: dilated/linear");
  EXPECT_EQ(order.find("unknown order 'hilbrt' in variant 'dilated/hilbrt' (my.yaml:3, "
                       "claims[0].rows[0].test.variant): allowed: linear, "),
            0u)
      << order;
  EXPECT_NE(order.find("did you mean 'hilbert'?"), std::string::npos) << order;
  EXPECT_EQ(order.find('\n'), std::string::npos);
  const std::string control =
      answer_to_test("variant: dilated/hilbert, against: dilated/linear, control: [dilated/rndom]");
  EXPECT_NE(control.find("test.control[0]"), std::string::npos) << control;
  EXPECT_NE(answer_to_test("variant: dilated/hilbert/sawtoth, against: dilated/linear")
                .find("unknown traversal 'sawtoth'"),
            std::string::npos);
}

}  // namespace
}  // namespace hilbench
