#include "harness/ring_fit.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "harness/error.hpp"
#include "harness/least_squares.hpp"
#include "harness/stats.hpp"

namespace hilbench {
namespace {

constexpr std::size_t kFewestCases = 3;

std::optional<double> counter_of(const Record& record, const char* name) {
  const auto found = record.counters.find(name);
  if (found == record.counters.end() || !found->second.value || *found->second.value <= 0)
    return std::nullopt;
  return found->second.value;
}

std::string machine_of(const Record& record) {
  const char* part = record.work.device == DeviceKind::cuda ? "device" : "host";
  const char* key = record.work.device == DeviceKind::cuda ? "name" : "cpu";
  const nlohmann::json& environment = record.environment;
  if (!environment.is_object() || !environment.contains(part)) return "";
  const nlohmann::json& inside = environment[part];
  return inside.is_object() && inside.contains(key) && inside[key].is_string()
             ? one_line(inside[key].get<std::string>())
             : "";
}

bool usable(const Record& record) {
  const VariantSpec& variant = record.variant;
  return record.kind == RecordKind::kernel && record.status == Status::ok && record.time &&
         record.time->median_ns > 0 && foreign_processes(record) == 0 && record.work.pass == Pass::forward &&
         variant.order_scope == OrderScope::memory && variant.buffers == Buffers::pooled &&
         variant.index == IndexUse::cached && !ring_unsupported(record.work, variant);
}

// One measured time that the model is to give.
struct Observation {
  const RingShape* shape = nullptr;
  RingPart part = RingPart::all;
  double ns = 0;
  double weight = 1;  // of its squared relative error
};

// Noisy times count for less; below this share of the time they all count alike, as the model is no better.
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

// For given `hidden`: linear least squares over the functions that are largest under the last solution, until
// those stay the same.
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

// A tile's walk is guessed to be as long as the times allow: guessed too short, it would never be the longer
// part of a piece, and the times would tell nothing of it.
RingModel first_guess(const std::vector<Observation>& observed) {
  constexpr auto kFlop = static_cast<std::size_t>(Coefficient::flop);
  constexpr auto kByte = static_cast<std::size_t>(Coefficient::byte);
  constexpr auto kTile = static_cast<std::size_t>(Coefficient::tile);
  RingModel unit, tiles, model;
  unit.ns.fill(1);
  tiles.ns[kTile] = 1;
  std::vector<double> flop, byte, tile;
  for (const Observation& one : observed) {
    const Coefficients amounts = model_time(*one.shape, unit, one.part).amounts;
    if (one.part != RingPart::exchange && amounts[kFlop] > 0) flop.push_back(one.ns / amounts[kFlop]);
    const double walked = one.part == RingPart::exchange ? 0 : model_time(*one.shape, tiles, one.part).ns;
    if (walked > 0) tile.push_back(one.ns / walked);
    if (one.part == RingPart::exchange && amounts[kByte] > 0) byte.push_back(one.ns / amounts[kByte]);
  }
  if (!flop.empty()) model.ns[kFlop] = median(flop);
  if (!byte.empty()) model.ns[kByte] = median(byte);
  if (!tile.empty()) model.ns[kTile] = *std::min_element(tile.begin(), tile.end());
  return model;
}

// `hidden` by golden section; it stays 0 where the times do not tell it.
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

// A tile's walk counts where it explains the times clearly better.
RingModel fit(const std::vector<const RingSample*>& samples) {
  constexpr double kWorthIt = 0.9;
  const std::vector<Observation> observed = observations(samples);
  const RingModel guess = first_guess(observed);
  RingModel without = guess;
  without.ns[static_cast<std::size_t>(Coefficient::tile)] = 0;
  const Solution plain = fit_from(observed, without);
  if (!samples.front()->shape.fills_device) return plain.model;
  const Solution walking = fit_from(observed, guess);
  return walking.squares < kWorthIt * plain.squares ? walking.model : plain.model;
}

void require_rings(const RingGroup& group, const std::vector<const RingSample*>& fitted,
                   const std::set<std::int64_t>& ranks) {
  const bool exchanged = std::any_of(fitted.begin(), fitted.end(), [](const RingSample* sample) {
    return sample->record->work.ring_size > 1 && sample->shape.sent_bytes > 0;
  });
  if (!exchanged)
    throw UsageError({.what = "no rings to fit on",
                      .where = group.text(),
                      .why = fmt::format("no record in linear order at ring size {} exchanged anything",
                                         fmt::join(ranks, ", ")),
                      .remedy = "measure some, as sweeps/ring/threads.yaml does, or name others with "
                                "--fit-ranks"});
}

}  // namespace

std::string RingGroup::text() const {
  return fmt::format("{}, {}, head_dim {}, on {}", kernel, to_string(dtype), head_dim,
                     machine.empty() ? "a machine that the records do not name" : machine);
}

std::map<RingGroup, std::vector<RingSample>> ring_samples(const std::vector<Record>& records) {
  std::map<RingGroup, std::vector<RingSample>> groups;
  for (const Record& record : records) {
    if (!usable(record)) continue;
    const RingGroup group{machine_of(record), record.kernel, record.work.dtype, record.work.head_dim,
                          record.work.device};
    RingSample sample{
        .record = &record,
        .shape = ring_shape(record.work, record.variant, std::max<std::int64_t>(1, record.threads)),
        .ns = record.time->median_ns,
        .relative = (record.time->ci_ns.high - record.time->ci_ns.low) / 2 / record.time->median_ns};
    if (record.work.ring_size > 1) {
      sample.compute_ns = counter_of(record, "ring_compute_ns");
      sample.exchange_ns = counter_of(record, "ring_exchange_ns");
    }
    groups[group].push_back(std::move(sample));
  }
  return groups;
}

Errors errors_of(std::vector<double> relative) {
  if (relative.empty()) return {};
  for (double& error : relative) error = std::abs(error);
  return {relative.size(), median(relative), *std::max_element(relative.begin(), relative.end())};
}

RingShape scaled_computation(RingShape shape, double factor) {
  for (auto& steps : shape.ranks)
    for (RingShape::Step& step : steps)
      for (Coefficients& piece : step.pieces)
        for (double& amount : piece) amount *= factor;
  return shape;
}

RingFit::RingFit(const RingGroup& group, std::vector<RingSample> samples, const std::set<std::int64_t>& ranks)
    : group_(group), samples_(std::move(samples)), ranks_(ranks) {
  for (const RingSample& sample : samples_)
    if (sample.record->variant.order == "linear" && linear_.empty())
      linear_ = one_rank_id(sample.record->variant);
  std::vector<const RingSample*> fitted_samples;
  std::set<std::string> cases;
  for (const RingSample& sample : samples_)
    if (fitted(sample)) {
      fitted_samples.push_back(&sample);
      cases.insert(sample.record->case_id);
    }
  require_rings(group_, fitted_samples, ranks_);
  if (cases.size() < kFewestCases)
    throw UsageError(
        {.what = fmt::format("{} cases are too few to fit on", cases.size()),
         .where = group_.text(),
         .why = fmt::format("the intervals come from leaving one out; at least {}", kFewestCases),
         .remedy = "measure more lengths or patterns"});
  fitted_count_ = fitted_samples.size();
  model_ = fit(fitted_samples);
  std::vector<double> residuals, left_out;
  double squares = 0;
  for (const RingSample* sample : fitted_samples)
    residuals.push_back(model_time(sample->shape, model_).ns / sample->ns - 1);
  for (const std::string& out : cases) {
    std::vector<const RingSample*> others;
    for (const RingSample* sample : fitted_samples)
      if (sample->record->case_id != out) others.push_back(sample);
    left_out_.push_back(fit(others));
    for (const RingSample* sample : fitted_samples) {
      if (sample->record->case_id != out) continue;
      const double ratio = model_time(sample->shape, left_out_.back()).ns / sample->ns;
      left_out.push_back(ratio - 1);
      squares += std::log(ratio) * std::log(ratio);
    }
  }
  unexplained_ = std::sqrt(squares / static_cast<double>(left_out.size()));
  residuals_ = errors_of(std::move(residuals));
  left_out_errors_ = errors_of(std::move(left_out));
  fit_orders();
}

bool RingFit::fitted(const RingSample& sample) const {
  return ranks_.contains(sample.record->work.ring_size) && one_rank_id(sample.record->variant) == linear_;
}

// Tukey's jackknife (Ann. Math. Stat. 29 (1958) 614): variance (g - 1)/g times the squares around the mean.
Estimate RingFit::around(double value, const std::vector<double>& of_left_out, double unexplained) const {
  const auto count = static_cast<double>(of_left_out.size());
  double mean = 0, squares = 0;
  for (const double one : of_left_out) mean += one / count;
  for (const double one : of_left_out) squares += (one - mean) * (one - mean);
  const double deviation = std::sqrt((count - 1) / count * squares + unexplained * unexplained);
  const double half = student_95(of_left_out.size() - 1) * deviation;
  return {value, {value - half, value + half}};
}

Estimate RingFit::coefficient(Coefficient which) const {
  const auto i = static_cast<std::size_t>(which);
  std::vector<double> others;
  for (const RingModel& model : left_out_) others.push_back(model.ns[i]);
  Estimate estimate = around(model_.ns[i], others, 0);
  estimate.ci.low = std::max(0.0, estimate.ci.low);
  return estimate;
}

Estimate RingFit::hidden() const {
  std::vector<double> others;
  for (const RingModel& model : left_out_) others.push_back(model.hidden);
  const Estimate estimate = around(model_.hidden, others, 0);
  return {estimate.value, {std::max(0.0, estimate.ci.low), std::min(1.0, estimate.ci.high)}};
}

double RingFit::factor_of(const std::string& variant) const {
  const auto found = orders_.find(variant);
  return found == orders_.end() ? 1 : found->second.factor.value;
}

Estimate RingFit::time(const RingShape& shape, const std::string& variant) const {
  const RingShape scaled = scaled_computation(shape, factor_of(variant));
  std::vector<double> others;
  for (const RingModel& model : left_out_) others.push_back(std::log(model_time(scaled, model).ns));
  const double ns = model_time(scaled, model_).ns;
  const Estimate logarithm = around(std::log(ns), others, unexplained_);
  return {ns, {std::exp(logarithm.ci.low), std::exp(logarithm.ci.high)}};
}

std::optional<Estimate> RingFit::speedup_over_linear(const RingShape& shape,
                                                     const std::string& variant) const {
  const auto found = orders_.find(variant);
  if (found == orders_.end()) return std::nullopt;
  const double linear = model_time(shape, model_).ns;
  const auto over = [&](double factor) {
    return linear / model_time(scaled_computation(shape, factor), model_).ns;
  };
  const Estimate& factor = found->second.factor;
  return Estimate{over(factor.value), {over(factor.ci.high), over(std::max(0.0, factor.ci.low))}};
}

// From each comparison that holds an order beside linear order with the same ring options: the factor with
// which the model gives the measured ratio of their times, so that errors that both share fall away.
void RingFit::fit_orders() {
  std::map<std::string, std::vector<double>> factors;
  for (const RingSample& sample : samples_) {
    const std::string id = one_rank_id(sample.record->variant);
    if (!ranks_.contains(sample.record->work.ring_size) || id == linear_) continue;
    const auto twin = std::find_if(samples_.begin(), samples_.end(), [&](const RingSample& other) {
      const VariantSpec &a = sample.record->variant, &b = other.record->variant;
      return fitted(other) && other.record->case_id == sample.record->case_id &&
             a.ring_algorithm == b.ring_algorithm && a.sharding == b.sharding && a.order_span == b.order_span;
    });
    if (twin == samples_.end()) continue;
    const double wanted = sample.ns / twin->ns * model_time(twin->shape, model_).ns;
    double low = 0, high = 2 * wanted / model_time(twin->shape, model_, RingPart::computation).ns + 2;
    for (int halving = 0; halving < 50; ++halving) {
      const double middle = (low + high) / 2;
      (model_time(scaled_computation(twin->shape, middle), model_).ns < wanted ? low : high) = middle;
    }
    factors[id].push_back((low + high) / 2);
  }
  for (auto& [id, each] : factors) {
    if (each.size() < 2) continue;
    const auto count = static_cast<double>(each.size());
    double mean = 0, squares = 0;
    for (const double one : each) mean += one / count;
    for (const double one : each) squares += (one - mean) * (one - mean);
    const double half = student_95(each.size() - 1) * std::sqrt(squares / (count - 1) / count);
    orders_[id] = {{mean, {std::max(0.0, mean - half), mean + half}}, each.size()};
  }
}

}  // namespace hilbench
