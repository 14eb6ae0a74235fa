#include "reports/report.hpp"

#include <fmt/format.h>

#include <iterator>
#include <sstream>
#include <system_error>

#include "kernels/base/error.hpp"
#include "kernels/base/files.hpp"
#include "reports/claims/claims_file.hpp"
#include "reports/claims/literature.hpp"
#include "reports/document/document.hpp"
#include "reports/figures/figures.hpp"
#include "reports/page/chart_library.hpp"
#include "reports/page/page.hpp"
#include "reports/page/page_data.hpp"
#include "reports/tables/claim_levels.hpp"
#include "reports/tables/claim_tables.hpp"
#include "reports/tables/commands.hpp"
#include "reports/tables/comparison.hpp"
#include "reports/tables/counters_beside_ratios.hpp"
#include "reports/tables/environment.hpp"
#include "reports/tables/literature.hpp"
#include "reports/tables/locality.hpp"
#include "reports/tables/problems.hpp"
#include "reports/tables/rings.hpp"
#include "reports/tables/rivals.hpp"
#include "reports/tables/summary.hpp"
#include "reports/tables/twins.hpp"
#include "reports/tables/window_pairs.hpp"
#include "reports/tables/window_times.hpp"
#include "reports/tables/windows.hpp"

namespace hilbench {

namespace fs = std::filesystem;

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error || !fs::is_directory(folder))
    throw_file_error(error.value(), {"report folder cannot be created", folder.string(),
                                     error ? "" : "it is not a folder", "give another one with -o"});
}

std::vector<ClaimRow> claims_of(const ReportInput& input) {
  const auto named = input.meta.find("claims");
  if (!input.claims_file.empty() || named == input.meta.end()) return load_claims(input.claims_file);
  std::istringstream words(named->second);
  return named_claims({std::istream_iterator<std::string>(words), {}});
}

ReportOutput write_report(const ReportInput& input, const fs::path& folder) {
  const std::vector<ClaimRow> claims = claims_of(input);
  const ChartLibrary charts = find_chart_library(input.chart_library);
  make_folder(folder / "tables");
  make_folder(folder / "figures");
  const View view = view_of(input);
  const std::vector<ClaimAnswer> answers = answer_claims(claims, view);
  Drawn drawn = draw(plots_of(view, answers), folder / "figures");
  for (const Table& table :
       {claims_table(answers), claim_levels_table(answers), comparison_table(view.cases),
        explained_table(view.cases), rivals_table(view), rings_table(view), summary_table(view),
        twins_table(view), windows_table(view), window_pairs_table(view), window_times_table(view),
        literature_table(answer_papers(view)), locality_table(view), problems_table(view),
        unavailable_table(view), environment_table(view), commands_table(view.cases, view)})
    write_file(folder / "tables" / (table.name + ".csv"), to_csv(table));
  if (!charts.note.empty()) drawn.notes.push_back(charts.note);
  const Document document = document_of(view, answers, std::move(drawn.figures), drawn.notes);
  write_file(folder / "report.md", to_markdown(document));
  write_file(folder / "report.html", to_html(document, page_data(view, answers), charts));
  return {.folder = folder, .notes = std::move(drawn.notes)};
}

}  // namespace hilbench
