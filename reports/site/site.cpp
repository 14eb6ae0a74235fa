#include "reports/site/site.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "kernels/base/files/files.hpp"
#include "kernels/base/process/held_signals.hpp"
#include "kernels/base/text/error.hpp"
#include "reports/claims/claims_file.hpp"
#include "reports/figures/draw.hpp"
#include "reports/figures/report_data.hpp"
#include "reports/findings/all_tables.hpp"
#include "reports/page/page.hpp"
#include "reports/pictures/drawing_program.hpp"
#include "reports/site/findings_of_all.hpp"
#include "reports/site/markdown_html.hpp"
#include "reports/site/new_folder.hpp"
#include "reports/site/pages.hpp"
#include "reports/site/poster.hpp"
#include "reports/site/results_folders.hpp"

namespace hilbench {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMachines = "machines";  // so that no name of a machine is that of another file here

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw_file_error(error.value(), {"the folder cannot be written", folder.string(), "", ""});
}

bool is_site(const fs::path& folder) {
  std::error_code ignored;
  const fs::path index = folder / "index.html";
  return fs::is_regular_file(index, ignored) &&
         read_text(index, "page", kMostInputBytes).find("name=\"generator\" content=\"hilbench site\"") !=
             std::string::npos;
}

class SiteWriter {
 public:
  SiteWriter(const SiteInput& input, const fs::path& folder, const std::vector<MachineFolder>& machines)
      : input_(input), folder_(folder), machines_(machines) {
    for (const MachineFolder& machine : machines) sweeps_ += machine.sweeps.size();
  }

  std::vector<MachineOverview> write() {
    make_folder(folder_ / "assets");
    for (const PageFile& file : page_files(input_.charts))
      write_file(folder_ / "assets" / file.name, file.text);
    write_file(folder_ / ".nojekyll", "");  // GitHub Pages serves the files as they are
    std::vector<MachineOverview> overviews;
    for (const MachineFolder& machine : machines_) overviews.push_back(write_machine(machine));
    const PlainPage index = index_page(overviews);
    if (const std::string poster = poster_svg(overviews); !poster.empty()) write_poster(poster);
    write_file(
        folder_ / "index.html",
        to_html(index,
                {.assets = "assets", .description = index.answer.front(), .picture = picture_, .trail = {}}));
    return overviews;
  }
  std::vector<std::string> notes() const { return notes_; }

 private:
  // The address of the site's root, from a page that is `depth` folders below it.
  static std::string up(std::size_t depth) {
    std::string address;
    for (std::size_t i = 0; i < depth; ++i) address += i == 0 ? ".." : "/..";
    return address;
  }
  static std::size_t depth_of(const std::string& address) {
    return 1 + static_cast<std::size_t>(std::count(address.begin(), address.end(), '/'));
  }

  MachineOverview write_machine(const MachineFolder& machine) {
    MachineOverview overview{.name = machine.name,
                             .address = std::string(kMachines) + "/" + address_of(machine.name)};
    const fs::path place = folder_ / kMachines / machine.name;
    for (const SweepFolder& sweep : machine.sweeps)
      overview.sweeps.push_back(write_sweep(sweep, overview, place / sweep.name));
    const std::string findings = write_findings(machine, overview, place);
    const PlainPage page = machine_page(overview, findings);
    const std::string root = up(depth_of(overview.address));
    write_file(place / "index.html", to_html(page, {.assets = root + "/assets",
                                                    .description = page.answer.front(),
                                                    .picture = machine_picture(overview),
                                                    .trail = {{root + "/index.html", "All results"}}}));
    return overview;
  }

  SweepOverview write_sweep(const SweepFolder& sweep, const MachineOverview& machine, const fs::path& place) {
    stop_if_asked();
    if (input_.begins) input_.begins(machine.name + "/" + sweep.name, ++begun_, sweeps_);
    const ReportInput input = input_.read(sweep.path);
    const View view = view_of(input);
    const std::vector<ClaimRow> claims = claims_of(input);
    const std::vector<ClaimAnswer> answers = answer_claims(claims, view);
    Document document = document_of(view, answers, {}, {});
    if (view.sweep != sweep.name) document.title += fmt::format(" (folder {})", sweep.name);
    SweepOverview overview = overview_of(sweep.name, view, answers, document);
    make_folder(place / "tables");
    for (const Table& table : all_tables(view, answers))
      write_file(place / "tables" / (table.name + ".csv"), to_csv(table));
    const nlohmann::json data = report_data(view, answers);
    overview.has_picture = write_picture(data, place);
    const std::string root = up(depth_of(machine.address) + 1);
    const std::string here = machine.address + "/" + address_of(sweep.name);
    const PageFrame frame{.assets = root + "/assets",
                          .description = overview.answer,
                          .picture = overview.has_picture ? picture_address(here, "figure.png") : "",
                          .trail = {{root + "/index.html", "All results"}, {"../index.html", machine.name}}};
    write_file(place / "index.html", to_html(document, data, input_.charts, frame));
    return overview;
  }

