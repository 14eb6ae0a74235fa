#include "reports/site/poster.hpp"

#include <gtest/gtest.h>

#include <string>

namespace hilbench {
namespace {

ClaimEntry entry(double claimed, double measured, bool other_dtype = false) {
  return {.claim = "a",
          .compares = "kernel time",
          .gain = true,
          .other_dtype = other_dtype,
          .own_sweep = true,
          .claimed = claimed,
          .case_words = "8 positions, 4/2",
          .measured = measured,
          .ci = {measured - 0.05, measured + 0.05}};
}

MachineOverview machine(const std::string& name, std::vector<ClaimEntry> claims) {
  MachineOverview made{.name = name, .address = "machines/" + name};
  made.sweeps.push_back({.name = "s", .processors = {name}, .cores = 2, .claims = std::move(claims)});
  return made;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(Poster, HasARowForEachClaimTheLargestFirst) {
  ClaimEntry other = entry(1.5, 1.01);
  other.case_words = "16 <b> positions";
  const std::string svg =
      poster_svg({machine("A", {entry(7.95, 0.98), other}), machine("B", {entry(7.95, 0.2)})});
  EXPECT_LT(svg.find("8 positions, 4/2"), svg.find("16 &lt;b&gt; positions"));
  EXPECT_EQ(count(svg, "8 positions, 4/2"), 1u) << "two machines share the row of a claim";
  EXPECT_NE(svg.find(">7.95</text>"), std::string::npos);
  EXPECT_NE(svg.find(">A, 2 cores</text>"), std::string::npos);
  EXPECT_NE(svg.find(">0.25</text>"), std::string::npos) << "the axis reaches the lowest interval";
  EXPECT_EQ(svg.find("hollow"), std::string::npos);
}

TEST(Poster, ShowsOtherDtypesHollowBesideThatOfTheClaim) {
  const std::string svg = poster_svg({machine("A", {entry(2, 0.98), entry(2, 0.9, true)})});
  EXPECT_NE(svg.find("hollow: in another dtype than claimed"), std::string::npos);
  EXPECT_EQ(poster_svg({machine("A", {entry(2, 0.9, true)})}), "") << "no test of the claim";
}

TEST(Poster, BreaksALongLegend) {
  std::vector<MachineOverview> machines;
  for (const char* name : {"AMD EPYC", "Intel Xeon", "MMMMMMMMMMMMMMMM", "WWWWWWWWWWWWWWWW", "E"})
    machines.push_back(machine(name, {entry(2, 0.98)}));
  const std::string svg = poster_svg(machines);
  EXPECT_NE(svg.find("y=\"50.5\""), std::string::npos);
  EXPECT_NE(svg.find("y=\"70.5\""), std::string::npos) << "a second line";
}

TEST(Poster, LeavesOutWhatIsNoClaimedSpeedupOfItsSweep) {
  ClaimEntry loss = entry(2, 0.9), foreign = entry(2, 0.9), paper = entry(2, 0.9);
  loss.gain = false;
  foreign.own_sweep = false;
  paper.of_paper = true;
  EXPECT_EQ(poster_svg({machine("A", {loss, foreign, paper, entry(1.05, 0.9)})}), "");
  EXPECT_EQ(poster_svg({}), "");
}

}  // namespace
}  // namespace hilbench
