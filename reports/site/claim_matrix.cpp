#include "reports/site/claim_matrix.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <tuple>

#include "reports/tables/claim_cells.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

struct Answer {
  const ClaimEntry* entry = nullptr;
  std::string page;  // of its sweep, relative to the index
};
struct Row {
  std::string claim, title, compares;
  bool of_paper = false;
  std::vector<std::vector<Answer>> cells;  // of each machine
};

std::vector<Row> rows_of(const std::vector<MachineOverview>& machines) {
  std::vector<Row> rows;
  for (std::size_t column = 0; column < machines.size(); ++column)
    for (const SweepOverview& sweep : machines[column].sweeps)
      for (const ClaimEntry& entry : sweep.claims) {
        if (entry.other_dtype) continue;
        auto row = std::find_if(rows.begin(), rows.end(), [&](const Row& known) {
          return known.claim == entry.claim && known.compares == entry.compares &&
                 (!entry.of_paper || known.title == entry.title);
        });
        if (row == rows.end())
          row = rows.insert(row, {entry.claim, entry.title, entry.compares, entry.of_paper,
                                  std::vector<std::vector<Answer>>(machines.size())});
        row->cells[column].push_back({&entry, page_of(machines[column], sweep)});
      }
  const auto papers =
      std::stable_partition(rows.begin(), rows.end(), [](const Row& row) { return !row.of_paper; });
  std::stable_sort(papers, rows.end(), [](const Row& a, const Row& b) { return a.claim < b.claim; });
  std::stable_sort(rows.begin(), papers, [](const Row& a, const Row& b) {
    const bool a_later = a.compares != "kernel time", b_later = b.compares != "kernel time";
    return std::tie(a_later, a.compares, a.claim) < std::tie(b_later, b.compares, b.claim);
  });
  return rows;
}

// "3 no gain, 10 inconclusive"; the verdict alone if all agree.
Cell verdicts_of(const std::vector<Answer>& answers) {
  std::vector<std::pair<Cell, std::size_t>> said;
  for (const Answer& answer : answers) {
    const Cell verdict = shown_verdict(answer.entry->verdict, answer.entry->gain);
    auto known = std::find_if(said.begin(), said.end(),
                              [&](const auto& one) { return one.first.text == verdict.text; });
    if (known == said.end()) known = said.insert(known, {verdict, 0});
    ++known->second;
  }
  if (said.size() == 1) return said.front().first;
  std::stable_sort(said.begin(), said.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> parts;
  for (const auto& [verdict, count] : said) parts.push_back(counted_verdict(count, verdict.text));
  // What is undecided has the neutral colour, which gives way to that of what is decided most often.
  const auto decided =
      std::ranges::find_if(said, [](const auto& one) { return one.first.tone != Tone::neutral; });
  return {fmt::format("{}", fmt::join(parts, ", ")),
          decided == said.end() ? Tone::neutral : decided->first.tone};
}

std::string record_link(const Answer& answer) {
  return link_html({answer.page + answer.entry->evidence, number_text(*answer.entry->measured)});
}

// "0.986 to 0.999", each end a link to its record.
std::string span_html(const std::vector<Answer>& answers) {
  const Answer *low = nullptr, *high = nullptr;
  for (const Answer& answer : answers) {
    if (!answer.entry->measured) continue;
    if (!low || *answer.entry->measured < *low->entry->measured) low = &answer;
    if (!high || *answer.entry->measured > *high->entry->measured) high = &answer;
  }
  if (!low) return link_html({answers.front().page + answers.front().entry->evidence, "record"});
  if (*low->entry->measured == *high->entry->measured) return record_link(*low);
  return record_link(*low) + " to " + record_link(*high);
}

// The section of the page that explains the verdict.
std::string verdict_anchor(const Answer& answer) {
  return answer.entry->of_paper ? "#literature" : "#claims";
}

// What the colours of the cells say; the words of each cell say it too.
std::string legend_html() {
  constexpr std::pair<Tone, std::string_view> kEntries[] = {
      {Tone::good, "the claimed gain is reproduced"},
      {Tone::bad, "contradicted"},
      {Tone::excluded, "claim excluded"},
      {Tone::neutral, "no gain, less than claimed, or undecided"}};
  std::string html = "<p class=\"colours\">Colours:";
  for (const auto& [tone, words] : kEntries)
    html += fmt::format(" <span class=\"{}\">{}</span>", class_of(tone), words);
  return html + " Several verdicts: the most frequent one that is coloured.</p>\n";
}

std::string cell_html(const std::vector<Answer>& answers) {
  if (answers.empty()) return "<td class=\"muted\">not tested</td>";
  const Cell verdicts = verdicts_of(answers);
  return fmt::format("<td class=\"wide {}\">{}<br><small>{}</small></td>", class_of(verdicts.tone),
                     link_html({answers.front().page + verdict_anchor(answers.front()), verdicts.text}),
                     span_html(answers));
}

bool tests_claims(const MachineOverview& machine) {
  return std::ranges::any_of(machine.sweeps, [](const SweepOverview& sweep) {
    return std::ranges::any_of(sweep.claims, [](const ClaimEntry& entry) { return !entry.other_dtype; });
  });
}

std::string untested_html(const std::vector<MachineOverview>& machines) {
  std::vector<std::string> names;
  for (const MachineOverview& machine : machines) names.push_back(html_text(machine.name));
  return names.empty() ? "" : fmt::format("<p>No claim was tested on {}.</p>\n", fmt::join(names, ", "));
}

}  // namespace

std::string claim_matrix_html(const std::vector<MachineOverview>& all) {
  std::vector<MachineOverview> machines, untested;
  for (const MachineOverview& machine : all) (tests_claims(machine) ? machines : untested).push_back(machine);
  const std::vector<Row> rows = rows_of(machines);
  if (rows.empty()) return "";
  std::string html =
      legend_html() + untested_html(untested) +
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Claims by machine\">\n<table>\n"
      "<thead><tr><th scope=\"col\">claim</th><th scope=\"col\">compares</th>";
  for (const MachineOverview& machine : machines)
    html += fmt::format("<th scope=\"col\">{}</th>", html_text(machine.name));
  html += "<th scope=\"col\">what it says</th></tr></thead>\n<tbody>\n";
  for (const Row& row : rows) {
    html += fmt::format("<tr><td>{}</td><td class=\"brief\">{}</td>", html_text(row.claim),
                        html_text(row.compares));
    for (const std::vector<Answer>& cell : row.cells) html += cell_html(cell);
    html += fmt::format("<td class=\"wide\">{}</td></tr>\n", html_text(row.title));
  }
  return html + "</tbody>\n</table>\n</div>\n";
}

}  // namespace hilbench
