#include "reports/document/first_sentences.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/reports/rendered.hpp"
#include "tests/reports/sample_records.hpp"

namespace hilbench {
namespace {

TEST(Tiles, TellALossThatWasReproducedFromAGain) {
  ReportInput input;
  const Case work = sample::work(16384, {{4096, 2}});  // claimed: 0.82 by one table, 2.66 by another
  for (const auto& [order, factor] : {std::pair{"linear", 1.0}, {"hilbert", 1.25}, {"random", 1.0}}) {
    input.records.push_back(sample::record(work, "dilated", order));
    sample::time(input.records.back(), 1, factor, 0);
  }
  const Document document = document_without_pictures(input);
  const auto tile = [&](std::string_view label) {
    for (const Tile& one : document.tiles)
      if (one.label == label) return one.value;
    return std::string("no tile");
  };
  EXPECT_EQ(tile("gains reproduced"), "0");
  EXPECT_EQ(tile("claims of a loss or of no difference reproduced"), "1");
  const std::string text = to_markdown(document);
  EXPECT_NE(text.find("reproduced (no gain was claimed)"), std::string::npos);
  input.records[1].variant.order_chunk = input.records[1].order_chunk =
      64;  // not the order that the claims are about
  EXPECT_TRUE(document_without_pictures(input).tiles.empty()) << "no claim is tested";
}

// For each of `chunks` a case with linear and Hilbert order; 0: over the whole length.
TEST(FirstSentences, TellOfEveryCaseAndNotOfTheClaimedChunksAlone) {
  const auto said_of = [](std::initializer_list<std::int64_t> chunks) {
    ReportInput input;
    std::int64_t length = 16384;
    for (const std::int64_t chunk : chunks) {
      const Case work = sample::work(length, {{4096, 2}});
      for (const auto& [order, factor] : {std::pair{"linear", 1.0}, {"hilbert", 0.9}}) {
        input.records.push_back(sample::record(work, "dilated", order));
        Record& made = input.records.back();
        if (made.variant.order == "hilbert") made.variant.order_chunk = made.order_chunk = chunk;
        sample::time(made, 1, factor, 0);
      }
      length *= 2;
    }
    return document_without_pictures(input).answer;
  };
  const std::string one_case = " was faster than linear order in 1 of 1 case";
  const std::vector<std::string> both = said_of({4096, 0});
  ASSERT_GE(both.size(), 2u);
  EXPECT_EQ(both[0].rfind("Hilbert order in chunks of 4096" + one_case, 0), 0u) << both[0];
  EXPECT_EQ(both[1].rfind("Hilbert order over the whole length" + one_case, 0), 0u) << both[1];
  const std::vector<std::string> claimed = said_of({4096});
  EXPECT_EQ(claimed[0].rfind("Hilbert order" + one_case, 0), 0u) << claimed[0];
  EXPECT_EQ(claimed[1].find("Hilbert"), std::string::npos) << claimed[1];
  const std::vector<std::string> whole = said_of({0});
  EXPECT_EQ(whole[0].rfind("Hilbert order over the whole length" + one_case, 0), 0u) << whole[0];
  const std::vector<std::string> other = said_of({64});
  EXPECT_EQ(other[0].rfind("No case here has times of linear order", 0), 0u) << other[0];
}

// One process, and an interval within 1 % of 1: neither faster nor slower.
TEST(FirstSentences, CountASignThatIsNotSettledApart) {
  ReportInput input;
  const Case work = sample::work(16384, {{4096, 2}});
  for (const auto& [order, factor] : {std::pair{"linear", 1.0}, {"hilbert", 1.005}}) {
    input.records.push_back(sample::record(work, "dilated", order));
    sample::time(input.records.back(), 1, factor, 0);
  }
  const std::string said = document_without_pictures(input).answer[0];
  EXPECT_NE(said.find("faster than linear order in 0 of 1 case, slower in 0; in 1: sign not settled"),
            std::string::npos)
      << said;
}

TEST(FirstSentences, SayNothingOfHilbertOrderWithoutItsControl) {
  ReportInput input = sample::input();
  EXPECT_NE(document_without_pictures(input).answer[0].find(
                "Random order, the negative control, was faster than linear order in 0 of 4"),
            std::string::npos);
  std::erase_if(input.records, [](const Record& record) { return record.variant.order == "random"; });
  EXPECT_NE(document_without_pictures(input).answer[0].find("Random order was not measured with it"),
            std::string::npos);
}

}  // namespace
}  // namespace hilbench
