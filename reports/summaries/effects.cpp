#include "reports/summaries/effects.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "kernels/case/dtype.hpp"
#include "kernels/case/windows.hpp"
#include "reports/tables/by_case.hpp"
#include "reports/tables/variant_rows.hpp"
#include "reports/view/format.hpp"
#include "reports/view/margins.hpp"

namespace hilbench {
namespace {

constexpr std::string_view kSlot = ".slot";  // ends the ids of variants whose tiles walk keys in stored order

bool gains(const VariantPair& pair) {
  return pair.record->speedup->verdict == Verdict::faster;
}
bool loses(const VariantPair& pair) {
  return pair.record->speedup->verdict == Verdict::slower;
}
bool is_random(const VariantPair& pair) {
  return pair.record->variant.kernel().order == "random";
}

// Speedups of one variant in some of the cases.
struct Effects {
  std::set<const CaseView*> cases;
  std::vector<double> ratios;
  std::set<std::int64_t> dilations;  // of the first branch; windows and masks have none

  void add(const VariantPair& pair) {
    cases.insert(pair.where);
    ratios.push_back(pair.record->speedup->ratio);
    if (!has_windows(*pair.where->work)) dilations.insert(pair.where->work->pattern.front().dilation);
  }
};

struct EffectsOfVariant {
  std::string variant;
  Effects faster, slower;
};

std::string range_text(const std::vector<double>& values) {
  if (values.empty()) return "";
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const std::string first = fmt::format("{:.3f}", *low), last = fmt::format("{:.3f}", *high);
  return first == last ? first : first + " to " + last;
}

double largest_margin(const std::vector<VariantPair>& pairs) {
  double margin = 0;
  for (const VariantPair& pair : pairs) margin = std::max(margin, pair.record->speedup->margin);
  return margin;
}

std::size_t cases_of(const std::vector<VariantPair>& pairs) {
  std::set<const CaseView*> cases;
  for (const VariantPair& pair : pairs) cases.insert(pair.where);
  return cases.size();
}

// The variant that is faster in most cases first.
std::vector<EffectsOfVariant> effects_of(const std::vector<VariantPair>& pairs) {
  std::map<std::string, EffectsOfVariant> variants;
  for (const VariantPair& pair : pairs) {
    if (!gains(pair) && !loses(pair)) continue;
    EffectsOfVariant& variant = variants[pair.record->variant_id];
    variant.variant = pair.record->variant_id;
    (gains(pair) ? variant.faster : variant.slower).add(pair);
  }
  std::vector<EffectsOfVariant> sorted;
  for (auto& [id, variant] : variants) sorted.push_back(std::move(variant));
  std::stable_sort(sorted.begin(), sorted.end(), [](const EffectsOfVariant& a, const EffectsOfVariant& b) {
    return a.faster.cases.size() > b.faster.cases.size();
  });
  return sorted;
}

// The kernel of its reference: what it gains or loses is the order's.
bool is_of_one_kernel(const VariantPair& pair) {
  return pair.record->variant.name() == pair.reference->variant.name();
}

// How many of the gains of other orders random order reaches too: its interval reaches the gain's.
std::string control_sentence(const std::vector<VariantPair>& pairs) {
  std::map<const CaseView*, double> random;  // upper ends
  for (const VariantPair& pair : pairs)
    if (is_random(pair) && is_of_one_kernel(pair))
      random[pair.where] = std::max(random[pair.where], pair.record->speedup->ci.high);
  std::size_t won = 0, alike = 0;
  for (const VariantPair& pair : pairs) {
    if (!gains(pair) || is_random(pair) || !is_of_one_kernel(pair) || !random.contains(pair.where)) continue;
    ++won;
    alike += random[pair.where] >= pair.record->speedup->ci.low;
  }
  if (won == 0) return "";
  return fmt::format("Random order, the control, reaches {} of the {} of other orders.", alike,
                     plural(won, "gain", "gains"));
}

std::string slot_sentence(const std::vector<VariantPair>& pairs) {
  std::vector<double> changes;
  for (const VariantPair& pair : pairs) {
    const std::string_view id = pair.record->variant_id;
    if (!id.ends_with(kSlot)) continue;
    for (const VariantPair& other : pairs)
      if (other.where == pair.where && other.record->variant_id == id.substr(0, id.size() - kSlot.size()))
        changes.push_back(other.record->speedup->ratio / pair.record->speedup->ratio);
  }
  if (changes.empty()) return "";
  return fmt::format(
      "If a tile walks its keys in stored order (.slot) instead of by position, the time of an order changes "
      "by "
      "a factor of {}.",
      range_text(changes));
}

std::string ranked_case_text(const Case& work) {
  return whole_case_text(work) + (work.ring_size > 1 ? fmt::format(", {} ranks", work.ring_size) : "");
}

}  // namespace

std::vector<VariantPair> variant_pairs(const View& view) {
  std::vector<VariantPair> pairs;
  for (const CaseView& of_case : view.cases)
    for (const Record* record : of_case.records) {
      if (record->kind != ImplementationKind::kernel || record->status != Status::ok || !record->speedup)
        continue;
      if (record->speedup->verdict == Verdict::different_function) continue;
      const auto reference =
          std::find_if(of_case.records.begin(), of_case.records.end(),
                       [&](const Record* other) { return other->variant_id == record->speedup->against; });
      if (reference != of_case.records.end() && (*reference)->time)
        pairs.push_back({&of_case, record, *reference});
    }
  return pairs;
}

double kv_bytes(const Case& work) {
  return 2.0 * static_cast<double>(work.batch) * static_cast<double>(work.sequence_length) *
         static_cast<double>(work.kv_heads) * static_cast<double>(work.head_dim) *
         static_cast<double>(dtype_bytes(work.dtype));
}

std::int64_t keys_read(const Case& work) {
  if (has_mask_blocks(work)) return 0;
  std::int64_t keys = 0;
  if (has_windows(work)) {
    keys = 1;
    for (const WindowDimension& dimension : work.windows) keys *= dimension.window;
    return keys;
  }
  for (const Branch& branch : work.pattern) {
    const std::int64_t segment = std::min(branch.segment_length, work.sequence_length);
    keys = std::max(keys, (segment + branch.dilation - 1) / branch.dilation);
  }
  return keys;
}

Table effects_table(const View& view) {
  using E = const EffectsOfVariant&;
  const auto dilations = [](const Effects& effects) {
    return Cell{fmt::format("{}", fmt::join(effects.dilations, ", "))};
  };
  const std::vector<ColumnOf<EffectsOfVariant>> columns = {
      {{"variant", "variant"}, [](E e) { return Cell{e.variant}; }},
      {{"faster", "cases faster", Align::right},
       [](E e) { return text_cell(std::to_string(e.faster.cases.size())); }},
      {{"faster_speedup", "speedup", Align::right}, [](E e) { return Cell{range_text(e.faster.ratios)}; }},
      {{"faster_dilations", "dilations"}, [=](E e) { return dilations(e.faster); }},
      {{"slower", "cases slower", Align::right},
       [](E e) { return text_cell(std::to_string(e.slower.cases.size())); }},
      {{"slower_speedup", "speedup", Align::right}, [](E e) { return Cell{range_text(e.slower.ratios)}; }},
      {{"slower_dilations", "dilations"}, [=](E e) { return dilations(e.slower); }}};
  return make_table<EffectsOfVariant>("effects", "", columns, effects_of(variant_pairs(view)));
}

std::vector<std::string> effects_sentences(const View& view) {
  const std::vector<VariantPair> pairs = variant_pairs(view);
  if (pairs.empty()) return {};
  const std::string cases = plural(cases_of(pairs), "case", "cases"),
                    margin = margin_text(largest_margin(pairs));
  std::set<const CaseView*> moved;
  for (const VariantPair& pair : pairs)
    if (gains(pair) || loses(pair)) moved.insert(pair.where);
  std::vector<std::string> said = {fmt::format(
      "In {} of {} some variant of a kernel is shown to be more than {} faster or slower than its reference.",
      moved.size(), cases, margin)};
  for (const std::string& more : {control_sentence(pairs), slot_sentence(pairs)})
    if (!more.empty()) said.push_back(more);
  return said;
}

Table ratios_table(const View& view) {
  std::vector<std::string> variants;
  std::vector<CaseRow> rows;
  const CaseView* last = nullptr;
  const Record* fastest = nullptr;
  const auto note_fastest = [&](const Record& record) {
    if (fastest != nullptr && fastest->time->median_ns <= record.time->median_ns) return;
    fastest = &record;
    std::vector<Cell>& cells = rows.back().first;
    cells[4].text = record.variant_id;
    cells[5].text = record.tflops ? rate_text(*record.tflops * 1e12) : "";
  };
  for (const VariantPair& pair : variant_pairs(view)) {
    const Case& work = *pair.where->work;
    if (has_grid(work)) continue;  // windows_by_case_table() has them
    if (std::exchange(last, pair.where) != pair.where) {
      const std::int64_t keys = keys_read(work);
      rows.push_back({.first = {{ranked_case_text(work)},
                                {bytes_text(kv_bytes(work))},
                                {keys == 0 ? "" : std::to_string(keys)},
                                {time_text(pair.reference->time->median_ns)},
                                {},
                                {}},
                      .cells = {}});
      fastest = nullptr;
      note_fastest(*pair.reference);
    }
    const Measured& speedup = *pair.record->speedup;
    note_fastest(*pair.record);
    rows.back().cells[pair.record->variant_id] = {ratio_text(speedup.ratio, speedup.ci),
                                                  tone_of(speedup.verdict)};
    if (std::find(variants.begin(), variants.end(), pair.record->variant_id) == variants.end())
      variants.push_back(pair.record->variant_id);
  }
  return by_case_table("ratios", "",
                       {{"case", "case (segment/dilation)", Align::wrapped},
                        {"kv_bytes", "K and V", Align::right},
                        {"keys", "keys", Align::right},
                        {"reference", "time of the reference", Align::right},
                        {"fastest", "fastest"},
                        {"rate", "its rate", Align::right}},
                       variants, rows);
}

}  // namespace hilbench
