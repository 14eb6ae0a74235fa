// A LaTeX table of the package booktabs: the variants of each case with time, rate and ratio.
#include <fmt/format.h>

#include <cmath>
#include <string>

#include "reports/export/digits.hpp"
#include "reports/export/formats.hpp"
#include "reports/export/latex_text.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

constexpr double kNsPerMs = 1e6;

// "1.234 [1.230, 1.238]", with the digits that the interval supports, else four.
std::string measured_text(double value, const Interval& ci) {
  if (!std::isfinite(value)) return "";
  if (!supported_place(ci)) return number_text(value);
  return fmt::format("{} [{}, {}]", supported_text(value, ci), supported_text(ci.low, ci),
                     supported_text(ci.high, ci));
}

std::string rate_cell(const Record& record) {
  if (!record.tflops || !std::isfinite(*record.tflops)) return "";
  const Interval ci = rate_interval(*record.tflops, *record.time);
  return supported_place(ci) ? supported_text(*record.tflops, ci) : number_text(*record.tflops);
}

std::string row_of(const Record& record) {
  const Timing& time = *record.time;
  const std::string ms =
      measured_text(time.median_ns / kNsPerMs, {time.ci_ns.low / kNsPerMs, time.ci_ns.high / kNsPerMs});
  const bool judged = record.speedup.has_value();
  return fmt::format("{} & {} & {} & {} & {} \\\\\n", latex_text(record.variant_id), ms, rate_cell(record),
                     judged ? measured_text(record.speedup->ratio, record.speedup->ci) : "",
                     judged ? to_string(record.speedup->verdict) : "");
}

}  // namespace

void export_latex(const std::vector<Record>& records, std::ostream& out) {
  out << "% Needs \\usepackage{booktabs}. Brackets hold 95 % intervals. The ratio is the reference's time "
         "divided\n"
         "% by the variant's: above 1, the variant is faster.\n"
         "\\begin{tabular}{lllll}\n\\toprule\nVariant & Time (ms) & TFLOP/s & Ratio & Verdict \\\\\n";
  std::string case_id;
  bool first = true;
  for (const Record& record : records) {
    if (!compared_by_others(record)) continue;
    if (first || record.case_id != case_id)
      out << fmt::format("\\midrule\n\\multicolumn{{5}}{{l}}{{{}}} \\\\\n", latex_text(record.case_id));
    first = false;
    case_id = record.case_id;
    out << row_of(record);
  }
  out << "\\bottomrule\n\\end{tabular}\n";
}

}  // namespace hilbench
