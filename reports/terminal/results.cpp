#include "reports/terminal/results.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "kernels/base/text/text.hpp"
#include "reports/view/format.hpp"
#include "reports/view/view.hpp"

namespace hilbench {
namespace {

std::string counts_text(const View& view) {
  std::vector<std::string> counts;
  for (const auto& [status, count] : view.status_counts)
    counts.push_back(fmt::format("{} {}", count, to_string(status)));
  return fmt::format("{}, {}: {}", plural(view.cases.size(), "case", "cases"),
                     plural(view.record_count, "record", "records"), fmt::join(counts, ", "));
}

std::string heading_text(const ReportInput& input, const Screen& screen) {
  const View view = view_of(input);
  const auto question = input.meta.find("question");
  const std::string asked =
      question != input.meta.end() && !question->second.empty() ? printable(question->second) : view.title;
  std::string text =
      bold(wrapped(view.sweep + (asked.empty() ? "" : ": " + asked), screen.width, 2), screen) + "\n";
  for (const std::string& line : {"machine: " + view.machine, counts_text(view)})
    text += wrapped(line, screen.width, 2) + "\n";
  return text;
}

}  // namespace

std::string results_text(const ReportInput& input, RowOrder order, const Screen& screen,
                         const std::function<bool(const Record&)>& keep) {
  Rows rows = rows_of(input.records);
  std::erase_if(rows, [&](const Record* record) { return !keep(*record); });
  return heading_text(input, screen) + rows_text(rows, order, screen) + legend_text(rows, screen);
}

}  // namespace hilbench
