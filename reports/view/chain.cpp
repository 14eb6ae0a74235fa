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

std::optional<Measured> ratio_between(const Record* from, const Record* to, const std::string& of) {
  if (from == nullptr || to == nullptr) return std::nullopt;
  if (of == kOfTime) return chained_time_ratio(*from, *to);
  if (of != kOfMemory) return counted_ratio(*from, *to, of);
  const auto a = amount_of(*from, of), b = amount_of(*to, of);
  return a && b ? std::optional(exact_ratio(*a / *b)) : std::nullopt;
}

std::vector<MeasuredProtocol> measured_protocols(const Record* first, const Record* end) {
  std::vector<MeasuredProtocol> measured;
  if (!ratio_between(first, end, kOfTime)) return measured;
  for (const ProtocolTimes& a : first->time->protocols) {
    const auto b = std::ranges::find(end->time->protocols, a.protocol, &ProtocolTimes::protocol);
    if (b == end->time->protocols.end() || b->process_trials != a.process_trials) continue;
    MeasuredProtocol one{
        .protocol = a.protocol, .as_claimed = &a == &first->time->protocols.front(), .ratios = {}};
    for (std::size_t i = 0; i < std::min(a.trials_ns.size(), b->trials_ns.size()); ++i)
      if (a.trials_ns[i] > 0 && b->trials_ns[i] > 0) one.ratios.push_back(a.trials_ns[i] / b->trials_ns[i]);
    std::ranges::sort(one.ratios);
    if (!one.ratios.empty()) measured.push_back(std::move(one));
  }
  return measured;
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

MeasuredChain measured_chain(const View& view, const Chain& chain, const CaseView& of_case,
                             const std::string& of) {
  MeasuredChain measured{.where = &of_case, .of = of, .end = chain.end};
  if (const auto claimed = chain.claimed.find(of_case.case_id);
      claimed != chain.claimed.end() && of == chain.of.front())
    measured.claimed = claimed->second;
  for (const ChainStep& step : chain.steps) {
    MeasuredStep next{.step = step, .record = record_of(of_case, step.variant)};
    if (!measured.steps.empty()) {
      next.factor = ratio_between(measured.steps.back().record, next.record, of);
      next.so_far = ratio_between(measured.steps.front().record, next.record, of);
    }
    measured.steps.push_back(std::move(next));
  }
  if (of != kOfTime) return measured;
  measured.twin = twin_ratio(view, measured.steps.front().record);
  measured.protocols = measured_protocols(measured.steps.front().record, measured.steps[measured.end].record);
  return measured;
}

}  // namespace

std::optional<double> amount_of(const Record& record, const std::string& of) {
  if (of != kOfMemory) return counter_value(record, of);
  if (record.kind == ImplementationKind::kernel) return record.memory_bytes;
  const auto library = record.environment->find("library");
  if (library == record.environment->end() || !library->is_object()) return std::nullopt;
  const auto peak = library->find("peak_bytes");
  const bool known = peak != library->end() && peak->is_number() && peak->get<double>() > 0;
  return known ? std::optional(peak->get<double>()) : std::nullopt;
}

std::string chain_text(const Chain& chain) {
  json steps = json::array();
  for (const ChainStep& step : chain.steps)
    steps.push_back({{"variant", step.variant}, {"change", step.change}});
  return json{{"steps", steps}, {"of", chain.of}, {"end", chain.end}, {"claimed", chain.claimed}}.dump();
}

Chain chain_from_text(const std::string& text) try {
  const json from = json::parse(text);
  Chain chain{.steps = {}, .end = from.at("end").get<std::size_t>(), .claimed = {}};
  if (from.contains("of")) chain.of = from.at("of").get<std::vector<std::string>>();  // older stores: time
  if (chain.of.empty()) return {};
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
    for (const std::string& of : chain.of)
      if (MeasuredChain measured = measured_chain(view, chain, of_case, of); has_ratio(measured))
        chains.push_back(std::move(measured));
  return chains;
}

}  // namespace hilbench
