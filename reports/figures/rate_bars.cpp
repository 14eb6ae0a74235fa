#include "reports/figures/rate_bars.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "reports/tables/rivals.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

// "dilation 4", "segments 2048/1 + 4096/2", "" for one segment that spans the sequence without dilation.
std::string pattern_words(const Case& work) {
  if (has_windows(work)) return pattern_text(work);
  if (work.pattern.size() == 1 && work.pattern[0].segment_length >= work.sequence_length)
    return work.pattern[0].dilation == 1 ? "" : fmt::format("dilation {}", work.pattern[0].dilation);
  const std::string text = pattern_text(work);
  return "segments" + text.substr(std::min(text.find(',') + 1, text.size()));
}

// What the cases of a panel share.
std::string shared_text(const Case& work) {
  const std::string whole = whole_case_text(work);
  std::string text = whole.substr(pattern_text(work).size() + 2);  // after the pattern and ", "
  if (const std::string words = pattern_words(work); !words.empty()) text += ", " + words;
  if (work.kv_heads != 0 && work.kv_heads != work.heads) text += fmt::format(", kv heads {}", work.kv_heads);
  if (work.ring_size > 1) text += fmt::format(", {} ranks", work.ring_size);
  if (work.threads > 0) text += ", " + plural(static_cast<std::size_t>(work.threads), "thread", "threads");
  return text;
}

bool has_bar(const Record& record) {
  if (record.status != Status::ok || !record.tflops || !record.verify) return false;
  return record.kind == ImplementationKind::baseline || is_plain_linear(record);
}

RateSeries& series_of(RatePanel& panel, const Record& record) {
  const std::string library =
      record.kind == ImplementationKind::baseline ? record.variant_id : kernel_text(record);
  auto known = std::find_if(panel.series.begin(), panel.series.end(),
                            [&](const RateSeries& one) { return one.library == library; });
  if (known == panel.series.end()) known = panel.series.insert(known, {library, {}});
  known->records.resize(panel.lengths.size());
  return *known;
}

void add(std::vector<RatePanel>& panels, const CaseView& of_case) {
  const std::string shared = shared_text(*of_case.work);
  auto panel = std::find_if(panels.begin(), panels.end(),
                            [&](const RatePanel& known) { return known.shared == shared; });
  if (panel == panels.end()) panel = panels.insert(panel, {.shared = shared, .lengths = {}, .series = {}});
  const std::int64_t length = of_case.work->sequence_length;
  auto place = std::lower_bound(panel->lengths.begin(), panel->lengths.end(), length);
  const auto at = place - panel->lengths.begin();
  for (RateSeries& series : panel->series) series.records.resize(panel->lengths.size());
  if (place == panel->lengths.end() || *place != length) {
    panel->lengths.insert(place, length);
    for (RateSeries& series : panel->series) series.records.insert(series.records.begin() + at, nullptr);
  }
  for (const Record* record : of_case.records) {
    if (!has_bar(*record)) continue;
    const Record*& bar = series_of(*panel, *record).records[static_cast<std::size_t>(at)];
    if (bar == nullptr) bar = record;
  }
}

void thin_out(RatePanel& panel) {
  panel.measured_lengths = panel.lengths.size();
  if (panel.lengths.size() <= kMostRateLengths) return;
  RatePanel thinned{
      .shared = panel.shared, .lengths = {}, .series = {}, .measured_lengths = panel.lengths.size()};
  for (const RateSeries& series : panel.series) thinned.series.push_back({series.library, {}});
  for (std::size_t i = 0; i < kMostRateLengths; ++i) {
    const std::size_t at = i * (panel.lengths.size() - 1) / (kMostRateLengths - 1);
    thinned.lengths.push_back(panel.lengths[at]);
    for (std::size_t k = 0; k < panel.series.size(); ++k)
      thinned.series[k].records.push_back(panel.series[k].records[at]);
  }
  panel = std::move(thinned);
}

}  // namespace

std::string reading_of(const RatePanel& panel) {
  std::string said =
      "Kernels in linear order, and rivals that computed the same case; higher is better. FLOPs count each "
      "needed (query, key) pair once.";
  if (panel.lengths.size() < panel.measured_lengths)
    said += fmt::format(" {} of {} lengths are drawn.", panel.lengths.size(), panel.measured_lengths);
  return said;
}

RateUnit unit_of(const RatePanel& panel) {
  double most = 0;
  for (const RateSeries& series : panel.series)
    for (const Record* record : series.records)
      if (record != nullptr) most = std::max(most, *record->tflops);
  return most >= 1 ? RateUnit{"TFLOP/s", 1} : RateUnit{"GFLOP/s", 1e3};
}

std::vector<RatePanel> rate_panels(const View& view) {
  std::vector<RatePanel> panels;
  for (const CaseView& of_case : view.cases) add(panels, of_case);
  std::erase_if(panels, [](const RatePanel& panel) { return panel.series.size() < 2; });
  for (RatePanel& panel : panels)
    for (RateSeries& series : panel.series) series.records.resize(panel.lengths.size());
  std::stable_sort(panels.begin(), panels.end(), [](const RatePanel& a, const RatePanel& b) {
    return a.lengths.size() > b.lengths.size();
  });
  for (RatePanel& panel : panels) thin_out(panel);
  return panels;
}

}  // namespace hilbench
