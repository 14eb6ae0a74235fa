#include "harness/predict/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "kernels/base/text/text.hpp"
#include "reports/terminal/table_text.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

constexpr double kPoorFit = 0.2;  // limit for the median error of comparisons predicted from the others

struct Heading {
  std::string text;
};
using Part = std::variant<Heading, std::string, Table>;

Cell cell(std::string text) {
  return {std::move(text), Tone::plain};
}

Table coefficient_table_of(const RingFit& fit) {
  Table table{.name = "coefficients",
              .caption = "",
              .columns = {{"coefficient", "coefficient"},
                          {"value", "value [95 %]", Align::right},
                          {"unit", "unit"},
                          {"help", "what takes this time"}},
              .rows = {}};
  for (std::size_t i = 0; i < kCoefficients; ++i) {
    const CoefficientInfo& info = hilbench::coefficient_table()[i];
    const Estimate estimate = fit.coefficient(static_cast<Coefficient>(i));
    const Interval scaled{estimate.ci.low * info.scale, estimate.ci.high * info.scale};
    table.rows.push_back({cell(std::string(info.name)), cell(ratio_text(estimate.value * info.scale, scaled)),
                          cell(std::string(info.unit)), cell(std::string(info.help))});
  }
  const Estimate hidden = fit.hidden();
  table.rows.push_back(
      {cell("hidden"), cell(ratio_text(hidden.value, hidden.ci)), cell("share"),
       cell("share that a step hides of its computation or exchange, whichever is shorter")});
  for (const auto& [id, order] : fit.orders())
    table.rows.push_back(
        {cell(id), cell(ratio_text(order.factor.value, order.factor.ci)), cell("factor"),
         cell(fmt::format("on the computation, from {} pairs with linear order", order.pairs))});
  return table;
}

Table check_table(const std::vector<RingCheck>& checks) {
  Table table{.name = "check",
              .caption = "",
              .columns = {{"ranks", "ranks", Align::right},
                          {"records", "records", Align::right},
                          {"median", "median error", Align::right},
                          {"worst", "worst error", Align::right},
                          {"inside", "inside the interval", Align::right},
                          {"worst_record", "worst"},
                          {"worst_measured", "measured there [95 %]", Align::right},
                          {"worst_predicted", "predicted there [95 %]", Align::right}},
              .rows = {}};
  for (const RingCheck& check : checks)
    table.rows.push_back({cell(std::to_string(check.ranks)), cell(std::to_string(check.errors.count)),
                          cell(percent_text(check.errors.median)), cell(percent_text(check.errors.worst)),
                          cell(fmt::format("{} of {}", check.inside, check.errors.count)), cell(check.worst),
                          cell(time_text(check.worst_measured_ns.value, check.worst_measured_ns.ci)),
                          cell(time_text(check.worst_predicted_ns.value, check.worst_predicted_ns.ci))});
  return table;
}

Table prediction_table(const std::vector<const RingPrediction*>& predictions) {
  Table table{.name = "predictions",
              .caption = "",
              .columns = {{"case", "case"},
                          {"variant", "variant"},
                          {"algorithm", "algorithm"},
                          {"ranks", "ranks", Align::right},
                          {"time", "time [95 %]", Align::right},
                          {"compute", "computation", Align::right},
                          {"exchange", "exchange", Align::right},
                          {"hidden", "hidden", Align::right},
                          {"speedup", "over one rank", Align::right},
                          {"efficiency", "efficiency", Align::right},
                          {"sent", "sent", Align::right},
                          {"rank_memory", "memory of a rank", Align::right}},
              .rows = {}};
  for (const RingPrediction* one : predictions)
    table.rows.push_back({cell(case_id(one->question.work)), cell(variant_id(one->question.variant)),
                          cell(one->algorithm), cell(std::to_string(one->question.work.ring_size)),
                          cell(time_text(one->ns.value, one->ns.ci)), cell(time_text(one->compute_ns)),
                          cell(one->sent_bytes > 0 ? time_text(one->exchange_ns) : ""),
                          cell(one->sent_bytes > 0 ? percent_text(one->hidden) : ""),
                          cell(number_text(one->speedup, 3)), cell(number_text(one->efficiency, 3)),
                          cell(bytes_text(one->sent_bytes)), cell(bytes_text(one->rank_bytes))});
  return table;
}

