#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "reports/site/pages.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

std::string sweeps_html(const MachineOverview& machine) {
  using S = const SweepOverview&;
  const std::vector<ColumnOf<SweepOverview>> columns = {
      {{"sweep", "sweep"},
       [](S s) {
         return Cell{s.name, Tone::plain, sweep_address(s)};
       }},
      {{"answer", "answer", Align::wrapped}, [](S s) { return Cell{s.answer}; }},
      {{"title", "question or title", Align::wrapped}, [](S s) { return Cell{s.subject}; }},
      {{"cases", "cases", Align::right}, [](S s) { return Cell{std::to_string(s.cases)}; }},
      {{"records", "records", Align::right}, [](S s) { return Cell{std::to_string(s.records)}; }},
      {{"kernels", "kernels", Align::wrapped},
       [](S s) { return Cell{fmt::format("{}", fmt::join(s.kernels, ", "))}; }},
      {{"day", "measured"}, [](S s) { return Cell{s.days.empty() ? "" : s.days.front()}; }},
  };
  return to_html(make_table<SweepOverview>("sweeps", "Sweeps of this machine", columns, machine.sweeps));
}

// Not loaded lazily: then figures that nobody has scrolled to are missing in a picture of the whole page.
std::string figures_html(const MachineOverview& machine) {
  std::string html;
  for (const SweepOverview& sweep : machine.sweeps)
    if (sweep.has_picture)
      html += fmt::format(
          "<figure><a href=\"{0}/index.html\"><img src=\"{0}/figure.svg\" alt=\"{1}\" width=\"860\" "
          "height=\"480\"></a><figcaption>{1}</figcaption></figure>\n",
          address_of(sweep.name), html_text(sweep.name + ": " + sweep.subject));
  return html.empty() ? "" : "<div class=\"panels wide\">\n" + html + "</div>\n";
}

std::string drivers_text(const MachineOverview& machine) {
  std::vector<std::string> drivers;
  for (const SweepOverview& sweep : machine.sweeps)
    for (const std::string& driver : sweep.drivers)
      if (std::find(drivers.begin(), drivers.end(), driver) == drivers.end()) drivers.push_back(driver);
  return drivers.empty() ? "" : fmt::format(" Driver {}.", fmt::join(drivers, ", "));
}

}  // namespace

PlainPage machine_page(const MachineOverview& machine, const std::string& findings) {
  std::vector<std::string> answer = answer_sentences({machine});
  for (std::string& sentence : strongest_sentences({machine})) answer.push_back(std::move(sentence));
  std::string more;
  for (const Link& link : machine.findings) more += "<li>" + link_html(link) + "</li>\n";
  return {.title = "Machine: " + machine.name,
          .question = fmt::format(
              "{}. {} of {}{}.{}", machine_parts(machine), plural(record_count(machine), "record", "records"),
              plural(machine.sweeps.size(), "sweep", "sweeps"),
              days_text(machine).empty() ? "" : ", measured " + days_text(machine), drivers_text(machine)),
          .answer = std::move(answer),
          .cards = "",
          .sections = {{"sweeps", "Sweeps", sweeps_html(machine)},
                       {"findings", "Findings",
                        findings.empty() ? "" : "<div class=\"prose\">\n" + findings + "</div>\n"},
                       {"more", "More findings", more.empty() ? "" : "<ul>\n" + more + "</ul>\n"},
                       {"figures", "Figures", figures_html(machine)}}};
}

}  // namespace hilbench
