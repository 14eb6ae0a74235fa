#include "harness/predict/report_predictions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "harness/predict/prediction.hpp"
#include "harness/predict/text.hpp"
#include "kernels/base/text/error.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

constexpr std::size_t kMostPredictions = 2000;  // each needs a jackknife over the comparisons

// Notes how the model was fitted, and how well it predicts rings that it was not fitted on.
void note_fit(const RingFit& fit, std::vector<std::string>& notes) {
  std::string said = fmt::format(
      "{}: a model with few coefficients, fitted on {} times of {} comparisons with 1 and 2 ranks. Errors of "
      "the fitted times: {}. Errors of each comparison predicted from the others: {}.",
      fit.group().text(), fit.fitted_count(), fit.cases(), error_text(fit.residuals()),
      error_text(fit.left_out()));
  for (const RingCheck& larger : check(fit))
    said +=
        fmt::format(" On {} ranks, which it was not fitted on: {}; {} of {} inside the predicted interval.",
                    larger.ranks, error_text(larger.errors), larger.inside, larger.errors.count);
  notes.push_back(std::move(said));
}

class Predictor {
 public:
  explicit Predictor(ReportInput& input) : input_(input) {}

  bool left_out() const { return left_out_; }

  void add(const RingFit& fit, std::int64_t beyond) {
    for (const RingSample& sample : fit.samples()) {
      if (sample.record->work.ring_size > 1) add(fit, sample, sample.record->work.ring_size);
      add(fit, sample, beyond);
    }
  }

 private:
  void add(const RingFit& fit, const RingSample& sample, std::int64_t ranks) {
    const RingQuestion question = at_ring_size(*sample.record, ranks);
    PredictedRing made{.work = question.work, .variant_id = sample.record->variant_id};
    if (!asked_.emplace(case_id(made.work), made.variant_id).second) return;
    if (made.work.sequence_length > kMostPositions || made.work.pass != Pass::forward) return;
    if (why_not_ring(question.work, question.variant) || why_not_modelled(question.work, question.variant))
      return;
    if (input_.predictions.size() == kMostPredictions) {
      left_out_ = true;
      return;
    }
    const RingPrediction said = predict(fit, question);
    made.ns = said.ns.value;
    made.ci_ns = said.ns.ci;
    made.sent_bytes = said.sent_bytes;
    if (said.sent_bytes > 0) made.hidden = said.hidden;
    made.fitted = ranks == sample.record->work.ring_size && fit.fitted(sample);
    input_.predictions.push_back(std::move(made));
  }

  ReportInput& input_;
  bool left_out_ = false;
  std::set<std::pair<std::string, std::string>> asked_;
};

}  // namespace

void add_predictions(ReportInput& input) {
  std::int64_t largest = 1;
  for (const Record& record : input.records)
    if (record.status == Status::ok) largest = std::max(largest, record.work.ring_size);
  if (largest == 1) return;
  Predictor predictor(input);
  for (auto& [group, samples] : ring_samples(input.records)) try {
      const RingFit fit(group, std::move(samples), {1, 2});
      note_fit(fit, input.prediction_notes);
      predictor.add(fit, std::min(2 * largest, kMaxRanks));
    } catch (const UsageError& error) {
      input.prediction_notes.push_back(fmt::format("No prediction: {}", error.what()));
    }
  if (predictor.left_out())
    input.prediction_notes.push_back(fmt::format(
        "Only the first {} predictions are shown; `hilbench predict` shows all.", input.predictions.size()));
}

}  // namespace hilbench
