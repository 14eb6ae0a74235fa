#include "reports/tables/windows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/case/windows.hpp"
#include "reports/tables/by_case.hpp"
#include "reports/tables/rivals.hpp"
#include "reports/tables/variant_rows.hpp"
#include "reports/view/dense_case.hpp"
#include "reports/view/format.hpp"
#include "reports/view/pairing.hpp"

namespace hilbench {
namespace {

constexpr const char* kDense = " (all pairs)";  // behind the variants of dense attention on the same tokens

struct WindowRow {
  const CaseView* of_case = nullptr;  // with windows
  const Record* record = nullptr;
  bool dense = false;                 // `record` computes all pairs of the same tokens
  double needed = 0;                  // pairs of the windows
  std::optional<double> over_needed;  // computed / needed
  std::optional<Measured> ratio;      // raster order / this
  std::optional<Measured> with_permutation;
  std::optional<Measured> over_fastest;  // this / the kernel in its fastest order
};

bool timed_and_verified(const Record& record) {
  return record.status == Status::ok && record.time && record.verify;
}

double all_pairs(const Case& work) {
  const auto positions = static_cast<double>(work.sequence_length);
  return static_cast<double>(work.batch) * static_cast<double>(work.heads) * positions * positions;
}

// The kernel in raster order with everything else at its default: the first, as the sweep lists them.
const Record* raster_of(const CaseView& of_case) {
  for (const Record* record : of_case.records)
    if (record->pairs && record->variant.kernel().order == "linear" && timed_and_verified(*record))
      return record;
  return nullptr;
}

// Of all heads. A record holds the hash of a mask alone; its FLOPs tell the pairs.
double needed_pairs(const CaseView& of_case) {
  const Case& work = *of_case.work;
  if (!has_mask_blocks(work))
    return window_pairs(work) * static_cast<double>(work.batch) * static_cast<double>(work.heads);
  for (const Record* record : of_case.records)
    if (record->pairs) return record->pairs->needed;
  for (const Record* record : of_case.records)
    if (record->flops && record->verify) return *record->flops / (4 * static_cast<double>(work.head_dim));
  return std::numeric_limits<double>::quiet_NaN();
}

void add_windows(const CaseView& of_case, const Record* raster, std::vector<WindowRow>& rows) {
  const double needed = needed_pairs(of_case);
  const Record* fastest = fastest_order(of_case);
  for (const Record* record : of_case.records) {
    if (!timed_and_verified(*record)) continue;
    WindowRow row{.of_case = &of_case, .record = record, .needed = needed};
    row.over_needed = computed_over_needed(*record);
    if (raster != nullptr && raster != record) {
      row.ratio = time_ratio(*raster, *record);
      if (record->permute_ns) row.with_permutation = time_ratio(*raster, *record, *record->permute_ns);
    }
    if (fastest != nullptr && record->variant.is_baseline()) row.over_fastest = time_ratio(*record, *fastest);
    rows.push_back(row);
  }
}

void add_dense(const View& view, const CaseView& of_case, const Record* raster,
               std::vector<WindowRow>& rows) {
  const CaseView* dense = dense_case(view, *of_case.work);
  if (dense == nullptr) return;
  const double needed = rows.back().needed;
  const Record* fastest = fastest_order(of_case);
  for (const Record* record : dense->records) {
    if (!timed_and_verified(*record) ||
        (!record->variant.is_baseline() && record->variant.kernel().order != "linear"))
      continue;
    WindowRow row{.of_case = &of_case, .record = record, .dense = true, .needed = needed};
    row.over_needed = all_pairs(*of_case.work) / needed;
    if (raster != nullptr) row.ratio = unpaired_time_ratio(*raster, *record);
    if (fastest != nullptr) row.over_fastest = unpaired_time_ratio(*record, *fastest);
    rows.push_back(row);
  }
}

std::vector<WindowRow> window_rows(const View& view) {
  std::vector<WindowRow> rows;
  for (const CaseView& of_case : view.cases) {
    if (!has_windows(*of_case.work)) continue;
    const std::size_t before = rows.size();
    const Record* raster = raster_of(of_case);
    add_windows(of_case, raster, rows);
    if (rows.size() > before) add_dense(view, of_case, raster, rows);
  }
  return rows;
}

Cell ratio_text_cell(const std::optional<Measured>& measured) {
  return {measured ? ratio_text(measured->ratio, measured->ci) : ""};
}
Cell data_cell(std::optional<double> value) {
  return {data_text(value)};
}

// Two processes settle no verdict among several variants, however large the ratio is.
bool open_for_processes(const Measured& ratio) {
  return ratio.verdict == Verdict::inconclusive && ratio.processes == 2;
}

std::string remark_of(const WindowRow& row) {
  if (row.dense) return "all pairs: a different function";
  if (computes_other_function(*row.record)) return "a different function";
  if (!row.ratio) return "";
  return verdict_words(row.ratio->verdict, row.ratio->processes, row.ratio->margin) +
         (open_for_processes(*row.ratio) ? ", too few processes" : "");
}

}  // namespace

Table windows_table(const View& view) {
  using R = const WindowRow&;
  const auto end = [](const std::optional<Measured>& m, double Interval::*which) {
    return data_cell(m ? std::optional(m->ci.*which) : std::nullopt);
  };
  const std::vector<ColumnOf<WindowRow>> columns = {
      {{"case", "case"}, [](R r) { return Cell{r.of_case->case_id}; }},
      {{"variant", "order or rival"},
       [](R r) { return Cell{r.record->variant_id + (r.dense ? kDense : "")}; }},
      {{"needed_share", "needed, of all pairs", Align::right},
       [](R r) { return Cell{percent_text(r.needed / all_pairs(*r.of_case->work))}; }},
      {{"computed_over_needed", "computed / needed", Align::right},
       [](R r) { return Cell{r.over_needed ? number_text(*r.over_needed, 3) : ""}; }},
      {{"density", "computed, of all pairs", Align::right},
       [](R r) {
         const double needed_share = r.needed / all_pairs(*r.of_case->work);
         return Cell{r.over_needed ? percent_text(*r.over_needed * needed_share) : ""};
       }},
      {{"time", "time [interval]", Align::right, Show::page},
       [](R r) { return Cell{time_text(r.record->time->median_ns, r.record->time->ci_ns)}; }},
      {{"time_ns", "", Align::right, Show::data}, [](R r) { return data_cell(r.record->time->median_ns); }},
      {{"ratio_text", "raster order / this [interval]", Align::right, Show::page},
       [](R r) { return ratio_text_cell(r.ratio); }},
      {{"ratio", "", Align::right, Show::data},
       [](R r) { return data_cell(r.ratio ? std::optional(r.ratio->ratio) : std::nullopt); }},
      {{"ratio_low", "", Align::right, Show::data}, [end](R r) { return end(r.ratio, &Interval::low); }},
      {{"ratio_high", "", Align::right, Show::data}, [end](R r) { return end(r.ratio, &Interval::high); }},
      {{"with_permutation", "with one permutation", Align::right},
       [](R r) { return Cell{r.with_permutation ? number_text(r.with_permutation->ratio) : ""}; }},
      {{"over_fastest", "", Align::right, Show::data},
       [](R r) { return data_cell(r.over_fastest ? std::optional(r.over_fastest->ratio) : std::nullopt); }},
      {{"remark", "verdict"}, [](R r) { return Cell{remark_of(r)}; }}};
  return make_table<WindowRow>("windows", "Orders and rivals on windows", columns, window_rows(view));
}

Table windows_by_case_table(const View& view) {
  std::vector<std::string> variants, dense;
  std::vector<CaseRow> rows;
  const CaseView* last = nullptr;
  const auto over_needed = [](const WindowRow& row) {
    return row.over_needed ? number_text(*row.over_needed, 3) : std::string();
  };
  for (const WindowRow& row : window_rows(view)) {
    if (std::exchange(last, row.of_case) != row.of_case)
      rows.push_back({.first = {{whole_case_text(*row.of_case->work)},
                                {percent_text(row.needed / all_pairs(*row.of_case->work))},
                                {}},
                      .cells = {}});
    if (row.record == raster_of(*row.of_case)) rows.back().first.back().text = over_needed(row);
    if (!row.ratio) continue;
    const std::string variant = row.record->variant_id + (row.dense ? kDense : "");
    std::string text = ratio_text(row.ratio->ratio, row.ratio->ci);
    if (row.over_needed) text += "; " + over_needed(row);
    rows.back().cells[variant] = {std::move(text), row.dense ? Tone::plain : tone_of(row.ratio->verdict)};
    std::vector<std::string>& of_kind = row.dense ? dense : variants;
    if (std::find(of_kind.begin(), of_kind.end(), variant) == of_kind.end()) of_kind.push_back(variant);
  }
  variants.insert(variants.end(), dense.begin(), dense.end());
  return by_case_table("windows_by_case", "",
                       {{"case", "case", Align::wrapped},
                        {"needed_share", "needed, of all pairs", Align::right},
                        {"raster", "raster, computed / needed", Align::right}},
                       variants, rows);
}

}  // namespace hilbench
