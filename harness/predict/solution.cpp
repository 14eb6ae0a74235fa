#include "harness/predict/solution.hpp"

#include <algorithm>
#include <cmath>

#include "harness/predict/least_squares.hpp"
#include "reports/records/stats.hpp"

namespace hilbench {
namespace {

// One measured time that the model should give.
struct Observation {
  const RingShape* shape = nullptr;
  RingPart part = RingPart::all;
  double ns = 0;
  double weight = 1;  // of its squared relative error
};

// Noisy times have less weight. Below this relative noise all times have the same weight: the model is not
// more precise than that.
constexpr double kModelShare = 0.03;

std::vector<Observation> observations(const std::vector<const RingSample*>& samples) {
  std::vector<Observation> all;
  for (const RingSample* sample : samples) {
    const double spread = std::hypot(sample->relative, kModelShare);
    const auto add = [&](RingPart part, double ns) {
      all.push_back({&sample->shape, part, ns, kModelShare * kModelShare / (spread * spread)});
    };
    add(RingPart::all, sample->ns);
    if (sample->compute_ns) add(RingPart::computation, *sample->compute_ns);
    if (sample->exchange_ns) add(RingPart::exchange, *sample->exchange_ns);
  }
  return all;
}

double squared_errors(const std::vector<Observation>& observed, const RingModel& model) {
  double sum = 0;
  for (const Observation& one : observed) {
    const double error = model_time(*one.shape, model, one.part).ns / one.ns - 1;
    sum += one.weight * error * error;
  }
  return sum;
}

struct Solution {
  RingModel model;
  double squares = 0;
};

// For a given `hidden`: linear least squares over the functions that are largest under the last solution,
// repeated until these functions stay the same.
Solution solve(const std::vector<Observation>& observed, RingModel from) {
  constexpr int kMostRounds = 12;
  constexpr double kSettled = 1e-6;
  Solution best{from, squared_errors(observed, from)};
  for (int round = 0; round < kMostRounds; ++round) {
    std::vector<std::vector<double>> rows;
    std::vector<double> wanted;
    for (const Observation& one : observed) {
      const Coefficients amounts = model_time(*one.shape, from, one.part).amounts;
      wanted.push_back(std::sqrt(one.weight));
      auto& row = rows.emplace_back();
      for (const double amount : amounts) row.push_back(wanted.back() * amount / one.ns);
    }
    const std::vector<double> solved = nonnegative_least_squares(rows, wanted);
    std::copy(solved.begin(), solved.end(), from.ns.begin());
    const double squares = squared_errors(observed, from);
    const bool settled = std::abs(squares - best.squares) <= kSettled * best.squares;
    if (squares < best.squares) best = {from, squares};
    if (settled) break;
  }
  return best;
}

RingModel first_guess(const std::vector<Observation>& observed) {
  constexpr auto kFlop = static_cast<std::size_t>(Coefficient::flop);
  constexpr auto kByte = static_cast<std::size_t>(Coefficient::byte);
  RingModel unit, model;
  unit.ns.fill(1);
  std::vector<double> flop, byte;
  for (const Observation& one : observed) {
    const Coefficients amounts = model_time(*one.shape, unit, one.part).amounts;
    if (one.part != RingPart::exchange && amounts[kFlop] > 0) flop.push_back(one.ns / amounts[kFlop]);
    if (one.part == RingPart::exchange && amounts[kByte] > 0) byte.push_back(one.ns / amounts[kByte]);
  }
  if (!flop.empty()) model.ns[kFlop] = median(flop);
  if (!byte.empty()) model.ns[kByte] = median(byte);
  return model;
}

// Finds `hidden` by golden section; it stays 0 if the times do not determine it.
Solution fit_from(const std::vector<Observation>& observed, RingModel guess) {
  constexpr double kGolden = 0.6180339887498949, kWorthIt = 0.995, kNarrow = 0.004;
  const Solution exposed = solve(observed, guess);
  const auto at = [&](double hidden) {
    guess = exposed.model;
    guess.hidden = hidden;
    return solve(observed, guess);
  };
  double low = 0, high = 1;
  Solution left = at(high - kGolden * (high - low)), right = at(low + kGolden * (high - low));
  while (high - low > kNarrow) {
    if (left.squares < right.squares) {
      high = right.model.hidden;
      right = left;
      left = at(high - kGolden * (high - low));
    } else {
      low = left.model.hidden;
      left = right;
      right = at(low + kGolden * (high - low));
    }
  }
  Solution best = exposed;
  for (const Solution& other : {left, right, at(1)})
    if (other.squares < kWorthIt * exposed.squares && other.squares < best.squares) best = other;
  return best;
}

}  // namespace

RingModel fitted_model(const std::vector<const RingSample*>& samples) {
  const std::vector<Observation> observed = observations(samples);
  return fit_from(observed, first_guess(observed)).model;
}

}  // namespace hilbench
