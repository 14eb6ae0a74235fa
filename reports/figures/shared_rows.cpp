#include "reports/figures/shared_rows.hpp"

#include <nlohmann/json.hpp>
#include <string>

#include "reports/figures/data_values.hpp"
#include "reports/figures/rate_bars.hpp"
#include "reports/summaries/chains.hpp"
#include "reports/tables/rivals.hpp"
#include "reports/view/chain.hpp"
#include "reports/view/format.hpp"

namespace hilbench {

using nlohmann::json;

json claims_json(const std::vector<ClaimAnswer>& answers) {
  json rows = json::array();
  for (const ClaimAnswer& answer : answers) {
    if (answer.claim->quantity != Quantity::speedup || !answer.measured) continue;
    rows.push_back({{"id", answer.claim->claim_id},
                    {"title", answer.claim->title},
                    {"work", answer.where ? case_text(*answer.where->work) : "all cases here"},
                    {"provenance", answer.claim->provenance},
                    {"verdict", to_string(answer.verdict)},
                    {"claimed", number_json(answer.claim->claimed.value_or(1))},
                    {"measured", measured_json(answer.measured)},
                    {"control", measured_json(answer.random)},
                    {"tokens", measured_json(answer.beside)}});
  }
  return rows;
}

json rivals_json(const View& view) {
  json rows = json::array();
  for (const RivalPair& pair : rival_pairs(view, kMostRivalRows))
    rows.push_back({{"kernel", kernel_text(*pair.kernel)},
                    {"work", whole_case_text(*pair.where->work)},
                    {"rival", pair.rival->variant_id},
                    {"ratio", measured_json(pair.ratio)}});
  return rows;
}

json rates_json(const View& view) {
  json panels = json::array();
  for (const RatePanel& panel : rate_panels(view)) {
    const RateUnit unit = unit_of(panel);
    json series = json::array();
    for (const RateSeries& one : panel.series) {
      json bars = json::array();
      for (const Record* record : one.records)
        bars.push_back(record == nullptr ? json()
                                         : json{number_json(*record->tflops * unit.per_tflops),
                                                record->case_id + "/" + record->variant_id});
      series.push_back({{"library", one.library}, {"bars", std::move(bars)}});
    }
    panels.push_back({{"shared", panel.shared},
                      {"unit", unit.name},
                      {"reading", reading_of(panel)},
                      {"lengths", panel.lengths},
                      {"series", std::move(series)}});
  }
  return panels;
}

json chains_json(const View& view) {
  json chains = json::array();
  for (const MeasuredChain& chain : measured_chains(view)) {
    json steps = json::array();
    for (const MeasuredStep& step : chain.steps)
      steps.push_back({{"variant", step.step.variant},
                       {"change", step.step.change},
                       {"factor", measured_json(step.factor)},
                       {"so_far", measured_json(step.so_far)}});
    json made = {{"work", chain_name(chain)},
                 {"of", quantity_text(chain.of)},
                 {"end", chain.end},
                 {"steps", std::move(steps)}};
    put_known(made, "claimed", chain.claimed);
    json& protocols = made["protocols"] = json::array();
    for (const MeasuredProtocol& one : chain.protocols)
      protocols.push_back({{"how", protocol_text(one.protocol)},
                           {"reported", one.as_claimed && chain.claimed.has_value()},
                           {"trials", one.ratios.size()},
                           {"ratio", json{number_json(median(one.ratios)), number_json(one.ratios.front()),
                                          number_json(one.ratios.back())}}});
    chains.push_back(std::move(made));
  }
  return chains;
}

json predictions_json(const View& view) {
  json rows = json::array();
  for (const PredictedRing& one : view.predictions) {
    json made = {{"family", whole_case_text(one.work)},  {"variant", one.variant_id},
                 {"ring", one.work.ring_size},           {"ns", interval_json(one.ns, one.ci_ns)},
                 {"bytes", number_json(one.sent_bytes)}, {"fitted", one.fitted}};
    put_known(made, "hidden", one.hidden);
    rows.push_back(std::move(made));
  }
  return rows;
}

}  // namespace hilbench
