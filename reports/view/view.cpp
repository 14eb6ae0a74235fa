#include "reports/view/view.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>

#include "kernels/base/text/text.hpp"

namespace hilbench {
namespace {

std::string meta_text(const ReportInput& input, const std::string& key) {
  const auto found = input.meta.find(key);
  return found == input.meta.end() ? "" : one_line(found->second);
}

std::string machine_of(const std::vector<Record>& records) {
  std::set<std::string> names;
  std::set<std::int64_t> threads;
  for (const Record& record : records) {
    const std::string device = environment_text(record, "device", "name");
    const std::string cpu = environment_text(record, "host", "cpu");
    const bool on_cpu = record.work.device != DeviceKind::cuda;
    if (const std::string& name = !on_cpu && !device.empty() ? device : cpu; !name.empty())
      names.insert(name);
    if (on_cpu && record.threads > 0) threads.insert(record.threads);
  }
  std::string text =
      names.empty() ? "a machine that the records do not name" : fmt::format("{}", fmt::join(names, " + "));
  if (!threads.empty())
    text += fmt::format(", {} thread{}", fmt::join(threads, " and "), *threads.rbegin() == 1 ? "" : "s");
  return text;
}

// Value of the decimal prefix before `unit`: "GB/s" with "B/s" is 1e9. Nothing if it is another unit.
std::optional<double> scale_of(std::string_view text, std::string_view unit) {
  if (text == unit) return 1;
  if (text.size() != unit.size() + 1 || !text.ends_with(unit)) return std::nullopt;
  constexpr std::array<std::pair<char, double>, 4> kPrefixes = {
      {{'k', 1e3}, {'M', 1e6}, {'G', 1e9}, {'T', 1e12}}};
  for (const auto& [prefix, scale] : kPrefixes)
    if (text.front() == prefix) return scale;
  return std::nullopt;
}

void take_peak(const Record& record, CaseView& view) {
  if (record.status != Status::ok) return;
  if (record.tflops && *record.tflops > 0) view.peak_flops_per_s = *record.tflops * 1e12;
  for (const auto& [name, counter] : record.counters) {
    if (!counter.value || *counter.value <= 0) continue;
    if (const auto scale = scale_of(counter.unit, "FLOP/s"); scale && !view.peak_flops_per_s)
      view.peak_flops_per_s = *counter.value * *scale;
    auto scale = scale_of(counter.unit, "B/s");
    if (!scale) scale = scale_of(counter.unit, "bytes/s");
    if (scale && name.find("copy") != std::string::npos) view.copy_bytes_per_s = *counter.value * *scale;
  }
}

// What held a record to account in its own process is a measurement of the same limit.
void raise_to_judging(CaseView& view) {
  for (const Record* record : view.records)
    if (view.peak_flops_per_s) view.peak_flops_per_s = std::max(view.peak_flops_per_s, record->judging_peak);
}

// Peaks with the same text are measurements of the same limit. Nothing on GPUs: their speed changes with
// power and temperature, so each case keeps its own peak.
std::optional<std::string> roof_of(const Record& peak) {
  if (peak.work.device != DeviceKind::cpu || peak.status != Status::ok) return std::nullopt;
  return fmt::format("{} {} {} {}", environment_text(peak, "host", "cpu"), to_string(peak.work.dtype),
                     peak.threads, environment_text(peak, "library", "bf16_products"));
}

// A disturbance can only lower a measured peak. So all cases of one machine, dtype and number of threads
// get the highest.
void raise_roofs(View& view) {
  struct Roof {
    std::optional<double> peak, copy;  // nothing is below all
    std::vector<CaseView*> cases;
  };
  std::map<std::string, Roof> roofs;
  for (CaseView& of_case : view.cases)
    for (const Record* record : of_case.records) {
      if (record->variant_id != "peak") continue;
      const std::optional<std::string> name = roof_of(*record);
      if (!name) continue;
      Roof& roof = roofs[*name];
      roof.peak = std::max(roof.peak, of_case.peak_flops_per_s);
      roof.copy = std::max(roof.copy, of_case.copy_bytes_per_s);
      roof.cases.push_back(&of_case);
    }
  for (const auto& [name, roof] : roofs)
    for (CaseView* of_case : roof.cases) {
      of_case->peak_flops_per_s = roof.peak;
      of_case->copy_bytes_per_s = roof.copy;
    }
}

}  // namespace

bool has_gradients(const View& view) {
  return std::ranges::any_of(view.cases,
                             [](const CaseView& each) { return each.work->pass != Pass::forward; });
}

View view_of(const ReportInput& input) {
  View view{.sweep = meta_text(input, "sweep"),
            .title = meta_text(input, "title"),
            .machine = machine_of(input.records),
            .source = input.source.string(),
            .meta = input.meta,
            .cases = {},
            .record_count = 0,
            .twins = {},
            .status_counts = {},
            .records = &input.records,
            .predictions = input.predictions,
            .prediction_notes = input.prediction_notes,
            .order_pictures = input.order_pictures};
  if (view.sweep.empty() && !input.records.empty()) view.sweep = input.records.front().sweep;
  std::unordered_map<std::string_view, std::size_t> places;
  for (const Record& record : input.records) {
    if (record.twin) {
      view.twins.push_back(&record);
      continue;
    }
    ++view.record_count;
    ++view.status_counts[record.status];
    const auto [place, fresh] = places.try_emplace(record.case_id, view.cases.size());
    if (fresh) {
      CaseView& added = view.cases.emplace_back();
      added.case_id = record.case_id;
      added.work = &record.work;
    }
    CaseView& of_case = view.cases[place->second];
    of_case.records.push_back(&record);
    if (record.variant_id == "peak") take_peak(record, of_case);
  }
  for (CaseView& of_case : view.cases) raise_to_judging(of_case);
  raise_roofs(view);
  return view;
}

}  // namespace hilbench
