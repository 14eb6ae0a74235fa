#include "harness/costs/compare.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace hilbench {
namespace {

CostRow row(std::string name, double flops, double instructions) {
  CostRow row{.group = "case", .name = std::move(name)};
  for (const std::string_view planned : {cost::kFlops, cost::kMinBytes, cost::kMemoryBytes, cost::kCommBytes})
    row.costs[std::string(planned)] = {flops, ""};
  row.costs["instructions"] = {instructions, ""};
  return row;
}

CostTable table() {
  CostTable table{.sweep = "ci"};
  table.instructions.taken_with = {{"compiler", "GNU 12.2.0"}, {"instruction_set", "SSE4"}};
  table.instructions.tolerance = 0.001;
  table.variants = {row("linear", 1000, 10000), row("random", 1000, 20000)};
  CostRow kernel{.group = "sm_90a", .name = "f<64>"};
  kernel.costs["registers"] = {32, ""};
  table.kernels_basis.taken_with = {{"compiler", "nvcc 13.0.88"}};
  table.kernels = {kernel};
  table.device_code = {"nvcc 13.0.88", "-O3", {{"a.cu", "0a"}, {"b.cuh", "0b"}}};
  return table;
}

CostVerdict verdict(const CostTable& now, bool whole = true) {
  return compare_costs(table(), now, [=](const CostRow&) { return whole; });
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(Costs, EqualOnesAreAsAccepted) {
  const CostVerdict equal = verdict(table());
  EXPECT_EQ(exit_code(equal), ExitCode::done);
  EXPECT_EQ(equal.judged, 2 * 5u + 1);
  EXPECT_TRUE(equal.findings.empty());
  EXPECT_TRUE(equal.not_judged.empty());
  EXPECT_TRUE(contains(verdict_text(equal, "f.json"), "11 costs held against f.json: all are as accepted"));
}

TEST(Costs, ChangedGpuCodeIsNamed) {
  EXPECT_EQ(verdict(table()).changed_code, "");
  const auto changed = [](auto change) {
    CostTable now = table();
    change(now.device_code);
    EXPECT_EQ(exit_code(verdict(now)), ExitCode::done);  // only the costs decide
    return verdict(now).changed_code;
  };
  EXPECT_EQ(changed([](DeviceCode& code) { code.sources["b.cuh"] = "0c"; }), "b.cuh");
  EXPECT_EQ(changed([](DeviceCode& code) { code.sources["c.cu"] = "0c"; }), "c.cu");
  EXPECT_EQ(changed([](DeviceCode& code) { code.sources.erase("a.cu"); }), "a.cu");
  EXPECT_EQ(changed([](DeviceCode& code) { code.sources = {{"d.cu", "0d"}}; }), "a.cu and 2 others");
  EXPECT_EQ(changed([](DeviceCode& code) { code.flags = "-O2"; }), "its flags");
  EXPECT_EQ(changed([](DeviceCode& code) { code.compiler = "nvcc 12.9"; }), "its compiler");
  EXPECT_EQ(changed([](DeviceCode& code) { code = {}; }), "");  // a build that has not compiled it
}

TEST(Costs, GpuCodeIsWrittenAndReadAgain) {
  EXPECT_EQ(costs_from_json(costs_json(table()), "f.json").device_code, table().device_code);
  std::string older = costs_json(table());
  older.erase(older.find(",\n\"device_code\""));
  EXPECT_EQ(costs_from_json(older + "}", "f.json").device_code, DeviceCode{});
}

TEST(Costs, GrewBeyondTheToleranceIsNamedWithBothValues) {
  CostTable now = table();
  now.variants[0].costs["instructions"].value = 10010;  // just within
  EXPECT_EQ(exit_code(verdict(now)), ExitCode::done);
  EXPECT_TRUE(verdict(now).findings.empty());
  now.variants[0].costs["instructions"].value = 10011;
  const CostVerdict grew = verdict(now);
  EXPECT_EQ(exit_code(grew), ExitCode::failed);
  EXPECT_TRUE(contains(verdict_text(grew, "f.json"),
                       "worse: case/linear instructions grew from 10000 to 10011 (+0.11 %)"));
}

TEST(Costs, WhatWasSkippedWhenItWasAcceptedLacksNothing) {
  CostTable accepted = table(), now = table();
  for (CostTable* each : {&accepted, &now}) {
    each->variants[1].skip = "skip_when: dtype fp16";
    for (auto& [name, cost] : each->variants[1].costs) cost = {.reason = "skip_when: dtype fp16"};
  }
  const auto always = [](const CostRow&) { return true; };
  EXPECT_EQ(exit_code(compare_costs(accepted, now, always)), ExitCode::done);
  EXPECT_EQ(exit_code(compare_costs(table(), now, always)), ExitCode::failed) << "it was measured then";
}

TEST(Costs, OthersThanInstructionsHaveNoTolerance) {
  for (const std::string_view name : {cost::kFlops, cost::kMinBytes, cost::kMemoryBytes, cost::kCommBytes}) {
    CostTable now = table();
    *now.variants[1].costs[std::string(name)].value += 1;
    EXPECT_EQ(exit_code(verdict(now)), ExitCode::failed) << name;
  }
  CostTable now = table();
  now.kernels[0].costs["registers"].value = 33;
  EXPECT_EQ(exit_code(verdict(now)), ExitCode::failed);
  EXPECT_TRUE(contains(verdict_text(verdict(now), ""), "sm_90a/f<64> registers grew from 32 to 33"));
}

TEST(Costs, ShrankIsBetterAndAdvisesToAccept) {
  CostTable now = table();
  now.variants[0].costs["instructions"].value = 9000;
  const CostVerdict better = verdict(now);
  EXPECT_EQ(exit_code(better), ExitCode::done);
  const std::string text = verdict_text(better, "f.json");
  EXPECT_TRUE(contains(text, "better: case/linear instructions shrank from 10000 to 9000 (-10 %)"));
  EXPECT_TRUE(contains(text, "--accept"));
}

TEST(Costs, WhatLacksFails) {
  CostTable now = table();
  now.variants.pop_back();
  EXPECT_EQ(exit_code(verdict(now)), ExitCode::failed);
  EXPECT_TRUE(contains(verdict_text(verdict(now), ""), "lacks: case/random: it is not there any more"));
  EXPECT_EQ(exit_code(verdict(now, false)), ExitCode::done) << "--filter leaves it out on purpose";

  now = table();
  now.variants[0].costs["instructions"] = {{}, "it crashed"};
  EXPECT_EQ(exit_code(verdict(now)), ExitCode::failed);
  EXPECT_TRUE(contains(verdict_text(verdict(now), ""), "lacks: case/linear instructions: it crashed"));

  now = table();
  now.variants[0].skip = "does not fit";
  EXPECT_EQ(exit_code(verdict(now)), ExitCode::failed);
  now.variants[0].needs_a_gpu = true;
  EXPECT_EQ(exit_code(verdict(now)), ExitCode::done) << "this machine may have no GPU";
  EXPECT_TRUE(contains(verdict_text(verdict(now), ""), "not judged: case/linear: does not fit"));
}

TEST(Costs, ABuildForFewerArchitecturesLacksNothing) {
  CostTable now = table();
  now.kernels[0].name = "g";
  EXPECT_TRUE(contains(verdict_text(verdict(now), ""), "lacks: sm_90a/f<64>"));
  now.kernels[0].group = "sm_80";
  EXPECT_EQ(exit_code(verdict(now)), ExitCode::done);
}

TEST(Costs, WhatIsNewIsNamed) {
  CostTable now = table();
  now.variants.push_back(row("hilbert", 1000, 1));
  now.variants[0].costs["spilled_bytes"] = {5, ""};
  EXPECT_EQ(exit_code(verdict(now)), ExitCode::done);
  const std::string text = verdict_text(verdict(now), "");
  EXPECT_TRUE(contains(text, "new: case/hilbert\n"));
  EXPECT_TRUE(contains(text, "new: case/linear spilled_bytes\n"));
}

TEST(Costs, AnotherCompilerIsSaidAndNotJudged) {
  CostTable now = table();
  now.instructions.taken_with["compiler"] = "Clang 14.0.6";
  now.variants[0].costs["instructions"].value = 99999;
  now.kernels_basis.taken_with["compiler"] = "nvcc 12.6.20";
  now.kernels[0].costs["registers"].value = 255;
  const CostVerdict other = verdict(now);
  EXPECT_EQ(exit_code(other), ExitCode::done);
  EXPECT_EQ(other.judged, 2 * 4u) << "all but the instructions";
  const std::string text = verdict_text(other, "");
  EXPECT_TRUE(contains(
      text, "not judged: instructions: accepted with compiler 'GNU 12.2.0', here it is 'Clang 14.0.6'"));
  EXPECT_TRUE(contains(
      text, "not judged: GPU kernels: accepted with compiler 'nvcc 13.0.88', here it is 'nvcc 12.6.20'"));
}

TEST(Costs, WithoutValgrindInstructionsAreNotJudged) {
  CostTable now = table();
  now.instructions = {.absence = "no valgrind"};
  for (CostRow& each : now.variants) each.costs["instructions"] = {{}, "no valgrind"};
  EXPECT_EQ(exit_code(verdict(now)), ExitCode::done);
  EXPECT_TRUE(contains(verdict_text(verdict(now), ""), "not judged: instructions: no valgrind"));
}

TEST(Costs, NothingJudgedIsInconclusive) {
  CostTable accepted = table();
  for (CostRow& each : accepted.variants)
    std::erase_if(each.costs, [](const auto& one) { return one.first != cost::kInstructions; });
  CostTable now = accepted;
  now.instructions.taken_with["instruction_set"] = "NEON";
  now.kernels_basis = {.absence = "this build has no CUDA code"};
  const CostVerdict none = compare_costs(accepted, now, [](const CostRow&) { return true; });
  EXPECT_EQ(exit_code(none), ExitCode::inconclusive);
  EXPECT_TRUE(contains(verdict_text(none, "f.json"), "nothing could be judged here"));
}

TEST(Costs, AFileHoldsThemAll) {
  CostTable before = table();
  before.variants[0].costs["memory_bytes"] = {{}, "why"};
  before.variants[0].costs["flops"] = {67108864.0 * 1e6, ""};
  const CostTable after = costs_from_json(costs_json(before), "f.json");
  EXPECT_EQ(after.sweep, "ci");
  EXPECT_EQ(after.instructions.taken_with, before.instructions.taken_with);
  EXPECT_EQ(after.instructions.tolerance, 0.001);
  EXPECT_EQ(after.kernels_basis.taken_with, before.kernels_basis.taken_with);
  ASSERT_EQ(after.variants.size(), 2u);
  EXPECT_EQ(after.variants[0].costs.at("flops").value, 67108864.0 * 1e6);
  EXPECT_FALSE(after.variants[0].costs.at("memory_bytes").value);
  EXPECT_EQ(costs_json(after), costs_json(before));
}

TEST(Costs, DamagedFilesAreRefused) {
  const std::string good = costs_json(table());
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, text.npos) << from;
    return text.replace(at, from.size(), to);
  };
  for (const std::string& bad :
       {std::string("{}"), std::string("[]"), std::string(""), good.substr(0, good.size() / 2),
        with("\"schema\": 1", "\"schema\": 2"), with("\"sweep\": \"ci\"", "\"sweep\": 3"), with("0.001", "7"),
        with(":1000", ":-1000"), with(":1000", ":\"many\""), with("\"random\"", "\"linear\""),
        with("\"variant\"", "\"variety\"")})
    EXPECT_THROW(costs_from_json(bad, "f.json"), UsageError) << bad;
}

}  // namespace
}  // namespace hilbench
