#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "reports/site/claim_matrix.hpp"
#include "reports/site/findings_of_all.hpp"
#include "reports/site/order_matrix.hpp"
#include "reports/site/pages.hpp"
#include "reports/site/poster.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

struct Place {
  const MachineOverview* machine = nullptr;
  const SweepOverview* sweep = nullptr;
  std::string page() const { return page_of(*machine, *sweep); }
};

std::vector<Place> places_of(const std::vector<MachineOverview>& machines) {
  std::vector<Place> places;
  for (const MachineOverview& machine : machines)
    for (const SweepOverview& sweep : machine.sweeps) places.push_back({&machine, &sweep});
  return places;
}

// The pairs of all sweeps of a machine, a row for each kernel, dtype and rival.
struct RivalRow {
  Place place;  // where the lowest ratio is from
  RivalEntry entry;
};

std::vector<RivalRow> rival_rows(const std::vector<Place>& places) {
  std::vector<RivalRow> rows;
  for (const Place& place : places)
    for (const RivalEntry& entry : place.sweep->rivals) {
      const auto known = std::find_if(rows.begin(), rows.end(), [&](const RivalRow& row) {
        return row.place.machine == place.machine && row.entry.kernel == entry.kernel &&
               row.entry.rival == entry.rival && row.entry.dtype == entry.dtype;
      });
      if (known == rows.end()) {
        rows.push_back({place, entry});
        continue;
      }
      if (entry.low < known->entry.low) {
        known->place = place;
        known->entry.low = entry.low;
        known->entry.evidence = entry.evidence;
      }
      known->entry.high = std::max(known->entry.high, entry.high);
      known->entry.cases += entry.cases;
      known->entry.faster += entry.faster;
      known->entry.slower += entry.slower;
    }
  return rows;
}

std::string rivals_html(const std::vector<Place>& places) {
  const std::vector<RivalRow> rows = rival_rows(places);
  if (rows.empty()) return "";
  using R = const RivalRow&;
  const std::vector<ColumnOf<RivalRow>> columns = {
      {{"kernel", "kernel"}, [](R r) { return Cell{r.entry.kernel}; }},
      {{"ratio", "time of the rival / of the kernel", Align::right},
       [](R r) {
         const std::string low = number_text(r.entry.low, 3), high = number_text(r.entry.high, 3);
         return Cell{low == high ? low : low + " to " + high,
                     r.entry.low > 1    ? Tone::good
                     : r.entry.high < 1 ? Tone::bad
                                        : Tone::neutral,
                     r.place.page() + r.entry.evidence};
       }},
      {{"rival", "rival"}, [](R r) { return Cell{r.entry.rival}; }},
      {{"dtype", "dtype"}, [](R r) { return Cell{r.entry.dtype}; }},
      {{"machine", "machine"}, [](R r) { return Cell{r.place.machine->name}; }},
      {{"cases", "cases", Align::right}, [](R r) { return Cell{std::to_string(r.entry.cases)}; }},
      {{"faster", "kernel faster in", Align::right},
       [](R r) { return Cell{std::to_string(r.entry.faster)}; }},
      {{"slower", "kernel slower in", Align::right},
       [](R r) { return Cell{std::to_string(r.entry.slower)}; }},
      {{"sweep", "sweep with the lowest ratio"},
       [](R r) {
         return Cell{r.place.sweep->name, Tone::plain, r.place.page() + "#rivals"};
       }},
  };
  return paragraph_html(
             "A rival is a library that computes the same case. Above 1, the kernel of this program is "
             "faster. The number links to the record of the case that is worst for the kernel.") +
         to_html(make_table<RivalRow>("rivals", "Kernels against rivals", columns, rows));
}

struct WindowRow {
  Place place;
  const Outcome* outcome = nullptr;
};

