#include "reports/figures/times_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "reports/figures/plot_parts.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

// Lines of the data files, and their range in milliseconds.
struct TimeLines {
  std::string labels, values, texts;
  std::size_t rows = 0, cases = 0;
  double shortest = 1e300, longest = 0;
};

std::vector<const Record*> timed_records(const CaseView& of_case) {
  std::vector<const Record*> timed;
  for (const Record* record : of_case.records)
    if (record->status == Status::ok && record->time && record->time->median_ns > 0 &&
        record->variant_id != "peak")
      timed.push_back(record);
  return timed;
}

void add_row(TimeLines& lines, const Record& record) {
  const Timing& time = *record.time;
  lines.labels += fmt::format("1\t{}\t{}\n", lines.rows, gnuplot_field(record.variant_id));
  lines.values += fmt::format("{}\t{}\t{}\t{}\n", time.median_ns / 1e6, lines.rows, time.ci_ns.low / 1e6,
                              time.ci_ns.high / 1e6);
  lines.texts += fmt::format("{}\t{}\t{}\n", time.ci_ns.high / 1e6, lines.rows, time_text(time.median_ns));
  lines.shortest = std::min(lines.shortest, (time.ci_ns.low > 0 ? time.ci_ns.low : time.median_ns) / 1e6);
  lines.longest = std::max(lines.longest, time.ci_ns.high / 1e6);
  ++lines.rows;
}

TimeLines lines_of(const View& view) {
  TimeLines lines;
  for (const CaseView& of_case : view.cases) {
    const std::vector<const Record*> timed = timed_records(of_case);
    if (timed.empty()) continue;
    if (lines.rows + timed.size() + 1 > kMostRows) break;
    ++lines.cases;
    lines.labels += fmt::format("1\t{}\t{}\n", lines.rows++, gnuplot_field(of_case.case_id + ":"));
    for (const Record* record : timed) add_row(lines, *record);
  }
  return lines;
}

}  // namespace

std::optional<Plot> times_plot(const View& view) {
  const TimeLines lines = lines_of(view);
  if (lines.longest <= 0) return std::nullopt;
  const double low = lines.shortest / 1.3, high = lines.longest * 2.2;
  Plot plot{.name = "times", .title = "Time of each variant"};
  plot.caption =
      fmt::format("Median time of one execution with its 95 % interval. Left is better. {}.{}", view.machine,
                  lines.cases < view.cases.size()
                      ? fmt::format(" The first {} of {} cases are drawn.", lines.cases, view.cases.size())
                      : "");
  plot.data = {{"labels.tsv", lines.labels}, {"values.tsv", lines.values}, {"texts.tsv", lines.texts}};
  plot.height = 130 + 20 * static_cast<int>(lines.rows);
  plot.script = titled("Time of one execution: left is better", view, plot.height) + std::string(frame()) +
                fmt::format(
                    "set logscale x\nset xrange [{}:{}]\nset xtics ({})\nset yrange [{}:-0.8]\nset xlabel "
                    "'milliseconds'\nunset key\n"
                    "plot 'labels.tsv' using ({}):2:yticlabels(3) with points pt -1, "
                    "'values.tsv' using 1:2:3:4 with xerrorbars pt 7 ps 0.9 lw 1.6 lc rgb '#0072B2', "
                    "'texts.tsv' using 1:2:3 with labels left offset 1,0 font ',11' textcolor rgb '#333333'",
                    low, high, log_tics(low, high), static_cast<double>(lines.rows) - 0.3, lines.shortest);
  return plot;
}

}  // namespace hilbench