Table claim_table(const std::vector<ClaimPrediction>& claims) {
  Table table{.name = "claims",
              .caption = "",
              .columns = {{"claim", "claim"},
                          {"configuration", "configuration"},
                          {"metric", "metric"},
                          {"claimed", "claimed", Align::right},
                          {"predicted", "predicted [interval]", Align::right},
                          {"verdict", "verdict, if it is right"},
                          {"says", "basis"}},
              .rows = {}};
  for (const ClaimPrediction& one : claims)
    table.rows.push_back({cell(one.claim.claim_id), cell(one.claim.configuration), cell(one.claim.metric),
                          cell(one.claimed), cell(one.predicted.empty() ? "-" : one.predicted),
                          cell(std::string(to_string(one.verdict))), cell(one.says)});
  return table;
}

Table longest_table(const std::vector<PredictionReport::Longest>& longest) {
  Table table{.name = "longest",
              .caption = "",
              .columns = {{"pattern", "pattern"},
                          {"ranks", "ranks", Align::right},
                          {"positions", "positions", Align::right},
                          {"memory", "usable memory of a rank", Align::right}},
              .rows = {}};
  for (const auto& one : longest)
    table.rows.push_back({cell(one.pattern), cell(std::to_string(one.ranks)),
                          cell(std::to_string(one.positions)), cell(bytes_text(one.device_bytes))});
  return table;
}

std::vector<const RingPrediction*> of_fit(const PredictionReport& report, const RingFit& fit) {
  std::vector<const RingPrediction*> chosen;
  for (const RingPrediction& one : report.predictions)
    if (one.fit == &fit) chosen.push_back(&one);
  return chosen;
}

void add_fit(std::vector<Part>& parts, const PredictionReport& report, const RingFit& fit) {
  parts.push_back(Heading{fit.group().text()});
  parts.push_back(
      fmt::format("Fitted on {} times of {} comparisons: {}. Each comparison predicted from the others: {}.",
                  fit.fitted_count(), fit.cases(), error_text(fit.residuals()), error_text(fit.left_out())));
  if (fit.left_out().median > kPoorFit)
    parts.push_back(std::string(
        "The model does not describe these records: on a busy machine, times say little about rings. "
        "The intervals are therefore wide. Measure again while nothing else runs."));
  parts.push_back(coefficient_table_of(fit));
  const std::vector<RingCheck> checks = check(fit);
  if (checks.empty()) {
    parts.push_back(
        std::string("No larger rings were measured: these predictions are not checked against any."));
  } else {
    parts.push_back(std::string("Compared with records of larger rings, which the model was not fitted on:"));
    parts.push_back(check_table(checks));
  }
  if (const auto predictions = of_fit(report, fit); !predictions.empty()) {
    parts.push_back(
        std::string("Predicted. Times are for the same machine and links. One new measurement is expected in "
                    "the interval, if the model holds at sizes that were not measured. Efficiency is the "
                    "speedup over one rank divided by the number of devices; ranks on a CPU share the "
                    "threads of one rank."));
    parts.push_back(prediction_table(predictions));
  }
}

std::vector<Part> parts_of(const PredictionReport& report) {
  std::vector<Part> parts;
  for (const RingFit& fit : *report.fits) add_fit(parts, report, fit);
  if (!report.longest.empty()) {
    parts.push_back(Heading{"Longest sequence by memory"});
    parts.push_back(longest_table(report.longest));
  }
  if (!report.claims.empty()) {
    parts.push_back(Heading{"Projections of the reports"});
    parts.push_back(claim_table(report.claims));
  }
  for (const std::string& note : report.notes) parts.push_back(note);
  return parts;
}

nlohmann::json json_of(const Estimate& estimate) {
  return {{"value", estimate.value}, {"ci", {estimate.ci.low, estimate.ci.high}}};
}
nlohmann::json json_of(const Errors& errors) {
  return {{"count", errors.count}, {"median", errors.median}, {"worst", errors.worst}};
}

