// Kernels against the baselines that compute the same case.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "reports/figures/figures.hpp"
#include "reports/figures/plot_parts.hpp"
#include "reports/records/stats.hpp"
#include "reports/tables/tables.hpp"
#include "reports/view/format.hpp"
#include "reports/view/pairing.hpp"

namespace hilbench {
namespace {

using D = const RivalPair&;

// In linear order, with whatever ring options.
bool plain_linear(const Record& record) {
  return record.kind == ImplementationKind::kernel &&
         one_rank_id(record.variant) == record.variant.kernel + "/linear";
}

std::string rate_of(const Record& record) {
  return record.tflops ? rate_text(*record.tflops * 1e12) : "";
}

std::string peak_share(const CaseView& of_case, const Record& record) {
  if (!record.tflops || !of_case.peak_flops_per_s) return "";
  return percent_text(*record.tflops * 1e12 / *of_case.peak_flops_per_s);
}

std::string work_text(const Case& work) {
  return case_text(work) + (work.mask == Mask::causal ? ", causal" : "");
}

}  // namespace

std::string kernel_text(const Record& kernel) {
  const std::string ring = kernel.variant_id.substr(one_rank_id(kernel.variant).size());
  return kernel.kernel + (ring.empty() ? "" : ", " + ring.substr(1));
}

std::vector<RivalPair> duels_of(const View& view, std::size_t most_kernels) {
  std::vector<RivalPair> duels;
  std::size_t kernels = 0;
  for (const CaseView& of_case : view.cases)
    for (const Record* kernel : of_case.records) {
      if (!plain_linear(*kernel)) continue;
      const std::size_t before = duels.size();
      if (kernels == most_kernels) return duels;
      for (const Record* rival : of_case.records)
        if (rival->kind == ImplementationKind::baseline && rival->verify)
          if (const auto ratio = time_ratio(*rival, *kernel))
            duels.push_back({&of_case, kernel, rival, *ratio});
      kernels += duels.size() > before;
    }
  return duels;
}

Table rivals_table(const View& view) {
  const std::vector<ColumnOf<RivalPair>> columns = {
      {{"case", ""}, [](D d) { return Cell{d.where->case_id}; }},
      {{"variant", ""}, [](D d) { return Cell{d.kernel->variant_id}; }},
      {{"kernel", ""}, [](D d) { return Cell{d.kernel->kernel}; }},
      {{"rival", ""}, [](D d) { return Cell{d.rival->variant_id}; }},
      {{"ratio", ""}, [](D d) { return Cell{data_text(d.ratio.ratio)}; }},
      {{"ratio_low", ""}, [](D d) { return Cell{data_text(d.ratio.ci.low)}; }},
      {{"ratio_high", ""}, [](D d) { return Cell{data_text(d.ratio.ci.high)}; }},
      {{"processes", ""}, [](D d) { return Cell{std::to_string(d.ratio.processes)}; }},
      {{"time_ns", ""}, [](D d) { return Cell{data_text(d.kernel->time->median_ns)}; }},
      {{"rival_time_ns", ""}, [](D d) { return Cell{data_text(d.rival->time->median_ns)}; }},
      {{"tflops", ""}, [](D d) { return Cell{data_text(d.kernel->tflops)}; }},
      {{"rival_tflops", ""}, [](D d) { return Cell{data_text(d.rival->tflops)}; }},
  };
  return make_table<RivalPair>("rivals", "", columns, duels_of(view));
}

Table rivals_page_table(const View& view) {
  const std::vector<RivalPair> duels = duels_of(view);
  std::vector<std::string> rivals;
  std::vector<const RivalPair*> rows;  // the first duel of each kernel in each case
  for (D duel : duels) {
    if (std::find(rivals.begin(), rivals.end(), duel.rival->variant_id) == rivals.end())
      rivals.push_back(duel.rival->variant_id);
    if (rows.empty() || rows.back()->kernel != duel.kernel) rows.push_back(&duel);
  }
  using R = const RivalPair* const&;
  std::vector<ColumnOf<const RivalPair*>> columns = {
      {{"work", "case (segment/dilation)", Align::wrapped},
       [](R r) { return Cell{work_text(*r->where->work)}; }},
      {{"variant", "kernel"}, [](R r) { return Cell{kernel_text(*r->kernel)}; }},
      {{"time", "time", Align::right}, [](R r) { return Cell{time_text(r->kernel->time->median_ns)}; }},
      {{"rate", "rate", Align::right}, [](R r) { return Cell{rate_of(*r->kernel)}; }},
      {{"of_peak", "of peak", Align::right}, [](R r) { return Cell{peak_share(*r->where, *r->kernel)}; }},
  };
  for (const std::string& rival : rivals)
    columns.push_back({{rival, rival, Align::right}, [&duels, rival](R r) {
                         for (D duel : duels) {
                           if (duel.kernel != r->kernel || duel.rival->variant_id != rival) continue;
                           const Verdict verdict = verdict_of(duel.ratio.ci);
                           const Tone tone = verdict == Verdict::faster   ? Tone::good
                                             : verdict == Verdict::slower ? Tone::bad
                                                                          : Tone::muted;
                           return Cell{ratio_text(duel.ratio.ratio, duel.ratio.ci), tone};
                         }
                         return Cell{};
                       }});
  return make_table<const RivalPair*>("rivals", "", columns, rows);
}

std::optional<Plot> rivals_plot(const View& view) {
  constexpr std::string_view kWideTics = "0.125, 0.25, 0.5, 0.7, 1, 1.4, 2, 4, 8, 16";
  constexpr std::string_view kNarrowTics = "0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.4, 1.6, 2, 2.4";
  double least = 1, most = 1;
  const std::vector<RivalPair> duels = duels_of(view, kMostDuelRows);
  Series series;  // x: the ratio, y: the row
  std::string labels;
  std::size_t rows = 0;
  const Record* last = nullptr;
  for (D duel : duels) {
    if (duel.kernel != last)
      labels += fmt::format(
          "1\t{}\t{}\n", rows++,
          gnuplot_field(fmt::format("{}: {}", kernel_text(*duel.kernel), work_text(*duel.where->work))));
    last = duel.kernel;
    least = std::min(least, duel.ratio.ci.low);
    most = std::max(most, duel.ratio.ci.high);
    points_of(series, duel.rival->variant_id)
        .push_back({duel.ratio.ratio, static_cast<double>(rows - 1), duel.ratio.ci});
  }
  if (series.size() < 2) return std::nullopt;
  const std::string thinned = thin(series);
  Plot plot{.name = "rivals", .title = "Kernels against their rivals"};
  plot.caption = fmt::format(
      "Time of the rival over time of the kernel in linear order, the same case in the same rounds; right of "
      "1 the "
      "kernel is faster. Bars: 95 % interval. Labels: kernel, sequence length, segment/dilation of each "
      "branch, heads, "
      "head_dim, dtype. {}.{}",
      view.machine, thinned);
  plot.data["labels.tsv"] = labels;
  std::vector<std::string> curves = {"'labels.tsv' using 1:2:yticlabels(3) with points pt -1 notitle"};
  for (std::size_t i = 0; i < series.size(); ++i) {
    const std::string file = fmt::format("series{}.tsv", i);
    plot.data[file] = point_lines(series[i].second, 1);
    curves.push_back(fmt::format("'{}' using 1:2:3:4 with xerrorbars {} title {}", file, look(i),
                                 gnuplot_quoted(series[i].first)));
  }
  plot.height = 170 + 30 * static_cast<int>(rows);
  plot.script =
      titled("Rivals' time over the kernel's: right of 1 the kernel is faster", view, plot.height) +
      std::string(frame()) +
      fmt::format(
          "set logscale x 2\nset xtics ({})\n"
          "set yrange [{}:-0.6]\nset xlabel 'time of the rival / time of the kernel'\n"
          "set arrow 1 from 1, graph 0 to 1, graph 1 nohead dt 2 lw 1.4 lc rgb '#444444'\n"
          "set bmargin 5.5\nset key at screen 0.5, screen 0.02 center bottom horizontal\nset offsets graph "
          "0.04, graph 0.04, 0, 0\nplot {}",
          most > 3 * least ? kWideTics : kNarrowTics, static_cast<double>(rows) - 0.4,
          fmt::join(curves, ", "));
  return plot;
}

}  // namespace hilbench
