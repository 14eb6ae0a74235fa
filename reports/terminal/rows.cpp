#include "reports/terminal/rows.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "kernels/base/text/text.hpp"
#include "reports/terminal/columns.hpp"
#include "reports/view/bent_rounds.hpp"
#include "reports/view/format.hpp"
#include "reports/view/margins.hpp"

namespace hilbench {
namespace {

struct RateUnit {
  double flops_per_s;
  std::string_view name;
};
constexpr std::array<RateUnit, 3> kRateUnits = {{{1e12, "TFLOP/s"}, {1e9, "GFLOP/s"}, {1e6, "MFLOP/s"}}};

// The unit of the highest rate, so that the column needs it once.
RateUnit rate_unit(const Rows& rows) {
  double highest = 0;
  for (const Record* record : rows) highest = std::max(highest, record->tflops.value_or(0) * 1e12);
  for (const RateUnit& unit : kRateUnits)
    if (highest >= unit.flops_per_s) return unit;
  return kRateUnits.back();
}

std::optional<double> bytes_per_s(const Record& record) {
  if (!record.time || !record.min_bytes || record.time->median_ns <= 0) return std::nullopt;
  return *record.min_bytes / record.time->median_ns * 1e9;
}

std::string rate_cell(const Record& record, const RateUnit& unit) {
  if (record.status != Status::ok) return "";
  if (record.tflops) return number_text(*record.tflops * 1e12 / unit.flops_per_s);
  if (record.verify && !record.verify->other_function.empty()) return "";
  const std::optional<double> bytes = bytes_per_s(record);
  return bytes ? fmt::format("{} GB/s", number_text(*bytes * 1e-9)) : "";
}

std::string short_number(double value) {
  return value < 10 ? fmt::format("{:.3f}", value) : number_text(value);
}

// The reference of each case: what the ratios of its rows are against.
using References = std::map<std::string_view, std::string_view>;
References references_of(const Rows& rows) {
  References references;
  for (const Record* record : rows) {
    if (!record->reference.empty()) references.try_emplace(record->case_id, record->reference);
    if (record->speedup) references.try_emplace(record->case_id, record->speedup->against);
  }
  return references;
}

bool is_reference(const Record& record, const References& references) {
  const auto found = references.find(record.case_id);
  return found != references.end() && found->second == record.variant_id;
}

std::string ratio_cell(const Record& record, const References& references) {
  if (record.status != Status::ok) return "";
  if (is_reference(record, references)) return "1";
  if (!record.speedup) return "";
  const Measured& speedup = *record.speedup;
  if (!std::isfinite(speedup.ci.low) || !std::isfinite(speedup.ci.high)) return short_number(speedup.ratio);
  return fmt::format("{} [{}, {}]", short_number(speedup.ratio), short_number(speedup.ci.low),
                     short_number(speedup.ci.high));
}

Cell verdict_cell(const Record& record, const References& references) {
  if (is_reference(record, references)) return {"reference", Tone::muted};
  if (!record.speedup) return {foreign_processes(record) > 0 ? "disturbed" : "", Tone::muted};
  switch (record.speedup->verdict) {
    case Verdict::faster:
      return {"faster", Tone::good};
    case Verdict::slower:
      return {"slower", Tone::bad};
    case Verdict::equivalent:
      return {"equivalent", Tone::neutral};
    default:
      return {std::string(to_string(record.speedup->verdict)), Tone::muted};
  }
}

// What stands under the row, or in place of its cells.
std::string note_of(const Record& record) {
  if (record.status != Status::ok)
    return fmt::format("{}: {}", to_string(record.status), one_line(record.reason, 2000));
  return bent_rounds_text(record);
}

std::string pairs_cell(const Record& record) {
  const std::optional<double> pairs = computed_over_needed(record);
  return pairs ? fmt::format("{:.2f}", *pairs) : "";
}

TextRow text_row(const Record& record, const References& references, const RateUnit& unit,
                 std::size_t case_number) {
  TextRow row{.heading = one_line(record.case_id), .name = one_line(record.variant_id)};
  row.number = case_number;
  row.note = {note_of(record),
              record.status == Status::failed || record.status == Status::invalid ? Tone::bad : Tone::muted};
  if (record.status != Status::ok) return row;
  const bool timed = record.time.has_value();
  row.cells = {{timed ? time_text(record.time->median_ns) : ""},
               {timed ? time_text(record.time->median_ns, record.time->ci_ns) : ""},
               {ratio_cell(record, references)},
               verdict_cell(record, references),
               {rate_cell(record, unit)},
               {pairs_cell(record)}};
  return row;
}

// What the order sorts by, ascending; infinity if there is none.
double sort_value(const Record& record, const References& references, RowOrder order) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  const bool ok = record.status == Status::ok;
  switch (order) {
    case RowOrder::time:
      return ok && record.time ? record.time->median_ns : kNone;
    case RowOrder::ratio:
      if (ok && is_reference(record, references)) return -1;
      return ok && record.speedup ? -record.speedup->ratio : kNone;
    case RowOrder::rate:
      return ok && record.tflops ? -*record.tflops : kNone;
    case RowOrder::verdict: {
      constexpr std::array<double, 5> kPlaces = {0, 4, 1, 2, 3};  // faster, slower, equivalent, ...
      return ok && record.speedup ? kPlaces[static_cast<std::size_t>(record.speedup->verdict)] : kNone;
    }
    default:
      return 0;
  }
}

void sort_rows(Rows& rows, RowOrder order) {
  if (order == RowOrder::by_case) return;
  const References references = references_of(rows);
  std::stable_sort(rows.begin(), rows.end(), [&](const Record* a, const Record* b) {
    if (order == RowOrder::variant) return a->variant_id < b->variant_id;
    return sort_value(*a, references, order) < sort_value(*b, references, order);
  });
}

}  // namespace

