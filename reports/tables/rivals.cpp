#include "reports/tables/rivals.hpp"

#include <algorithm>

#include "reports/tables/comparison.hpp"
#include "reports/tables/variant_rows.hpp"
#include "reports/view/chain.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

using P = const RivalPair&;

std::string rate_of(const Record& record) {
  return record.tflops ? rate_text(*record.tflops * 1e12) : "";
}

// The ratio of `rival` and `kernel`; empty if they are no pair.
Cell ratio_cell(const std::vector<RivalPair>& pairs, const Record& kernel, std::string_view rival) {
  for (P pair : pairs) {
    if (pair.kernel != &kernel || pair.rival->variant_id != rival) continue;
    return {ratio_text(pair.ratio.ratio, pair.ratio.ci), tone_of(pair.ratio.verdict)};
  }
  return {};
}

// The pair of `kernel` with its fastest rival. There is one.
P strongest_of(const std::vector<RivalPair>& pairs, const Record& kernel) {
  const RivalPair* strongest = nullptr;
  for (P pair : pairs)
    if (pair.kernel == &kernel && (strongest == nullptr || pair.ratio.ratio < strongest->ratio.ratio))
      strongest = &pair;
  return *strongest;
}

}  // namespace

bool is_plain_linear(const Record& record) {
  return record.kind == ImplementationKind::kernel &&
         one_rank_id(record.variant) == record.variant.name() + "/linear";
}

std::string kernel_text(const Record& kernel) {
  const std::string alone = one_rank_id(kernel.variant), whole = variant_id(kernel.variant);
  const std::string ring = whole.substr(alone.size());
  std::string text = kernel.kernel + (ring.empty() ? "" : ", " + ring.substr(1));
  const bool by_default = kernel.variant.ring.sharding == Sharding::automatic;
  if (by_default && kernel.sharding == Sharding::zigzag) text += ", zigzag";
  return text;
}

const Record* fastest_order(const CaseView& of_case, std::string_view kernel) {
  const Record* fastest = nullptr;
  for (const Record* record : of_case.records) {
    const bool computes =
        record->status == Status::ok && record->time && record->verify && !computes_other_function(*record);
    if (record->kind != ImplementationKind::kernel || !computes) continue;
    if (!kernel.empty() && record->kernel != kernel) continue;
    if (fastest == nullptr || record->time->median_ns < fastest->time->median_ns) fastest = record;
  }
  return fastest;
}

// The programs of a chain are what a claim is about: nobody proposes them as a fast way to compute the case.
std::vector<RivalPair> rival_pairs(const View& view, std::size_t most_kernels) {
  std::vector<RivalPair> pairs;
  const Chain chain = chain_of(view);
  const auto is_rival = [&](const Record& record) {
    return record.kind == ImplementationKind::baseline && record.verify && !computes_other_function(record) &&
           std::ranges::find(chain.steps, record.variant_id, &ChainStep::variant) == chain.steps.end();
  };
  std::size_t kernels = 0;
  for (const CaseView& of_case : view.cases)
    for (const Record* kernel : of_case.records) {
      if (!is_plain_linear(*kernel)) continue;
      const std::size_t before = pairs.size();
      if (kernels == most_kernels) return pairs;
      for (const Record* rival : of_case.records)
        if (is_rival(*rival))
          if (const auto ratio = time_ratio(*rival, *kernel))
            pairs.push_back({&of_case, kernel, rival, *ratio});
      kernels += pairs.size() > before;
    }
  return pairs;
}

Table rivals_table(const View& view) {
  const std::vector<ColumnOf<RivalPair>> columns = {
      {{"case", ""}, [](P p) { return Cell{p.where->case_id}; }},
      {{"variant", ""}, [](P p) { return Cell{p.kernel->variant_id}; }},
      {{"kernel", ""}, [](P p) { return Cell{p.kernel->kernel}; }},
      {{"rival", ""}, [](P p) { return Cell{p.rival->variant_id}; }},
      {{"ratio", ""}, [](P p) { return Cell{data_text(p.ratio.ratio)}; }},
      {{"ratio_low", ""}, [](P p) { return Cell{data_text(p.ratio.ci.low)}; }},
      {{"ratio_high", ""}, [](P p) { return Cell{data_text(p.ratio.ci.high)}; }},
      {{"processes", ""}, [](P p) { return Cell{std::to_string(p.ratio.processes)}; }},
      {{"verdict", ""}, [](P p) { return Cell{std::string(to_string(p.ratio.verdict))}; }},
      {{"time_ns", ""}, [](P p) { return Cell{data_text(p.kernel->time->median_ns)}; }},
      {{"rival_time_ns", ""}, [](P p) { return Cell{data_text(p.rival->time->median_ns)}; }},
      {{"tflops", ""}, [](P p) { return Cell{data_text(p.kernel->tflops)}; }},
      {{"rival_tflops", ""}, [](P p) { return Cell{data_text(p.rival->tflops)}; }},
  };
  return make_table<RivalPair>("rivals", "", columns, rival_pairs(view));
}

Table rivals_page_table(const View& view) {
  const std::vector<RivalPair> pairs = rival_pairs(view);
  std::vector<std::string> rivals;
  std::vector<const RivalPair*> rows;  // the first pair of each kernel in each case
  for (P pair : pairs) {
    if (std::find(rivals.begin(), rivals.end(), pair.rival->variant_id) == rivals.end())
      rivals.push_back(pair.rival->variant_id);
    if (rows.empty() || rows.back()->kernel != pair.kernel) rows.push_back(&pair);
  }
  using R = const RivalPair* const&;
  using RivalColumns = std::vector<ColumnOf<const RivalPair*>>;
  RivalColumns columns = {{{"work", "case (segment/dilation)", Align::wrapped},
                           [](R r) { return Cell{whole_case_text(*r->where->work)}; }}};
  if (rivals.size() > 1)
    columns.push_back({{"strongest", "strongest rival"},
                       [&pairs](R r) { return Cell{strongest_of(pairs, *r->kernel).rival->variant_id}; }});
  for (const std::string& rival : rivals)
    columns.push_back({{rival, rival, Align::right},
                       [&pairs, rival](R r) { return ratio_cell(pairs, *r->kernel, rival); }});
  const RivalColumns absolute = {
      {{"variant", "kernel"}, [](R r) { return Cell{kernel_text(*r->kernel)}; }},
      {{"time", "time", Align::right}, [](R r) { return Cell{time_text(r->kernel->time->median_ns)}; }},
      {{"rate", "rate", Align::right}, [](R r) { return Cell{rate_of(*r->kernel)}; }},
      {{"of_peak", "share of peak", Align::right},
       [](R r) { return Cell{peak_share_text(*r->where, *r->kernel)}; }},
  };
  columns.insert(columns.end(), absolute.begin(), absolute.end());
  columns.push_back({{"processes", "processes", Align::right},
                     [](R r) { return Cell{std::to_string(r->ratio.processes)}; }});
  return make_table<const RivalPair*>("rivals", "", columns, rows);
}

}  // namespace hilbench
