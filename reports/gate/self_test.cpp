#include "reports/gate/self_test.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <stdexcept>

#include "reports/view/table.hpp"

namespace hilbench {
namespace {

constexpr double kUndecidedAllowed = 0.1;
constexpr double kFoundWanted = 0.95;
constexpr std::array<double, 3> kShownSlowdowns = {0.02, 0.05, 0.1};
constexpr std::array<double, 13> kThresholds = {0.005, 0.01,  0.015, 0.02, 0.025, 0.03, 0.04,
                                                0.05,  0.075, 0.1,   0.15, 0.25,  0.5};

class Drawing {
 public:
  Drawing(std::span<const EqualPairs> cases, std::size_t processes, std::uint64_t seed)
      : cases_(cases), processes_(processes), engine_(seed) {}

  GateVerdict verdict(const EqualPairs& of, double slowdown, const GateRule& rule) {
    const double added = std::log1p(slowdown);
    const auto draw = [&] { return of.slowdowns[engine_() % of.slowdowns.size()] + added; };
    return judge_drawn(draw, processes_, rule);
  }

  // Share of cases and draws with this verdict.
  double rate(GateVerdict wanted, double slowdown, std::size_t draws, const GateRule& rule) {
    std::size_t seen = 0;
    for (std::size_t i = 0; i < draws; ++i)
      for (const EqualPairs& each : cases_) seen += verdict(each, slowdown, rule) == wanted;
    return static_cast<double>(seen) / static_cast<double>(draws * cases_.size());
  }

 private:
  std::span<const EqualPairs> cases_;
  const std::size_t processes_;
  std::mt19937_64 engine_;
};

std::string percent(double share) {
  return fmt::format("{:.3g} %", 100 * share);
}

}  // namespace

SelfTest self_test(std::span<const EqualPairs> cases, double threshold, std::size_t processes,
                   std::size_t gates, std::uint64_t seed) {
  if (cases.empty()) throw std::invalid_argument("a self-test of no cases");
  SelfTest test{.pairs = cases.front().slowdowns.size(), .gates = gates, .threshold = threshold};
  std::vector<double> deviations;
  for (const EqualPairs& each : cases) {
    if (each.slowdowns.size() < 2) throw std::invalid_argument("a case with fewer than two pairs");
    test.pairs = std::min(test.pairs, each.slowdowns.size());
    const Mean mean = mean_of(each.slowdowns);
    deviations.push_back(mean.error * std::sqrt(mean.freedom + 1));
  }
  test.deviation = median(deviations);
  Drawing drawing(cases, processes, seed);
  const GateRule rule = gate_rule(threshold, cases.size());
  std::size_t alarms = 0, undecided = 0;
  for (std::size_t gate = 0; gate < gates; ++gate) {
    bool alarm = false;
    for (const EqualPairs& each : cases) {
      const GateVerdict verdict = drawing.verdict(each, 0, rule);
      alarm = alarm || verdict == GateVerdict::slower;
      undecided += verdict == GateVerdict::undecided;
    }
    alarms += alarm;
  }
  test.false_alarms = static_cast<double>(alarms) / static_cast<double>(gates);
  test.undecided = static_cast<double>(undecided) / static_cast<double>(gates * cases.size());
  const std::size_t draws = std::max<std::size_t>(gates / 10, 1);  // of every case
  for (const double slowdown : kShownSlowdowns)
    test.power.push_back({slowdown, drawing.rate(GateVerdict::slower, slowdown, draws, rule)});
  for (const double tried : kThresholds) {
    const GateRule at = gate_rule(tried, cases.size());
    if (drawing.rate(GateVerdict::undecided, 0, draws, at) > kUndecidedAllowed) continue;
    if (drawing.rate(GateVerdict::slower, 2 * tried, draws, at) < kFoundWanted) continue;
    test.supported = tried;
    break;
  }
  return test;
}

std::string equal_pairs_csv(std::span<const EqualPairs> cases) {
  std::string text = "case,variant,slowdown\r\n";
  for (const EqualPairs& each : cases)
    for (const double slowdown : each.slowdowns)
      text += fmt::format("{},{},{}\r\n", csv_field(each.case_id), csv_field(each.variant_id),
                          std::expm1(slowdown));
  return text;
}

std::string self_test_text(const SelfTest& test) {
  std::string text = test.supported
                         ? fmt::format("This machine supports a threshold of {} with these cases.\n",
                                       percent(*test.supported))
                         : std::string("This machine is too noisy: no threshold up to 50 % is supported.\n");
  text += fmt::format(
      "At the threshold {}: false alarms in {} of whole gates of equal builds, {} of cases undecided.\n",
      percent(test.threshold), percent(test.false_alarms), percent(test.undecided));
  for (const DetectionRate& rate : test.power)
    text += fmt::format("A slowdown of {} is found in {}.\n", percent(rate.slowdown), percent(rate.found));
  text += fmt::format(
      "Rates over {} gates drawn from {} measured pairs of processes a case, not that many real gates. A "
      "pair of processes differs by {} (standard deviation, median over cases).\n",
      test.gates, test.pairs, percent(test.deviation));
  return text;
}

}  // namespace hilbench