const std::vector<std::string>& row_order_names() {
  static const std::vector<std::string> kNames = {"case", "time", "ratio", "rate", "verdict", "variant"};
  return kNames;
}

Rows rows_of(const std::vector<Record>& records) {
  Rows rows;
  for (const Record& record : records)
    if (!record.twin) rows.push_back(&record);
  return rows;
}

namespace {

// Of each case whose variants were all timed in the same number of rounds, too few for the budget: what says
// so.
std::map<std::string_view, std::string> bent_cases(const Rows& rows) {
  std::map<std::string_view, std::set<std::string>> said;
  for (const Record* record : rows)
    if (record->status == Status::ok && record->time) said[record->case_id].insert(bent_rounds_text(*record));
  std::map<std::string_view, std::string> bent;
  for (const auto& [case_id, texts] : said)
    if (texts.size() == 1 && !texts.begin()->empty()) bent.emplace(case_id, *texts.begin());
  return bent;
}

std::string text_of(const Rows& rows, const std::map<std::string_view, std::size_t>& numbers,
                    Headings headings, const Screen& screen) {
  const RateUnit unit = rate_unit(rows);
  const References references = references_of(rows);
  const std::map<std::string_view, std::string> bent = bent_cases(rows);
  std::vector<TextRow> text;
  for (const Record* record : rows) {
    text.push_back(text_row(*record, references, unit, numbers.at(record->case_id)));
    const auto of_case = bent.find(record->case_id);
    if (of_case == bent.end()) continue;
    text.back().group_note = {"all variants: " + of_case->second, Tone::muted};
    if (record->status == Status::ok) text.back().note = {};
  }
  return columns_text(
      text, {"variant", "time", "time [95 %]", "ratio [95 %]", "verdict", std::string(unit.name), "pairs"},
      headings, screen);
}

// Of the cases, in the sequence of their first rows, from 1.
std::map<std::string_view, std::size_t> numbers_of(const Rows& rows) {
  std::map<std::string_view, std::size_t> numbers;
  for (const Record* record : rows) numbers.try_emplace(record->case_id, numbers.size() + 1);
  return numbers;
}

}  // namespace

std::string comparison_rows_text(const Rows& rows, const Screen& screen) {
  return text_of(rows, numbers_of(rows), Headings::none, screen);
}

std::string rows_text(Rows rows, RowOrder order, const Screen& screen) {
  const std::map<std::string_view, std::size_t> numbers = numbers_of(rows);
  sort_rows(rows, order);
  return text_of(rows, numbers, order == RowOrder::by_case ? Headings::shown : Headings::numbered, screen);
}

std::string legend_text(const Rows& rows, const Screen& screen) {
  std::set<std::string> references, margins;
  std::set<std::size_t> processes;
  for (const Record* record : rows) {
    if (!record->speedup) continue;
    references.insert(one_line(record->speedup->against));
    margins.insert(margin_text(record->speedup->margin));
    processes.insert(record->speedup->processes);
  }
  const bool windows = std::ranges::any_of(
      rows, [](const Record* record) { return computed_over_needed(*record).has_value(); });
  const std::string pairs =
      windows
          ? toned(wrapped("pairs: those that tiles compute / those that the windows need", screen.width, 2),
                  Tone::muted, screen) +
                "\n"
          : "";
  if (references.empty()) return pairs;
  const std::string evidence = *processes.begin() == 1
                                   ? "within one process"
                                   : fmt::format("over {} processes", fmt::join(processes, ", "));
  const std::string text = fmt::format(
      "ratio: time of {} / time of the variant, above 1 is faster; {}; margin {}",
      references.size() == 1 ? *references.begin() : "the reference", evidence, fmt::join(margins, ", "));
  return toned(wrapped(text, screen.width, 2), Tone::muted, screen) + "\n" + pairs;
}

}  // namespace hilbench
