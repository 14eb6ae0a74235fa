#include "reports/report.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "kernels/base/files/files.hpp"
#include "kernels/base/process/held_signals.hpp"
#include "kernels/base/text/error.hpp"
#include "reports/claims/claims_file.hpp"
#include "reports/document/document.hpp"
#include "reports/figures/chart_library.hpp"
#include "reports/figures/draw.hpp"
#include "reports/figures/report_data.hpp"
#include "reports/findings/all_tables.hpp"
#include "reports/page/page.hpp"
#include "reports/pictures/drawing_program.hpp"
#include "reports/site/new_folder.hpp"

namespace hilbench {
namespace {

// In the folder of a report: names and hashes of its files, so that the next report into it knows which of
// them it may remove.
constexpr const char* kFileList = ".report-files";

enum class Pixels { none, some };

// Without the program that makes PNG, a note on the other figures says so.
void write_pictures(const Document& document, const std::filesystem::path& folder, Pixels pixels) {
  for (const Section& section : document.sections)
    for (const Block& block : section.blocks) {
      const auto* picture = std::get_if<Picture>(&block);
      if (picture == nullptr) continue;
      write_file(folder / (picture->name + ".svg"), picture->svg);
      if (pixels == Pixels::some) try {
          write_file(folder / (picture->name + ".png"), png_of(picture->svg));
        } catch (const EnvironmentError&) {
        }
      stop_if_asked();
    }
}

}  // namespace

ReportOutput write_report(const ReportInput& input, const std::filesystem::path& folder) {
  const std::vector<ClaimRow> claims = claims_of(input);
  const ChartLibrary charts = find_chart_library(input.chart_library);
  const View view = view_of(input);
  const std::vector<ClaimAnswer> answers = answer_claims(claims, view);
  const nlohmann::json data = report_data(view, answers);
  std::vector<std::string> notes;
  add_to_folder(
      folder,
      [&](const std::filesystem::path& made) {
        std::filesystem::create_directory(made / "tables");
        std::filesystem::create_directory(made / "figures");
        Drawn drawn = draw(data, charts, made / "figures");
        notes = std::move(drawn.notes);
        stop_if_asked();
        for (const Table& table : all_tables(view, answers))
          write_file(made / "tables" / (table.name + ".csv"), to_csv(table));
        if (!charts.note.empty()) notes.push_back(charts.note);
        const Document document = document_of(view, answers, std::move(drawn.figures), notes);
        write_pictures(document, made / "figures", charts.script.empty() ? Pixels::none : Pixels::some);
        write_file(made / "report.md", to_markdown(document));
        write_file(made / "report.html", to_html(document, data, charts));
      },
      kFileList);
  return {.folder = folder, .notes = std::move(notes)};
}

}  // namespace hilbench