  // Previews take no SVG.
  void write_poster(const std::string& svg) {
    write_file(folder_ / kPosterFile, svg);
    if (!pictures_) return;
    try {
      write_file(folder_ / kPosterPreview, png_of(svg));
      picture_ = whole_address(kPosterPreview).value_or(kPosterPreview);
    } catch (const EnvironmentError& error) {
      note(std::string("the preview of the index is another picture: ") + error.what());
    }
  }

  void note(const std::string& text) {
    if (std::find(notes_.begin(), notes_.end(), text) == notes_.end()) notes_.push_back(text);
  }

  // The first figure, which the page of the machine and previews show.
  bool write_picture(const nlohmann::json& data, const fs::path& place) {
    if (!pictures_) return false;
    const Drawn drawn = draw(data, input_.charts, place, "figure");
    for (const std::string& text : drawn.notes) note(text);
    pictures_ = !drawn.figures.empty() || drawn.notes.empty();  // without Node.js, it is not tried again
    return !drawn.figures.empty();
  }

  // Programs that show previews want the whole address.
  std::string picture_address(const std::string& here, const std::string& file) {
    const std::string address = here + "/" + file;
    const std::optional<std::string> whole = whole_address(address);
    if (picture_.empty()) picture_ = whole.value_or(address);
    return whole.value_or(file);
  }
  // None if it is not known where the site will stand.
  std::optional<std::string> whole_address(const std::string& address) const {
    if (input_.url.empty()) return std::nullopt;
    return input_.url + (input_.url.ends_with('/') ? "" : "/") + address;
  }
  std::string machine_picture(const MachineOverview& machine) {
    for (const SweepOverview& sweep : machine.sweeps)
      if (sweep.has_picture) {
        const std::string file = address_of(sweep.name) + "/figure.png";
        return picture_address(machine.address, file);
      }
    return "";
  }

  // Writes a page for each Markdown file but the README, whose markup it returns for the machine's page.
  std::string write_findings(const MachineFolder& folder, MachineOverview& machine, const fs::path& place) {
    std::string readme;
    const std::string root = up(depth_of(machine.address));
    for (const fs::path& file : folder.findings) {
      const std::string text = read_text(file, "findings", kMostInputBytes);
      const std::string html =
          markdown_html(text, [&](std::string_view link) { return address_for(folder, link); });
      if (file.filename() == "README.md") {
        readme = html;
        continue;
      }
      const std::string name = file.stem().string() + ".html", heading = first_heading(text);
      const std::string title = heading.empty() ? file.stem().string() : heading;
      machine.findings.push_back({address_of(name), title});
      const PlainPage page{
          .title = title,
          .question = "",
          .answer = {},
          .cards = "",
          .sections = {{"findings", "Findings", "<div class=\"prose\">\n" + html + "</div>\n"}}};
      write_file(
          place / name,
          to_html(page, {.assets = root + "/assets",
                         .description = title,
                         .picture = "",
                         .trail = {{root + "/index.html", "All results"}, {"index.html", machine.name}}}));
    }
    return readme;
  }

  // The address that stands for that of a link in a file of a machine's folder, from a page of that machine.
  std::optional<std::string> address_for(const MachineFolder& from, std::string_view link) const {
    const std::string anchor(link.substr(std::min(link.find('#'), link.size())));
    if (anchor.size() == link.size()) return anchor;
    const std::optional<fs::path> page = page_of_link(machines_, from, link);
    if (!page) return std::nullopt;
    return address_of(page->lexically_relative(from.name).generic_string()) + anchor;
  }

  const SiteInput& input_;
  const fs::path& folder_;
  const std::vector<MachineFolder>& machines_;
  std::vector<std::string> notes_;
  std::string picture_;  // of the index: the poster, otherwise the first figure that was drawn
  bool pictures_ = true;
  std::size_t sweeps_ = 0, begun_ = 0;
};

}  // namespace

SiteOutput write_site(const SiteInput& input) {
  const std::vector<MachineFolder> machines = machine_folders(input.folder);
  SiteOutput output{.index = input.output / "index.html", .machines = machines.size()};
  if (!input.charts.note.empty()) output.notes.push_back(input.charts.note);
  for (const MachineFolder& machine : machines) output.sweeps += machine.sweeps.size();
  replace_folder(input.output, is_site, [&](const fs::path& folder) {
    SiteWriter writer(input, folder, machines);
    writer.write();
    const std::vector<std::string> notes = writer.notes();
    output.notes.insert(output.notes.end(), notes.begin(), notes.end());
  });
  return output;
}

std::vector<MachineOverview> overviews_below(const fs::path& folder, const ReadResults& read) {
  std::vector<MachineOverview> machines;
  for (const MachineFolder& machine : machine_folders(folder)) {
    MachineOverview& overview = machines.emplace_back(MachineOverview{.name = machine.name});
    for (const SweepFolder& sweep : machine.sweeps) {
      stop_if_asked();
      const ReportInput input = read(sweep.path);
      const View view = view_of(input);
      const std::vector<ClaimRow> claims = claims_of(input);
      overview.sweeps.push_back(overview_of(sweep.name, view, answer_claims(claims, view), {}));
    }
  }
  return machines;
}

}  // namespace hilbench
