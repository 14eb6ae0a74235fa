// The model of model.hpp fitted on stored records, with what it can and cannot tell.
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

// What another order (or traversal) than linear does to the computation: a factor on its time.
struct OrderFactor {
  Estimate factor;
  std::size_t pairs = 0;  // with linear order, in one comparison each
};

struct Errors {
  std::size_t count = 0;
  double median = 0, worst = 0;  // |predicted / measured - 1|
};
Errors errors_of(std::vector<double> relative);

class RingFit {
 public:
  // Least squares on relative errors over the samples of linear order whose ring size is in `ranks`. Throws
  // UsageError where they cannot determine a model: no ring of several ranks that exchanged anything, or
  // fewer than three cases.
  RingFit(const RingGroup& group, std::vector<RingSample> samples, const std::set<std::int64_t>& ranks);

  const RingGroup& group() const { return group_; }
  const RingModel& model() const { return model_; }
  const std::vector<RingSample>& samples() const { return samples_; }
  bool fitted(const RingSample& sample) const;
  std::size_t fitted_count() const { return fitted_count_; }
  std::size_t cases() const { return left_out_.size(); }  // comparisons that were fitted

  // The jackknife over comparisons: the interval of a coefficient, of `hidden`, of a time.
  Estimate coefficient(Coefficient which) const;
  Estimate hidden() const;
  // A new measurement is expected in the interval: what leaving comparisons out does to the prediction, and
  // what is left unexplained of comparisons that were left out.
  Estimate time(const RingShape& shape, const std::string& variant) const;
  // Time of linear order over that of `variant`, same ring: the exchange is no shorter for either.
  std::optional<Estimate> speedup_over_linear(const RingShape& shape, const std::string& variant) const;

  const std::map<std::string, OrderFactor>& orders() const { return orders_; }
  const Errors& residuals() const { return residuals_; }  // of the fitted times
  const Errors& left_out() const { return left_out_errors_; }

 private:
  double factor_of(const std::string& variant) const;
  void leave_out(const std::vector<const RingSample*>& fitted_samples, const std::set<std::string>& cases);
  void fit_orders();
  Estimate around(double value, const std::vector<double>& of_left_out, double unexplained) const;

  RingGroup group_;
  std::vector<RingSample> samples_;
  std::set<std::int64_t> ranks_;
  std::string linear_;  // id of the variant that the model is fitted on
  std::size_t fitted_count_ = 0;
  RingModel model_;
  std::vector<RingModel> left_out_;  // fitted without one comparison each
  double unexplained_ = 0;           // root mean square of ln(predicted / measured) of what was left out
  Errors residuals_, left_out_errors_;
  std::map<std::string, OrderFactor> orders_;
};

// The computation of every step `factor` times as long.
RingShape scaled_computation(RingShape shape, double factor);

}  // namespace hilbench
