// The model of model.hpp, fitted on stored records, with the errors and intervals of what it predicts.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "harness/predict/model.hpp"
#include "harness/predict/samples.hpp"
#include "reports/records/record.hpp"

namespace hilbench {

struct Estimate {
  double value = 0;
  Interval ci;  // 95 %
};

// The factor by which an order (or traversal) other than linear multiplies the time of the computation.
struct OrderFactor {
  Estimate factor;
  std::size_t pairs = 0;  // pairs with linear order that it comes from, each in one comparison
};

struct Errors {
  std::size_t count = 0;
  double median = 0, worst = 0;  // |predicted / measured - 1|
};
Errors errors_of(std::vector<double> relative);

class RingFit {
 public:
  // Least squares of relative errors over the samples in linear order whose ring size is in `ranks`. Throws
  // UsageError if they do not determine a model: no ring that exchanged anything, or fewer than three cases.
  RingFit(const RingGroup& group, std::vector<RingSample> samples, const std::set<std::int64_t>& ranks);

  const RingGroup& group() const { return group_; }
  const RingModel& model() const { return model_; }
  const std::vector<RingSample>& samples() const { return samples_; }
  bool fitted(const RingSample& sample) const;
  std::size_t fitted_count() const { return fitted_count_; }
  std::size_t cases() const { return left_out_.size(); }  // comparisons that were fitted on

  // Values with intervals from the jackknife over comparisons: a coefficient, and `hidden`.
  Estimate coefficient(Coefficient which) const;
  Estimate hidden() const;
  // A time, with the interval in which one new measurement is expected: it covers how the prediction changes
  // when comparisons are left out, and the errors for the comparisons left out.
  Estimate time(const RingShape& shape, const std::string& variant) const;
  // Time of linear order divided by the time of `variant` in the same ring; both exchange the same.
  std::optional<Estimate> speedup_over_linear(const RingShape& shape, const std::string& variant) const;

  const std::map<std::string, OrderFactor>& orders() const { return orders_; }
  const Errors& residuals() const { return residuals_; }  // errors of the fitted times
  const Errors& left_out() const { return left_out_errors_; }

 private:
  double factor_of(const std::string& variant) const;
  void leave_out(const std::vector<const RingSample*>& fitted_samples, const std::set<std::string>& cases);
  void fit_orders();
  Estimate around(double value, const std::vector<double>& of_left_out, double unexplained) const;

  RingGroup group_;
  std::vector<RingSample> samples_;
  std::set<std::int64_t> ranks_;
  std::string linear_;  // id of the variant (linear order) that the model is fitted on
  std::size_t fitted_count_ = 0;
  RingModel model_;
  std::vector<RingModel> left_out_;  // one for each comparison, fitted without it
  double unexplained_ = 0;           // root mean square of ln(predicted / measured) for comparisons left out
  Errors residuals_, left_out_errors_;
  std::map<std::string, OrderFactor> orders_;
};

// The same shape with `factor` times the computation in every step.
RingShape scaled_computation(RingShape shape, double factor);

}  // namespace hilbench
