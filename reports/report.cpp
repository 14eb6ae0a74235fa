#include "reports/report.hpp"

#include <fmt/format.h>

#include <system_error>

#include "kernels/base/error.hpp"
#include "kernels/base/files.hpp"
#include "reports/claims/claims_file.hpp"
#include "reports/claims/literature.hpp"
#include "reports/document/document.hpp"
#include "reports/figures/chart_library.hpp"
#include "reports/figures/draw.hpp"
#include "reports/figures/report_data.hpp"
#include "reports/page/page.hpp"
#include "reports/tables/all_tables.hpp"

namespace hilbench {

namespace fs = std::filesystem;

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error || !fs::is_directory(folder))
    throw_file_error(error.value(), {"report folder cannot be created", folder.string(),
                                     error ? "" : "it is not a folder", "give another one with -o"});
}

ReportOutput write_report(const ReportInput& input, const fs::path& folder) {
  const std::vector<ClaimRow> claims = claims_of(input);
  const ChartLibrary charts = find_chart_library(input.chart_library);
  make_folder(folder / "tables");
  make_folder(folder / "figures");
  const View view = view_of(input);
  const std::vector<ClaimAnswer> answers = answer_claims(claims, view);
  const nlohmann::json data = report_data(view, answers);
  Drawn drawn = draw(data, charts, folder / "figures");
  for (const Table& table : all_tables(view, answers))
    write_file(folder / "tables" / (table.name + ".csv"), to_csv(table));
  if (!charts.note.empty()) drawn.notes.push_back(charts.note);
  const Document document = document_of(view, answers, std::move(drawn.figures), drawn.notes);
  write_file(folder / "report.md", to_markdown(document));
  write_file(folder / "report.html", to_html(document, data, charts));
  return {.folder = folder, .notes = std::move(drawn.notes)};
}

}  // namespace hilbench
