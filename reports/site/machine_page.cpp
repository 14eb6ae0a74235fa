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
  constexpr std::size_t kFirst = 6;  // the others are folded
  std::vector<std::string> figures;
  for (const SweepOverview& sweep : machine.sweeps)
    if (sweep.has_picture)
      figures.push_back(fmt::format(
          "<figure><a href=\"{0}/index.html\"><img src=\"{0}/figure.svg\" alt=\"{1}\" width=\"860\" "
          "height=\"480\"></a><figcaption>{1}</figcaption></figure>\n",
          address_of(sweep.name), html_text(sweep.name + ": " + sweep.subject)));
  if (figures.empty()) return "";
  const auto panels = [&](std::size_t from, std::size_t to) {
    return fmt::format("<div class=\"panels wide\">\n{}</div>\n",
                       fmt::join(figures.begin() + static_cast<std::ptrdiff_t>(from),
                                 figures.begin() + static_cast<std::ptrdiff_t>(to), ""));
  };
  if (figures.size() <= kFirst) return panels(0, figures.size());
  return fmt::format("{}<details class=\"fold\">\n<summary>{} more</summary>\n{}</details>\n",
                     panels(0, kFirst), plural(figures.size() - kFirst, "figure", "figures"),
                     panels(kFirst, figures.size()));
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
                       {"figures", "Figures", figures_html(machine)},
                       {"more", "Pages of findings", more.empty() ? "" : "<ul>\n" + more + "</ul>\n"},
                       {"findings", "Findings",
                        findings.empty() ? "" : "<div class=\"prose\">\n" + findings + "</div>\n"}}};
}

}  // namespace hilbench
