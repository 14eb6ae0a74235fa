#include "harness/predict/fit.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "harness/predict/least_squares.hpp"
#include "harness/predict/solution.hpp"
#include "kernels/base/text/error.hpp"
#include "reports/records/stats.hpp"
#include "reports/records/student.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

constexpr std::size_t kFewestCases = 3;

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
    if (sample.record->variant.kernel().order == "linear" && linear_.empty())
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
    throw UsageError({.what = plural(cases.size(), "case is", "cases are") + " too few to fit on",
                      .where = group_.text(),
                      .why = fmt::format("intervals come from leaving one case out, which needs at least {}",
                                         kFewestCases),
                      .remedy = "measure more lengths or patterns"});
  fitted_count_ = fitted_samples.size();
  model_ = fitted_model(fitted_samples);
  std::vector<double> residuals;
  for (const RingSample* sample : fitted_samples)
    residuals.push_back(model_time(sample->shape, model_).ns / sample->ns - 1);
  residuals_ = errors_of(std::move(residuals));
  leave_out(fitted_samples, cases);
  fit_orders();
}

// Leaves out each comparison in turn, fits on the others, and compares that model with the times left out.
void RingFit::leave_out(const std::vector<const RingSample*>& fitted_samples,
                        const std::set<std::string>& cases) {
  std::vector<double> left_out;
  double squares = 0;
  for (const std::string& out : cases) {
    std::vector<const RingSample*> others;
    for (const RingSample* sample : fitted_samples)
      if (sample->record->case_id != out) others.push_back(sample);
    left_out_.push_back(fitted_model(others));
    for (const RingSample* sample : fitted_samples) {
      if (sample->record->case_id != out) continue;
      const double ratio = model_time(sample->shape, left_out_.back()).ns / sample->ns;
      left_out.push_back(ratio - 1);
      squares += std::log(ratio) * std::log(ratio);
    }
  }
  unexplained_ = std::sqrt(squares / static_cast<double>(left_out.size()));
  left_out_errors_ = errors_of(std::move(left_out));
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
  const double half = student_quantile(0.975, count - 1) * deviation;
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

// For each comparison that holds an order and linear order with the same ring options: the factor with which
// the model gives the measured ratio of their times, so that errors that both share cancel out.
void RingFit::fit_orders() {
  std::map<std::string, std::vector<double>> factors;
  for (const RingSample& sample : samples_) {
    const std::string id = one_rank_id(sample.record->variant);
    if (!ranks_.contains(sample.record->work.ring_size) || id == linear_) continue;
    const auto twin = std::find_if(samples_.begin(), samples_.end(), [&](const RingSample& other) {
      return fitted(other) && other.record->case_id == sample.record->case_id &&
             variant_that_ran(*sample.record).ring == variant_that_ran(*other.record).ring;
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
    const double half = student_quantile(0.975, count - 1) * std::sqrt(squares / (count - 1) / count);
    orders_[id] = {{mean, {std::max(0.0, mean - half), mean + half}}, each.size()};
  }
}

}  // namespace hilbench