std::string windows_html(const std::vector<Place>& places) {
  constexpr std::size_t kMost = 3;  // of a sweep
  std::vector<WindowRow> rows;
  for (const Place& place : places)
    for (std::size_t i = 0; i < std::min(kMost, place.sweep->window_orders.size()); ++i)
      rows.push_back({place, &place.sweep->window_orders[i]});
  if (rows.empty()) return "";
  using R = const WindowRow&;
  const std::vector<ColumnOf<WindowRow>> columns = {
      {{"sweep", "sweep"},
       [](R r) {
         return Cell{r.place.machine->name + " / " + r.place.sweep->name, Tone::plain,
                     r.place.page() + "#pairs"};
       }},
      {{"order", "order"}, [](R r) { return Cell{r.outcome->what}; }},
      {{"ratio", "times as fast as raster order", Align::right},
       [](R r) { return Cell{r.outcome->tally.ratios()}; }},
      {{"verdict", "verdict", Align::wrapped}, [](R r) { return Cell{r.outcome->tally.verdict()}; }},
      {{"pairs", "what its tiles compute", Align::wrapped}, [](R r) { return Cell{r.outcome->remark}; }},
  };
  return paragraph_html(
             "The three orders of each sweep that are faster in most cases, and the pairs that their tiles "
             "compute "
             "for each pair that a window needs.") +
         to_html(make_table<WindowRow>("windows", "Orders of a grid against raster order", columns, rows));
}

// One sentence a sweep, with a link to its page.
std::string sentences_html(const std::vector<Place>& places, const std::string& anchor,
                           const std::function<std::string(const SweepOverview&)>& said) {
  std::string items;
  for (const Place& place : places)
    if (const std::string text = said(*place.sweep); !text.empty())
      items +=
          fmt::format("<li>{}: {}</li>\n",
                      link_html({place.page() + anchor, place.machine->name + " / " + place.sweep->name}),
                      html_text(text));
  return items.empty() ? "" : "<ul>\n" + items + "</ul>\n";
}

std::string cards_html(const std::vector<MachineOverview>& machines) {
  std::string html = "<div class=\"cards\">\n";
  for (const MachineOverview& machine : machines) {
    html += fmt::format(
        "<div><h3>{}</h3><p>{}</p><p>{} of {}{}</p></div>\n",
        link_html({machine.address + "/index.html", machine.name}), html_text(machine_parts(machine)),
        plural(record_count(machine), "record", "records"), plural(machine.sweeps.size(), "sweep", "sweeps"),
        days_text(machine).empty() ? "" : ", measured <span>" + html_text(days_text(machine)) + "</span>");
  }
  return html + "</div>\n";
}

std::string sweeps_html(const std::vector<Place>& places) {
  using P = const Place&;
  const std::vector<ColumnOf<Place>> columns = {
      {{"sweep", "sweep"},
       [](P p) {
         return Cell{p.sweep->name, Tone::plain, p.page()};
       }},
      {{"machine", "machine"}, [](P p) { return Cell{p.machine->name}; }},
      {{"title", "question or title", Align::wrapped}, [](P p) { return Cell{p.sweep->subject}; }},
      {{"cases", "cases", Align::right}, [](P p) { return Cell{std::to_string(p.sweep->cases)}; }},
      {{"records", "records", Align::right}, [](P p) { return Cell{std::to_string(p.sweep->records)}; }},
      {{"answer", "answer", Align::wrapped}, [](P p) { return Cell{p.sweep->answer}; }},
  };
  return to_html(make_table<Place>("sweeps", "Every sweep", columns, places));
}

// Sentences and table of what all results say together; empty if they say nothing of it.
std::string finding_html(const std::vector<Finding>& findings, std::string_view id, bool sentences = true) {
  const Finding* finding = find_finding(findings, id);
  if (finding == nullptr) return "";
  std::string html;
  if (sentences)
    for (const std::string& sentence : finding->sentences) html += paragraph_html(sentence);
  return finding->table.rows.empty() ? html : html + to_html(finding->table);
}

