// The model of ring_model.hpp fitted on stored records, with what it can and cannot tell.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "harness/record.hpp"
#include "harness/ring_model.hpp"

namespace hilbench {

// A record of one rank or more that ran alone and without a fault, as the model sees it.
struct RingSample {
  const Record* record = nullptr;
  RingShape shape;
  double ns = 0;                                  // median time
  double relative = 0;                            // half its 95 % interval, as a share of it
  std::optional<double> compute_ns, exchange_ns;  // of a ring: measured by themselves
};

// Records that one model holds for: one kernel on one machine.
struct RingGroup {
  std::string machine;  // name of the GPU or CPU
  std::string kernel;   // resolved
  Dtype dtype = Dtype::fp32;
  std::int64_t head_dim = 0;
  DeviceKind device = DeviceKind::cpu;
  auto operator<=>(const RingGroup&) const = default;
  std::string text() const;  // "dilated_cpu, fp32, head_dim 64, on AMD EPYC ..."
};

// Samples of each group: kernels of the forward pass, options that rings know. Others are left out.
std::map<RingGroup, std::vector<RingSample>> ring_samples(const std::vector<Record>& records);

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
