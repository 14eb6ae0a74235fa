#include "reports/view/chain.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "reports/view/pairing.hpp"

namespace hilbench {
namespace {

using nlohmann::json;

const Record* record_of(const CaseView& of_case, const std::string& variant_id) {
  const auto found = std::ranges::find_if(of_case.records, [&](const Record* record) {
    return record->variant_id == variant_id && !record->twin;
  });
  return found == of_case.records.end() ? nullptr : *found;
}

std::optional<Measured> ratio_between(const Record* from, const Record* to) {
  return from == nullptr || to == nullptr ? std::nullopt : chained_time_ratio(*from, *to);
}

std::optional<Measured> twin_ratio(const View& view, const Record* first) {
  if (first == nullptr) return std::nullopt;
  for (const Record* twin : view.twins)
    if (twin->case_id == first->case_id) return chained_time_ratio(*first, *twin);
  return std::nullopt;
}

bool has_ratio(const MeasuredChain& chain) {
  return std::ranges::any_of(chain.steps,
                             [](const MeasuredStep& step) { return step.factor || step.so_far; });
}

MeasuredChain measured_chain(const View& view, const Chain& chain, const CaseView& of_case) {
  MeasuredChain measured{.where = &of_case, .steps = {}, .end = chain.end};
  if (const auto claimed = chain.claimed.find(of_case.case_id); claimed != chain.claimed.end())
    measured.claimed = claimed->second;
  for (const ChainStep& step : chain.steps) {
    MeasuredStep next{.step = step, .record = record_of(of_case, step.variant)};
    if (!measured.steps.empty()) {
      next.factor = ratio_between(measured.steps.back().record, next.record);
      next.so_far = ratio_between(measured.steps.front().record, next.record);
    }
    measured.steps.push_back(std::move(next));
  }
  measured.twin = twin_ratio(view, measured.steps.front().record);
  return measured;
}

}  // namespace

std::string chain_text(const Chain& chain) {
  json steps = json::array();
  for (const ChainStep& step : chain.steps)
    steps.push_back({{"variant", step.variant}, {"change", step.change}});
  return json{{"steps", steps}, {"end", chain.end}, {"claimed", chain.claimed}}.dump();
}

Chain chain_from_text(const std::string& text) try {
  const json from = json::parse(text);
  Chain chain{.steps = {}, .end = from.at("end").get<std::size_t>(), .claimed = {}};
  for (const json& step : from.at("steps"))
    chain.steps.push_back({step.at("variant").get<std::string>(), step.at("change").get<std::string>()});
  for (const auto& [case_id, claimed] : from.at("claimed").items())
    if (claimed.get<double>() > 0) chain.claimed[case_id] = claimed.get<double>();
  return chain.end >= 1 && chain.end < chain.steps.size() ? chain : Chain{};
} catch (const json::exception&) {
  return {};
}

Chain chain_of(const View& view) {
  const auto stored = view.meta.find("chain");
  return stored == view.meta.end() ? Chain{} : chain_from_text(stored->second);
}

std::vector<MeasuredChain> measured_chains(const View& view) {
  const Chain chain = chain_of(view);
  std::vector<MeasuredChain> chains;
  if (chain.steps.empty()) return chains;
  for (const CaseView& of_case : view.cases)
    if (MeasuredChain measured = measured_chain(view, chain, of_case); has_ratio(measured))
      chains.push_back(std::move(measured));
  return chains;
}

}  // namespace hilbench