std::string reported_html(const std::vector<Finding>& findings) {
  constexpr std::size_t kMost = 6;
  const Finding* finding = find_finding(findings, "reported");
  if (finding == nullptr) return "";
  Table table = finding->table;
  const std::size_t left = table.rows.size() - std::min(table.rows.size(), kMost);
  table.rows.resize(table.rows.size() - left);
  return paragraph_html(
             "The reports' own programs, run again. A number links to the page that takes the ratio "
             "apart, step by step." +
             (left == 0 ? "" : fmt::format(" The pages of sweeps have {} more.", left))) +
         to_html(table);
}

std::string poster_html(const std::vector<MachineOverview>& machines) {
  if (poster_svg(machines).empty()) return "";
  return fmt::format(
      "<figure class=\"poster\"><img src=\"{}\" alt=\"Claimed and measured speedup of Hilbert order over "
      "linear order\"></figure>\n",
      kPosterFile);
}

}  // namespace

std::string machine_parts(const MachineOverview& machine) {
  std::vector<std::string> parts;
  for (const auto member : {&SweepOverview::devices, &SweepOverview::processors})
    for (const SweepOverview& sweep : machine.sweeps)
      for (const std::string& part : sweep.*member)
        if (std::find(parts.begin(), parts.end(), part) == parts.end()) parts.push_back(part);
  return parts.empty() ? "a machine that the records do not name" : fmt::format("{}", fmt::join(parts, "; "));
}

std::size_t record_count(const MachineOverview& machine) {
  std::size_t count = 0;
  for (const SweepOverview& sweep : machine.sweeps) count += sweep.records;
  return count;
}

std::string days_text(const MachineOverview& machine) {
  std::vector<std::string> days;
  for (const SweepOverview& sweep : machine.sweeps)
    days.insert(days.end(), sweep.days.begin(), sweep.days.end());
  if (days.empty()) return "";
  const auto [first, last] = std::minmax_element(days.begin(), days.end());
  return *first == *last ? *first : *first + " to " + *last;
}

PlainPage index_page(const std::vector<MachineOverview>& machines) {
  std::vector<std::string> answer = answer_sentences(machines);
  for (std::string& sentence : strongest_sentences(machines)) answer.push_back(std::move(sentence));
  const std::vector<Place> places = places_of(machines);
  const std::string matrix = claim_matrix_html(machines);
  const std::string orders = order_matrix_html(machines);
  const std::vector<Finding> findings = findings_of_all(machines);
  const std::string apart = finding_html(findings, "claims", false) + finding_html(findings, "other_dtypes") +
                            finding_html(findings, "misses");
  const std::string calibration = sentences_html(
      places, "", [](const SweepOverview& sweep) { return fmt::format("{}", fmt::join(sweep.twins, " ")); });
  return {
      .title = "hilbench: all results",
      .question =
          "Does the order of rows in memory make long-context attention faster? Where, and by how much?",
      .answer = std::move(answer),
      .cards = cards_html(machines),
      .picture = poster_html(machines),
      .sections = {
          {"reported", "What the reports' own programs give", reported_html(findings)},
          {"claims", "Claims against machines",
           matrix.empty() ? ""
                          : paragraph_html("Each cell: the verdicts of all answers of that machine, and the "
                                           "range of linear / Hilbert order (above 1, Hilbert order needs "
                                           "less). Claims of papers stand last; of them, each number is the "
                                           "ratio that is named under compares. A verdict links to the page "
                                           "that explains it, a number to its record.") +
                                matrix + apart},
          {"orders", "Orders against machines",
           orders.empty() ? ""
                          : paragraph_html("Each cell: the median over cases of time of linear order / time "
                                           "of the order, kernel, tiles and traversal equal; below it their "
                                           "number and range. On a grid, linear order is raster order. The "
                                           "greener, the faster is the order; the redder, the slower.") +
                                orders},
          {"rivals", "Kernels against rivals", rivals_html(places)},
          {"windows", "Windows", windows_html(places)},
          {"rings", "Rings",
           sentences_html(places, "#rings", [](const SweepOverview& sweep) { return sweep.rings; })},
          {"calibration", "Calibration: two equal variants", calibration},
          {"sweeps", "Every sweep", sweeps_html(places)},
      }};
}

}  // namespace hilbench
