#include "reports/figures/claims_plot.hpp"

#include <fmt/format.h>

#include <string>

#include "reports/figures/plot_parts.hpp"
#include "reports/figures/series_names.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

// Lines of the data files.
struct ClaimLines {
  std::size_t rows = 0;
  std::string labels, claimed, measured, tokens;
};

ClaimLines lines_of(const View& view, const std::vector<ClaimAnswer>& answers) {
  ClaimLines lines;
  const Naming naming = naming_of(view);
  for (const ClaimAnswer& answer : answers) {
    if (answer.claim->quantity != Quantity::speedup || !answer.measured || lines.rows == kMostRows) continue;
    lines.labels +=
        fmt::format("1\t{}\t{}\n", lines.rows,
                    gnuplot_field(fmt::format("{}: {}", answer.claim->claim_id,
                                              answer.where ? pattern_text(*answer.where->work) +
                                                                 work_text(*answer.where->work, naming)
                                                           : "all cases here")));
    lines.claimed += fmt::format("{}\t{}\n", *answer.claim->claimed, lines.rows);
    lines.measured += fmt::format("{}\t{}\t{}\t{}\n", answer.measured->ratio, lines.rows,
                                  answer.measured->ci.low, answer.measured->ci.high);
    if (answer.tokens)
      lines.tokens += fmt::format("{}\t{}\t{}\t{}\n", answer.tokens->ratio, lines.rows + 0.25,
                                  answer.tokens->ci.low, answer.tokens->ci.high);
    ++lines.rows;
  }
  return lines;
}

std::string script_of(const View& view, const ClaimLines& lines, int height) {
  const std::string_view tokens = lines.tokens.empty() ? ""
                                                       : ", 'tokens.tsv' using 1:2:3:4 with xerrorbars pt 8 "
                                                         "ps 1.1 lw 1.2 lc rgb '#777777' title '@tokens'";
  return titled("Claimed and measured speedup: right of 1 is faster", view, height) + std::string(frame()) +
         fmt::format(
             "set logscale x 2\nset xtics (0.25, 0.5, 0.7, 1, 1.4, 2, 2.8, 4, 8, 16)\n"
             "set yrange [{}:-0.6]\nset xlabel 'speedup of hilbert over linear'\n"
             "set arrow 1 from 1, graph 0 to 1, graph 1 nohead dt 2 lw 1.4 lc rgb '#444444'\n"
             "set bmargin 5.5\nset key at screen 0.5, screen 0.03 center bottom horizontal\n"
             "set offsets graph 0.04, graph 0.04, 0, 0\n"
             "plot 'labels.tsv' using 1:2:yticlabels(3) with points pt -1 notitle, "
             "'claimed.tsv' using 1:2 with points pt 12 ps 1.3 lw 1.8 lc rgb '#D55E00' title 'claimed', "
             "'measured.tsv' using 1:2:3:4 with xerrorbars pt 7 ps 1 lw 1.8 lc rgb '#0072B2' "
             "title 'measured'{}",
             static_cast<double>(lines.rows) - 0.4, tokens);
}

}  // namespace

std::optional<Plot> claims_plot(const View& view, const std::vector<ClaimAnswer>& answers) {
  const ClaimLines lines = lines_of(view, answers);
  if (lines.rows == 0) return std::nullopt;
  Plot plot{.name = "claims", .title = "Claimed and measured speedup of Hilbert order"};
  plot.caption = fmt::format(
      "Diamond: claimed by the seed report. Circle and bar: measured here, kernel time of linear order / of "
      "Hilbert order, with its 95 % interval. Triangle: @tokens, the variant that the seeds ran, which "
      "computes a different function. Right of 1, Hilbert order is faster. Labels: sequence length, then "
      "segment/dilation of each branch. {}.",
      view.machine);
  plot.data = {
      {"labels.tsv", lines.labels}, {"claimed.tsv", lines.claimed}, {"measured.tsv", lines.measured}};
  if (!lines.tokens.empty()) plot.data["tokens.tsv"] = lines.tokens;
  plot.height = 170 + 34 * static_cast<int>(lines.rows);
  plot.script = script_of(view, lines, plot.height);
  return plot;
}

}  // namespace hilbench