nlohmann::json json_of(const RingFit& fit) {
  nlohmann::json made = {{"kernel", fit.group().kernel},
                         {"dtype", to_string(fit.group().dtype)},
                         {"head_dim", fit.group().head_dim},
                         {"machine", fit.group().machine},
                         {"device", to_string(fit.group().device)},
                         {"times", fit.fitted_count()},
                         {"comparisons", fit.cases()},
                         {"residuals", json_of(fit.residuals())},
                         {"left_out", json_of(fit.left_out())},
                         {"hidden", json_of(fit.hidden())}};
  for (std::size_t i = 0; i < kCoefficients; ++i)
    made["coefficients_ns"][std::string(hilbench::coefficient_table()[i].name)] =
        json_of(fit.coefficient(static_cast<Coefficient>(i)));
  made["orders"] = nlohmann::json::object();
  for (const auto& [id, order] : fit.orders()) {
    made["orders"][id] = json_of(order.factor);
    made["orders"][id]["pairs"] = order.pairs;
  }
  made["checks"] = nlohmann::json::array();
  for (const RingCheck& one : check(fit))
    made["checks"].push_back({{"ranks", one.ranks},
                              {"errors", json_of(one.errors)},
                              {"inside", one.inside},
                              {"worst", one.worst},
                              {"worst_measured_ns", json_of(one.worst_measured_ns)},
                              {"worst_predicted_ns", json_of(one.worst_predicted_ns)}});
  return made;
}

nlohmann::json json_of(const RingPrediction& one) {
  return {{"kernel", one.fit->group().kernel},
          {"machine", one.fit->group().machine},
          {"case", case_id(one.question.work)},
          {"variant", variant_id(one.question.variant)},
          {"ring_size", one.question.work.ring_size},
          {"ring_algorithm", one.algorithm},
          {"time_ns", json_of(one.ns)},
          {"compute_ns", one.compute_ns},
          {"exchange_ns", one.exchange_ns},
          {"hidden", one.hidden},
          {"one_rank_ns", json_of(one.one_rank_ns)},
          {"speedup", one.speedup},
          {"efficiency", one.efficiency},
          {"comm_bytes", one.sent_bytes},
          {"rank_memory_bytes", one.rank_bytes}};
}

std::string as_json(const PredictionReport& report) {
  nlohmann::json made = {{"schema", 1},
                         {"fits", nlohmann::json::array()},
                         {"predictions", nlohmann::json::array()},
                         {"longest", nlohmann::json::array()},
                         {"claims", nlohmann::json::array()},
                         {"notes", report.notes}};
  for (const RingFit& fit : *report.fits) made["fits"].push_back(json_of(fit));
  for (const RingPrediction& one : report.predictions) made["predictions"].push_back(json_of(one));
  for (const auto& one : report.longest)
    made["longest"].push_back({{"pattern", one.pattern},
                               {"ranks", one.ranks},
                               {"positions", one.positions},
                               {"usable_bytes", one.device_bytes}});
  for (const ClaimPrediction& one : report.claims)
    made["claims"].push_back(
        {{"claim", one.claim.claim_id},
         {"configuration", one.claim.configuration},
         {"metric", one.claim.metric},
         {"claimed", one.claimed},
         {"predicted", one.predicted.empty() ? nlohmann::json() : nlohmann::json(one.predicted)},
         {"verdict", to_string(one.verdict)},
         {"says", one.says}});
  return made.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string error_text(const Errors& errors) {
  return fmt::format("median {}, worst {}", percent_text(errors.median), percent_text(errors.worst));
}

std::string rendered(const PredictionReport& report, PredictionFormat format, const Screen& screen) {
  if (format == PredictionFormat::json) return as_json(report);
  const bool markdown = format == PredictionFormat::markdown;
  std::string text;
  for (const Part& part : parts_of(report)) {
    if (!text.empty()) text += "\n";
    if (const auto* heading = std::get_if<Heading>(&part))
      text += markdown ? fmt::format("## {}\n", markdown_text(heading->text))
                       : wrapped(printable(heading->text), screen.width, 0) + "\n";
    if (const auto* paragraph = std::get_if<std::string>(&part))
      text += (markdown ? markdown_text(*paragraph) : wrapped(printable(*paragraph), screen.width, 0)) + "\n";
    if (const auto* table = std::get_if<Table>(&part))
      text += markdown ? to_markdown(*table) : table_text(*table, screen);
  }
  return text;
}

}  // namespace hilbench
