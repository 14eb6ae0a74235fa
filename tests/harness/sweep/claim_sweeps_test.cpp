#include "harness/sweep/claim_sweeps.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "harness/sweep/sweep.hpp"
#include "kernels/base/text/error.hpp"
#include "reports/claims/claim_records.hpp"
#include "reports/claims/claims_file.hpp"

namespace hilbench {
namespace {

namespace fs = std::filesystem;

TEST(ClaimSweeps, AreTheFilesOfTheFolder) {
  std::set<std::string> files, embedded;
  for (const auto& entry : fs::directory_iterator(HILBENCH_SWEEPS "/claims"))
    files.insert("sweeps/claims/" + entry.path().filename().string());
  for (const EmbeddedSweep& sweep : claim_sweeps()) embedded.insert(std::string(sweep.file));
  EXPECT_EQ(embedded, files);
}

TEST(ClaimSweeps, AnswerEveryClaimThroughASweepWithItsName) {
  for (const std::string& claim : claim_names()) {
    if (claim == "seeds" || claim == "literature") continue;  // files, no claims
    if (claim.ends_with("-as-run")) continue;                 // a chain's, or another reading of a claim
    EXPECT_EQ(sweep_of_claim(claim).file, "sweeps/claims/" + claim + ".yaml");
  }
  EXPECT_EQ(sweeps_naming("analysis-theory").size(), 2u) << "rings answer its share of bytes sent";
}

// What the tables of the reports state and what their programs ran are two readings of one row.
TEST(ClaimSweeps, HaveTheCasesOfBothReadings) {
  int readings = 0;
  for (const ClaimRow& row : built_in_claims()) {
    if (row.reading_of.empty()) continue;
    ++readings;
    ASSERT_TRUE(row.work) << row.claim_id;
    const auto tables = std::ranges::find_if(built_in_claims(), [&](const ClaimRow& other) {
      return other.claim_id == row.reading_of && other.sequence_length == row.sequence_length &&
             other.claimed == row.claimed;
    });
    ASSERT_NE(tables, built_in_claims().end()) << row.configuration;
    EXPECT_FALSE(same_work(*tables->work, *row.work)) << row.configuration;
    const Sweep sweep = parse_embedded(sweep_of_claim(row.claim_id));
    EXPECT_TRUE(std::ranges::any_of(sweep.cases,
                                    [&](const SweepCase& each) { return same_work(*row.work, each.work); }))
        << row.claim_id << ": " << row.configuration;
    std::set<std::string> ids;
    for (const Variant& variant : sweep.variants) ids.insert(variant_id(variant));
    if (row.compared.beside.named()) EXPECT_TRUE(ids.contains(row.compared.beside.id)) << row.claim_id;
  }
  EXPECT_EQ(readings, 13);
}

// A claim that names a variant that its sweep does not run would never be answered.
TEST(ClaimSweeps, RunTheVariantsThatTheirClaimsName) {
  for (const ClaimRow& row : built_in_claims()) {
    if (!row.untestable.empty() || row.compared.variant.any()) continue;
    const Sweep sweep = parse_embedded(sweep_of_claim(row.claim_id));
    std::set<std::string> ids;
    for (Variant variant : sweep.variants) {
      variant.ring = {};  // in a ring by every algorithm
      ids.insert(variant_id(variant));
    }
    for (const NamedVariant& named : {row.compared.variant, row.compared.against})
      EXPECT_TRUE(ids.contains(named.id)) << row.claim_id << ": " << named.id;
  }
}

TEST(ClaimSweeps, ReadLinearOrderThroughATableToo) {
  for (const EmbeddedSweep& each : claim_sweeps()) {
    const Sweep sweep = parse_sweep(std::string(each.text), each.file);
    const bool orders = std::any_of(sweep.variants.begin(), sweep.variants.end(), [](const Variant& variant) {
      return variant.kernel().order == "hilbert";
    });
    const bool gathered =
        std::any_of(sweep.variants.begin(), sweep.variants.end(), [](const Variant& variant) {
          return variant.kernel().order == "linear" && variant.kernel().rows == KeyRows::gathered;
        });
    EXPECT_EQ(gathered, orders) << each.file << ": the control that pays the same table";
  }
}

TEST(ClaimSweeps, RefuseAClaimThatNoneAnswers) {
  try {
    sweep_of_claim("guide-sped");
    FAIL() << "not refused";
  } catch (const UsageError& error) {
    const std::string said = error.what();
    EXPECT_NE(said.find("no sweep of this build answers claim 'guide-sped' (--claim)"), std::string::npos)
        << said;
    EXPECT_NE(said.find("did you mean 'guide-speedup'?"), std::string::npos) << said;
  }
}

}  // namespace
}  // namespace hilbench
