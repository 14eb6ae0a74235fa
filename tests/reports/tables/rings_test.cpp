#include "reports/tables/rings.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "reports/claims/answers.hpp"
#include "reports/claims/claims_file.hpp"
#include "reports/document/document.hpp"
#include "tests/reports/sample_records.hpp"
#include "tests/reports/table_cell.hpp"

namespace hilbench {
namespace {

Case ring_work(std::int64_t length, std::int64_t ranks, DeviceKind device = DeviceKind::cpu) {
  Case work = sample::work(length, {{length, 4}});
  work.ring_size = ranks;
  work.device = device;
  return work;
}

// A record that takes `factor` times as long as 8192 positions on one rank.
Record ring_record(const Case& work, std::string_view order, double factor, RingAlgorithm algorithm) {
  Record made = sample::record(work, "dilated", order);
  made.variant.ring.algorithm = algorithm;
  made.variant_id = variant_id(made.variant);
  sample::time(made, 1, factor, 0);
  made.flops = flops(work);
  made.comm_bytes = 0;
  if (work.ring_size == 1) return made;
  made.ring_algorithm = algorithm == RingAlgorithm::automatic ? "ring" : to_string(algorithm);
  made.comm_bytes = algorithm == RingAlgorithm::automatic ? 4e6 : 1e6;
  made.counters["ring_overlap"] = {.value = 0.75, .unit = "ratio", .source = "measured"};
  made.counters["ring_compute_ns"] = {.value = 9e6, .unit = "ns", .source = "measured"};
  made.counters["ring_exchange_ns"] = {.reason = "nothing is exchanged"};
  return made;
}

double number(const Table& table, std::size_t row, std::string_view key) {
  const std::string text = cell(table, row, key);
  return text.empty() ? -1 : std::stod(text);
}

TEST(Rings, SentenceIsOfTheFastestVariantAndNotOfTheLargestRatio) {
  ReportInput input;
  for (const std::int64_t ranks : {1, 2}) {
    const Case work = ring_work(8192, ranks);
    input.records.push_back(ring_record(work, "linear", ranks == 1 ? 1 : 0.5, RingAlgorithm::automatic));
    input.records.push_back(ring_record(work, "hilbert", ranks == 1 ? 3 : 0.6, RingAlgorithm::automatic));
  }
  EXPECT_NE(rings_sentence(view_of(input)).find("on 2 ranks 2.00 to 2.00 in 1 case."), std::string::npos)
      << rings_sentence(view_of(input));
}

TEST(Rings, StandBesideOneRankOnTheSameWork) {
  ReportInput input;
  for (const DeviceKind device : {DeviceKind::cpu, DeviceKind::cuda})
    for (const std::int64_t ranks : {4, 1, 2})  // not sorted
      input.records.push_back(ring_record(ring_work(8192, ranks, device), "linear",
                                          ranks == 4   ? 0.3
                                          : ranks == 2 ? 0.55
                                                       : 1,
                                          RingAlgorithm::automatic));
  const View view = view_of(input);
  EXPECT_EQ(rings_sentence(view),
            "Time of one rank / time of the fastest ring on the same work (above 1, the ring is faster): "
            "on 2 ranks 1.82 to 1.82 in 2 cases; on 4 ranks 3.33 to 3.33 in 2 cases.");
  const Table table = rings_table(view);
  ASSERT_EQ(table.rows.size(), 6u);
  for (std::size_t row = 0; row < 6; ++row)
    EXPECT_EQ(cell(table, row, "ring_size"), std::to_string(1 << row % 3)) << "by ring size";
  EXPECT_EQ(cell(table, 0, "speedup"), "") << "one rank is not held against itself";
  EXPECT_NEAR(number(table, 2, "speedup"), 1 / 0.3, 1e-9);
  EXPECT_NEAR(number(table, 2, "efficiency"), 1 / 0.3, 1e-9) << "ranks share the threads of the one rank";
  EXPECT_NEAR(number(table, 5, "efficiency"), 1 / 0.3 / 4, 1e-9) << "four GPUs";
  EXPECT_LT(number(table, 5, "efficiency_low"), number(table, 5, "efficiency"));
  EXPECT_GT(number(table, 5, "efficiency_high"), number(table, 5, "efficiency"));
  EXPECT_EQ(number(table, 1, "comm_bytes"), 4e6);
  EXPECT_EQ(number(table, 1, "overlap"), 0.75);
  EXPECT_EQ(cell(table, 1, "exchange_ns"), "");
}

TEST(Rings, SayThatALinkIsEmulated) {
  ReportInput input;
  input.records.push_back(ring_record(ring_work(8192, 4), "linear", 1, RingAlgorithm::hierarchical));
  const auto columns_of = [&] {
    std::string all;
    for (const auto& column : rings_table(view_of(input)).columns) all += column.key + " ";
    return all;
  };
  EXPECT_EQ(columns_of().find("outer_link"), std::string::npos) << "no link is slow";
  Record slow = ring_record(ring_work(8192, 4), "linear", 2, RingAlgorithm::ring);
  slow.variant.ring.outer_link = OuterLink::emulated_host;
  slow.variant.ring.groups = 2;
  slow.variant_id = variant_id(slow.variant);
  slow.counters["ring_link_between"] = {.value = 12.34, .unit = "GB/s", .source = "measured"};
  input.records.push_back(slow);
  const Table table = rings_table(view_of(input));
  ASSERT_EQ(table.rows.size(), 2u);
  const std::size_t row = cell(table, 0, "variant") == "dilated/linear/ring.2.emulated_host" ? 0 : 1;
  EXPECT_EQ(cell(table, row, "variant"), "dilated/linear/ring.2.emulated_host");
  EXPECT_EQ(cell(table, row, "outer_link"), "emulated, 12.3 GB/s");
  EXPECT_EQ(number(table, row, "link_between_gb_per_s"), 12.34);
  EXPECT_EQ(cell(table, 1 - row, "outer_link"), "");
}

TEST(Rings, StandBesideWhatIsPredictedOfThem) {
  ReportInput input;
  for (const std::int64_t ranks : {1, 2, 4})
    input.records.push_back(ring_record(ring_work(8192, ranks), "linear", 1.0 / static_cast<double>(ranks),
                                        RingAlgorithm::automatic));
  for (const std::int64_t ranks : {2, 4, 8})
    input.predictions.push_back({.work = ring_work(8192, ranks),
                                 .variant_id = "dilated/linear",
                                 .ns = 1e6 * static_cast<double>(ranks),
                                 .ci_ns = {0.5e6, 9e6},
                                 .sent_bytes = 4e6,
                                 .hidden = 0.5,
                                 .fitted = ranks == 2});
  const View view = view_of(input);
  const Table table = rings_table(view);
  ASSERT_EQ(table.rows.size(), 3u) << "what was not measured has no row";
  EXPECT_EQ(cell(table, 0, "predicted_ns"), "");
  EXPECT_EQ(number(table, 1, "predicted_ns"), 2e6);
  EXPECT_EQ(cell(table, 1, "predicted_fitted"), "true");
  EXPECT_NE(cell(table, 1, "predicted").find("model fitted on it"), std::string::npos);
  EXPECT_EQ(number(table, 2, "predicted_ns"), 4e6);
  EXPECT_EQ(number(table, 2, "predicted_ns_high"), 9e6);
  EXPECT_EQ(number(table, 2, "predicted_overlap"), 0.5);
  EXPECT_EQ(cell(table, 2, "predicted_fitted"), "false");
}

TEST(Rings, StandBesideOneRankOnTheWorkOfOneRank) {
  ReportInput input;
  input.records.push_back(
      ring_record(ring_work(8192, 4, DeviceKind::cuda), "linear", 1.1, RingAlgorithm::ring_packed));
  // A quarter of the pairs: half the length and half the segment.
  input.records.push_back(
      ring_record(ring_work(4096, 1, DeviceKind::cuda), "linear", 1, RingAlgorithm::automatic));
  {
    const View view = view_of(input);
    const Table table = rings_table(view);
    ASSERT_EQ(table.rows.size(), 1u) << "work that no ring computed is left out";
    EXPECT_EQ(cell(table, 0, "speedup"), "");
    EXPECT_NEAR(number(table, 0, "efficiency_per_rank"), 1 / 1.1, 1e-9);
  }
  const auto per_rank = [&](auto change) {
    ReportInput other = input;
    change(other.records[1]);
    const View view = view_of(other);
    return cell(rings_table(view), 0, "efficiency_per_rank");
  };
  EXPECT_EQ(per_rank([](Record& alone) { *alone.flops *= 1.02; }), "") << "other work";
  EXPECT_EQ(per_rank([](Record& alone) { alone.work.pattern[0].dilation = 2; }), "") << "another pattern";
  EXPECT_EQ(per_rank([](Record& alone) { alone.work.mask = Mask::causal; }), "") << "another mask";
  EXPECT_EQ(per_rank([](Record& alone) { alone.status = Status::failed; }), "") << "no time";
}

TEST(Rings, ShowWhatWentOverNvlinkWhereItWasCounted) {
  ReportInput input;
  for (const std::int64_t ranks : {1, 2})
    input.records.push_back(
        ring_record(ring_work(8192, ranks, DeviceKind::cuda), "linear", 1, RingAlgorithm::automatic));
  const auto table = [&] {
    const View view = view_of(input);
    return rings_table(view);
  };
  for (const Column& column : table().columns) EXPECT_EQ(column.key.find("nvlink"), std::string::npos);
  input.records[1].counters["nvlink_received_data_bytes"] = {.value = 4.02e6, .unit = "B"};
  input.records[1].counters["nvlink_data_per_ring_byte"] = {.value = 1.005, .unit = "ratio"};
  EXPECT_EQ(cell(table(), 0, "nvlink_data_bytes"), "");
  EXPECT_EQ(number(table(), 1, "nvlink_data_bytes"), 4.02e6);
  EXPECT_EQ(number(table(), 1, "nvlink_data_per_ring_byte"), 1.005);
  EXPECT_EQ(cell(table(), 1, "nvlink_per_byte"), "1.005");
}

TEST(Rings, ThatWereSkippedHaveNoRowsOfOneRank) {
  ReportInput input;
  for (const std::int64_t ranks : {1, 2})
    input.records.push_back(ring_record(ring_work(8192, ranks), "linear", 1, RingAlgorithm::automatic));
  EXPECT_EQ(rings_table(view_of(input)).rows.size(), 2u);
  input.records[1].status = Status::skipped;
  input.records[1].time.reset();
  EXPECT_TRUE(rings_table(view_of(input)).rows.empty()) << "of a machine with one GPU";
}

TEST(Rings, AreASectionOfTheReportWhereThereAreAny) {
  ReportInput input = sample::input();
  const auto markdown = [&] {
    const View view = view_of(input);
    return to_markdown(document_of(view, {}, {}, {}));
  };
  EXPECT_EQ(markdown().find("Rings against one rank"), std::string::npos);
  for (const std::int64_t ranks : {1, 2})
    input.records.push_back(ring_record(ring_work(8192, ranks), "linear", 1, RingAlgorithm::automatic));
  EXPECT_NE(markdown().find("Rings against one rank"), std::string::npos);
  EXPECT_NE(markdown().find("75.0 %"), std::string::npos) << "hidden share of the exchange";
}

TEST(Rings, AreNotSaidToBeComparedWithOneRankIfNoneWasMeasured) {
  ReportInput input;
  const auto rings = [&] {
    const View view = view_of(input);
    for (const Section& section : document_of(view, {}, {}, {}).sections)
      if (section.id == "rings") return section.title + "\n" + to_markdown({.sections = {section}});
    return std::string();
  };
  for (const std::string_view order : {"linear", "hilbert"})
    input.records.push_back(ring_record(ring_work(8192, 4), order, 1, RingAlgorithm::automatic));
  const std::string alone = rings();
  EXPECT_TRUE(alone.starts_with("Rings\n")) << alone;
  EXPECT_NE(alone.find("| share of exchange hidden |"), std::string::npos) << alone;
  EXPECT_NE(alone.find("No speedup is known"), std::string::npos) << alone;
  for (const std::string_view absent :
       {"Speedup over", "fficiency", "rounds do not pair", "NVLink", "predicted"})
    EXPECT_EQ(alone.find(absent), std::string::npos) << alone;
  input.records.push_back(ring_record(ring_work(8192, 1), "linear", 4, RingAlgorithm::automatic));
  const std::string against_one = rings();
  EXPECT_TRUE(against_one.starts_with("Rings against one rank\n")) << against_one;
  for (const std::string_view shown : {"| speedup over one rank", "- Speedup over", "rounds do not pair"})
    EXPECT_NE(against_one.find(shown), std::string::npos) << against_one;
  EXPECT_EQ(against_one.find("same work per rank"), std::string::npos) << against_one;
  EXPECT_EQ(against_one.find("No speedup is known"), std::string::npos) << against_one;
}

std::vector<ClaimAnswer> answers_to(const std::vector<ClaimRow>& claims, const View& view,
                                    std::string_view id, Quantity quantity) {
  std::vector<ClaimAnswer> chosen;
  for (const ClaimAnswer& answer : answer_claims(claims, view))
    if (answer.claim->claim_id == id && answer.claim->quantity == quantity) chosen.push_back(answer);
  return chosen;
}

TEST(RingClaims, CommunicationIsJudgedByTheBytesCounted) {
  const std::vector<ClaimRow> claims = load_claims({});
  ReportInput input;
  input.records.push_back(ring_record(ring_work(8192, 1), "hilbert", 1, RingAlgorithm::automatic));
  const auto answer = [&] {
    const View view = view_of(input);
    const auto found = answers_to(claims, view, "analysis-theory", Quantity::communication);
    EXPECT_EQ(found.size(), 1u);
    return found.at(0);
  };
  EXPECT_EQ(answer().verdict, ClaimVerdict::not_testable);
  EXPECT_TRUE(answer().why.starts_with("not tested here: ")) << answer().why;
  for (const RingAlgorithm algorithm : {RingAlgorithm::automatic, RingAlgorithm::ring_packed})
    for (const std::string_view order : {"linear", "hilbert"})
      input.records.push_back(ring_record(ring_work(8192, 4), order, 1, algorithm));
  EXPECT_EQ(answer().verdict, ClaimVerdict::no_gain);
  EXPECT_EQ(answer().measured->ratio, 1);
  EXPECT_NE(answer().why.find("of 2 rings"), std::string::npos) << answer().why;
  EXPECT_NE(answer().why.find("sends 0.250 to 0.250 of the bytes of whole shards"), std::string::npos)
      << answer().why;
  for (Record& record : input.records)
    if (record.variant.kernel().order == "hilbert") *record.comm_bytes *= 0.85;
  EXPECT_EQ(answer().verdict, ClaimVerdict::reproduced);
}

TEST(RingClaims, ARingThatStatesNoPatternIsAnsweredByItsLengthAndSize) {
  const std::vector<ClaimRow> claims = load_claims({});
  ReportInput input;
  const auto answer = [&](std::size_t nth) {
    const View view = view_of(input);
    return answers_to(claims, view, "analysis-projection", Quantity::speedup).at(nth);
  };
  input.records.push_back(ring_record(ring_work(8192, 2), "linear", 1, RingAlgorithm::automatic));
  EXPECT_EQ(answer(0).verdict, ClaimVerdict::not_testable);
  EXPECT_EQ(answer(0).why,
            "not tested here: states no segments or dilations, and no case here of 8192 positions on 4 ranks "
            "has both linear and hilbert order; `hilbench predict` projects it");
  input.records.push_back(ring_record(ring_work(8192, 4), "linear", 1.2, RingAlgorithm::automatic));
  input.records.push_back(ring_record(ring_work(8192, 4), "hilbert", 1, RingAlgorithm::automatic));
  EXPECT_EQ(answer(0).verdict, ClaimVerdict::reproduced);
  EXPECT_NE(answer(0).why.find("over the one case here of 8192 positions on 4 ranks"), std::string::npos);
  EXPECT_EQ(answer(1).verdict, ClaimVerdict::not_testable) << "32768 positions on 8 ranks";
}

TEST(RingClaims, LengthsAreAnsweredOnDevicesOfTheClaimedSizeOnly) {
  const std::vector<ClaimRow> claims = load_claims({});
  ReportInput input;
  input.records.push_back(
      ring_record(ring_work(851968, 2, DeviceKind::cuda), "linear", 1, RingAlgorithm::automatic));
  const auto verdict = [&](double bytes) {
    (*input.records[0].environment)["device"] = {{"name", "GPU"}, {"memory_bytes", bytes}};
    const View view = view_of(input);
    const auto found = answers_to(claims, view, "scaling-projection", Quantity::longest);
    EXPECT_EQ(found.size(), 7u);
    EXPECT_EQ(found.at(0).verdict, ClaimVerdict::not_testable) << "one device";
    return found.at(1).verdict;
  };
  EXPECT_EQ(verdict(8.5e9), ClaimVerdict::reproduced);
  EXPECT_EQ(verdict(141e9), ClaimVerdict::not_testable) << "a larger device proves nothing";
  input.records[0].work.sequence_length = 400'000;
  EXPECT_EQ(verdict(8.5e9), ClaimVerdict::smaller_than_claimed);
}

}  // namespace
}  // namespace hilbench
