// The result of a gate as text, Markdown, CSV, JUnit's XML and GitHub's annotations.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/base/text/text.hpp"
#include "reports/gate/gate.hpp"
#include "reports/view/format.hpp"
#include "reports/view/table.hpp"

namespace hilbench {
namespace {

constexpr std::size_t kLongestNote = 1000;
constexpr std::size_t kLongestSummary = 64 * 1024;  // of a comment on GitHub

// "+3.1 %": a slowdown on the log scale as a share.
std::string share_text(double ln) {
  return std::isfinite(ln) ? fmt::format("{:+.2f} %", 100 * std::expm1(ln)) : "";
}

Interval interval_of(const GateRow& row) {
  return mean_interval(row.slowdown);
}

std::string interval_text(const GateRow& row) {
  const Interval ci = interval_of(row);
  return std::isfinite(ci.low) ? fmt::format("{} to {}", share_text(ci.low), share_text(ci.high)) : "";
}

std::string seen_text(const GateRow& row) {
  return std::isfinite(row.seen) && row.processes > 0 ? fmt::format("{:.2f} %", 100 * row.seen) : "";
}

std::string verdict_text(const GateRow& row) {
  if (row.broken) return "failed";
  if (row.judged) return std::string(to_string(row.verdict));
  if (!row.reference && !row.reason.empty()) return "not judged";
  return row.reference ? "reference, not judged" : "rival, not judged";
}

// A share for other programs, to a hundredth of a percent, as it is printed: the digits behind it are noise.
// Adding 0 makes 0 of -0.
std::string share_data(double share) {
  return data_text(std::round(share * 1e4) / 1e4 + 0.0);
}

Table gate_table(const std::vector<GateRow>& rows) {
  using Row = GateRow;
  const auto share = [](double ln) { return share_data(std::expm1(ln)); };
  const std::vector<ColumnOf<Row>> columns = {
      {{"case", "case"}, [](const Row& r) { return Cell{r.case_id}; }},
      {{"variant", "variant"}, [](const Row& r) { return Cell{r.variant_id}; }},
      {{"verdict", "verdict"}, [](const Row& r) { return Cell{verdict_text(r)}; }},
      {{"slowdown_text", "slowdown", Align::right, Show::page},
       [](const Row& r) { return Cell{r.processes > 0 ? share_text(r.slowdown.value) : ""}; }},
      {{"interval_text", "95 % interval", Align::right, Show::page},
       [](const Row& r) { return Cell{interval_text(r)}; }},
      {{"seen_text", "smallest that could be seen", Align::right, Show::page},
       [](const Row& r) { return Cell{seen_text(r)}; }},
      {{"slowdown", "", Align::right, Show::data},
       [share](const Row& r) { return Cell{r.processes > 0 ? share(r.slowdown.value) : ""}; }},
      {{"slowdown_low", "", Align::right, Show::data},
       [share](const Row& r) { return Cell{share(interval_of(r).low)}; }},
      {{"slowdown_high", "", Align::right, Show::data},
       [share](const Row& r) { return Cell{share(interval_of(r).high)}; }},
      {{"smallest_seen", "", Align::right, Show::data},
       [](const Row& r) { return Cell{share_data(r.seen)}; }},
      {{"processes", "pairs", Align::right}, [](const Row& r) { return Cell{std::to_string(r.processes)}; }},
      {{"second_round", "", Align::left, Show::data},
       [](const Row& r) { return Cell{r.second_round ? "true" : "false"}; }},
      {{"reason", "why", Align::wrapped}, [](const Row& r) { return Cell{r.reason}; }},
  };
  return make_table("gate", "", columns, rows);
}

// The largest slowdown that the intervals of ok variants leave possible; "" if there are none.
std::string excluded_text(const GateResult& result) {
  double most = -std::numeric_limits<double>::infinity();
  for (const GateRow& row : result.rows)
    if (row.judged && !row.broken && row.verdict == GateVerdict::ok)
      most = std::max(most, interval_of(row).high);
  return std::isfinite(most) ? fmt::format(" No slowdown above {:.1f} % in what is ok (97.5 % each).",
                                           100 * std::expm1(std::max(most, 0.0)))
                             : "";
}

std::string compared_text(const GateResult& result) {
  return fmt::format("Baseline: {}. Candidate: {}. Measured in {:.0f} s.{}", result.baseline,
                     result.candidate, result.seconds, excluded_text(result));
}

std::string rule_text(const GateResult& result) {
  if (result.stored)
    return fmt::format(
        "From stored results, whose processes do not alternate, so a change of the machine between the runs "
        "can pass for one of the program: weaker than a gate of two programs. Times are divided by those of "
        "each run's own reference and its twin. Slower: the lower bound of the slowdown is above {:g} %, at "
        "{:g} % for all together. Ok: a slowdown of {:g} % is excluded and could have been seen. Undecided: "
        "neither.",
        100 * result.rule.threshold, 100 * kFalseAlarms, 100 * result.rule.threshold);
  return fmt::format(
      "Slower: the lower bound of the slowdown is above {:g} %, in two independent rounds; a whole gate of "
      "equal builds says so with a probability of at most {:g} %. Ok: a slowdown of {:g} % is excluded and "
      "could have been seen. Undecided: neither.",
      100 * result.rule.threshold, 100 * kFalseAlarms, 100 * result.rule.threshold);
}

// XML allows neither control characters nor U+FFFE and U+FFFF.
std::string xml_text(std::string_view text) {
  std::string safe = printable(text);
  for (const char* forbidden : {"\xEF\xBF\xBE", "\xEF\xBF\xBF"})
    for (std::size_t at = safe.find(forbidden); at != std::string::npos; at = safe.find(forbidden, at))
      safe.replace(at, 3, 1, '?');
  return html_text(safe);
}

// GitHub ends an annotation at a line break; % starts an escape.
std::string annotation_text(const std::string& text) {
  std::string escaped;
  for (const char c : one_line(text)) escaped += c == '%' ? "%25" : std::string(1, c);
  return escaped;
}

bool accepted(const GateRow& row) {
  return !row.broken && (!row.judged || row.verdict == GateVerdict::ok || row.verdict == GateVerdict::faster);
}

std::string notes_text(const GateResult& result, const char* bullet) {
  std::string text;
  for (const auto* lines : {&result.disturbances, &result.missing, &result.notes})
    for (const std::string& line : *lines)
      text += fmt::format("{}{}\n", bullet, one_line(line, kLongestNote));
  return text;
}

std::string markdown_notes(const GateResult& result) {
  std::string text;
  for (const auto* lines : {&result.disturbances, &result.missing, &result.notes})
    for (const std::string& line : *lines)
      text += fmt::format("- {}\n", markdown_text(one_line(line, kLongestNote)));
  return text;
}

std::string name_of(const GateRow& row) {
  return one_line(row.case_id + " " + row.variant_id);
}

// Slowdown, interval, smallest that could be seen, and pairs, as far as they are known.
std::string measured_text(const GateRow& row) {
  if (row.processes == 0) return "";
  std::string text = fmt::format("  {:>9}", share_text(row.slowdown.value));
  if (const std::string interval = interval_text(row); !interval.empty())
    text += fmt::format("  [{}]", interval);
  if (const std::string seen = seen_text(row); !seen.empty()) text += ", smallest that could be seen " + seen;
  return text + ", " + plural(row.processes, "pair", "pairs");
}

}  // namespace

std::string row_sentence(const GateRow& row) {
  std::string text = fmt::format("{}: {}", name_of(row), verdict_text(row));
  if (row.processes > 0) text += ", " + share_text(row.slowdown.value);
  if (const std::string interval = interval_text(row); row.processes > 0 && !interval.empty())
    text += fmt::format(" ({})", interval);
  if (!row.reason.empty()) text += fmt::format("; {}", row.reason);
  return text;
}

std::string gate_text(const GateResult& result) {
  std::string text = fmt::format("{}\n{}\n{}\n", headline(result), compared_text(result), rule_text(result));
  text += notes_text(result, "- ");
  std::size_t width = 0;
  for (const GateRow& row : result.rows) width = std::max(width, name_of(row).size());
  for (const GateRow& row : worst_first(result)) {
    text += fmt::format("{:<10} {:<{}}", verdict_text(row), name_of(row), width);
    text += measured_text(row);
    text += row.reason.empty() ? "\n" : fmt::format("; {}\n", row.reason);
  }
  return text;
}

std::string gate_markdown(const GateResult& result) {
  const std::string head = fmt::format("### hilbench gate: {}\n\n{}\n\n{}\n", markdown_text(headline(result)),
                                       markdown_text(compared_text(result)), markdown_notes(result));
  const std::string tail = fmt::format("\n{}\n", rule_text(result));
  std::vector<GateRow> rows = worst_first(result);
  for (std::size_t left_out = 0;; ++left_out) {
    std::string text = head + to_markdown(gate_table(rows));
    if (left_out > 0)
      text += fmt::format("\n{} more rows, none worse than these.\n", result.rows.size() - rows.size());
    text += tail;
    if (text.size() < kLongestSummary || rows.empty()) return text;
    rows.resize(rows.size() * 3 / 4);
  }
}

std::string gate_junit(const GateResult& result) {
  std::size_t tests = 0, failures = 0, skipped = 0;
  std::string cases;
  for (const GateRow& row : worst_first(result)) {
    if (!row.judged && !row.broken) continue;
    ++tests;
    const std::string open = fmt::format("  <testcase classname=\"{}\" name=\"{}\">", xml_text(row.case_id),
                                         xml_text(row.variant_id));
    const std::string message = xml_text(row_sentence(row));
    if (row.broken || row.verdict == GateVerdict::slower) {
      ++failures;
      cases += fmt::format("{}<failure message=\"{}\"/></testcase>\n", open, message);
    } else if (row.verdict == GateVerdict::undecided) {
      ++skipped;
      cases += fmt::format("{}<skipped message=\"{}\"/></testcase>\n", open, message);
    } else {
      cases += fmt::format("{}<system-out>{}</system-out></testcase>\n", open, message);
    }
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"hilbench gate {}\" tests=\"{}\" "
      "failures=\"{}\" "
      "skipped=\"{}\" time=\"{:.3f}\">\n{}  <system-out>{}</system-out>\n</testsuite>\n",
      xml_text(result.sweep), tests, failures, skipped, result.seconds, cases,
      xml_text(headline(result) + "\n" + notes_text(result, "")));
}

std::string gate_csv(const GateResult& result) {
  return to_csv(gate_table(worst_first(result)));
}

std::string gate_annotations(const GateResult& result) {
  std::string text;
  for (const auto* lines : {&result.disturbances, &result.missing})
    for (const std::string& line : *lines)
      text += fmt::format("::warning title=hilbench gate::{}\n", annotation_text(line));
  for (const GateRow& row : worst_first(result)) {
    if (accepted(row)) continue;
    const char* level = row.broken || row.verdict == GateVerdict::slower ? "error" : "warning";
    text += fmt::format("::{} title=hilbench gate::{}\n", level, annotation_text(row_sentence(row)));
  }
  return text;
}

}  // namespace hilbench
