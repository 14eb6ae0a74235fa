#include "reports/figures/figures.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "reports/figures/plot_parts.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

constexpr std::size_t kMostRows = 60;  // of a figure with one row per entry

// What has to be told apart in the names of series.
struct Naming {
  bool kernels = false, dtypes = false;
};
Naming naming_of(const View& view) {
  std::set<std::string_view> kernels;
  std::set<Dtype> dtypes;
  for (const CaseView& of_case : view.cases) {
    dtypes.insert(of_case.work->dtype);
    for (const Record* record : of_case.records)
      if (record->kind == ImplementationKind::kernel) kernels.insert(record->variant.kernel);
  }
  return {kernels.size() > 1, dtypes.size() > 1};
}

std::string dtype_text(const Case& work, const Naming& naming) {
  return naming.dtypes ? fmt::format(", {}", to_string(work.dtype)) : "";
}

// The part of a variant's id behind its kernel, "hilbert@tokens"; all of it where kernels stand side by side.
std::string series_name(const Record& record, const Naming& naming) {
  const std::size_t slash = record.variant_id.find('/');
  const bool whole =
      naming.kernels || record.kind == ImplementationKind::baseline || slash == std::string::npos;
  return (whole ? record.variant_id : record.variant_id.substr(slash + 1)) + dtype_text(record.work, naming);
}

template <class XOf>
std::optional<Plot> speedup_plot(const View& view, const std::string& name, const std::string& axis,
                                 XOf x_of) {
  Series series;
  const Naming naming = naming_of(view);
  std::set<double> xs;
  for (const CaseView& of_case : view.cases)
    for (const Record* record : of_case.records) {
      if (!record->speedup || record->status != Status::ok || record->kind != ImplementationKind::kernel)
        continue;
      const double x = x_of(*of_case.work);
      xs.insert(x);
      points_of(series, series_name(*record, naming))
          .push_back({x, record->speedup->ratio, record->speedup->ci});
    }
  if (series.empty()) return std::nullopt;
  Plot plot{.name = name, .title = "Speedup against " + axis};
  plot.caption = fmt::format(
      "Time of the reference over time of the variant, by {}; above 1 is faster. Bars: 95 % interval. Points "
      "of "
      "one {} are set side by side. @tokens computes a different function. {}.{}",
      axis, axis, view.machine, thin(series));
  std::vector<std::string> tics, curves;
  const std::size_t stride = (xs.size() + 11) / 12;
  std::size_t place = 0;
  for (const double x : xs)
    if (place++ % stride == 0) tics.push_back(fmt::format("'{0:.0f}' {0:.0f}", x));
  for (std::size_t i = 0; i < series.size(); ++i) {
    const std::string file = fmt::format("series{}.tsv", i);
    plot.data[file] = point_lines(series[i].second, beside(i, series.size()));
    curves.push_back(fmt::format("'{}' using 1:2:3:4 with yerrorbars {} title {}", file, look(i),
                                 gnuplot_quoted(series[i].first)));
  }
  plot.script =
      titled(plot.title + ": above 1 is faster", view, plot.height) + std::string(frame()) +
      fmt::format(
          "set logscale x 2\nset xrange [{}:{}]\nset xtics ({})\nset xlabel {}\n"
          "set ylabel 'speedup'\nset key outside right top Left reverse\nset offsets 0,0,0.02,0.02\n"
          "plot 1 with lines dt 2 lw 1.4 lc rgb '#444444' title 'reference', {}",
          *xs.begin() / 1.5, *xs.rbegin() * 1.5, fmt::join(tics, ", "), gnuplot_quoted(axis),
          fmt::join(curves, ", "));
  return plot;
}

std::optional<Plot> claims_plot(const View& view, const std::vector<ClaimAnswer>& answers) {
  std::string claimed, measured, tokens, labels;
  const Naming naming = naming_of(view);
  std::size_t row = 0;
  for (const ClaimAnswer& answer : answers) {
    if (answer.claim->quantity != Quantity::speedup || !answer.measured || row == kMostRows) continue;
    labels += fmt::format("1\t{}\t{}\n", row,
                          gnuplot_field(fmt::format("{}: {}", answer.claim->claim_id,
                                                    answer.where ? pattern_text(*answer.where->work) +
                                                                       dtype_text(*answer.where->work, naming)
                                                                 : "all cases here")));
    claimed += fmt::format("{}\t{}\n", *answer.claim->claimed, row);
    measured += fmt::format("{}\t{}\t{}\t{}\n", answer.measured->ratio, row, answer.measured->ci.low,
                            answer.measured->ci.high);
    if (answer.tokens)
      tokens += fmt::format("{}\t{}\t{}\t{}\n", answer.tokens->ratio, row + 0.25, answer.tokens->ci.low,
                            answer.tokens->ci.high);
    ++row;
  }
  if (row == 0) return std::nullopt;
  Plot plot{.name = "claims", .title = "Claimed and measured speedup of Hilbert order"};
  plot.caption = fmt::format(
      "Diamond: what the seed claims. Circle and bar: kernel-time ratio linear / hilbert measured here, with "
      "its "
      "95 % interval. Triangle: the seeds' own @tokens variant, a different function. Right of 1 is faster. "
      "Labels: sequence length, then segment/dilation of each branch. {}.",
      view.machine);
  plot.data = {{"labels.tsv", labels}, {"claimed.tsv", claimed}, {"measured.tsv", measured}};
  std::string extra;
  if (!tokens.empty()) {
    plot.data["tokens.tsv"] = tokens;
    extra =
        ", 'tokens.tsv' using 1:2:3:4 with xerrorbars pt 8 ps 1.1 lw 1.2 lc rgb '#777777' title '@tokens'";
  }
  plot.height = 170 + 34 * static_cast<int>(row);
  plot.script =
      titled("Claimed and measured speedup: right of 1 is faster", view, plot.height) + std::string(frame()) +
      fmt::format(
          "set logscale x 2\nset xtics (0.25, 0.5, 0.7, 1, 1.4, 2, 2.8, 4, 8, 16)\n"
          "set yrange [{}:-0.6]\nset xlabel 'speedup of hilbert over linear'\n"
          "set arrow 1 from 1, graph 0 to 1, graph 1 nohead dt 2 lw 1.4 lc rgb '#444444'\n"
          "set bmargin 5.5\nset key at screen 0.5, screen 0.03 center bottom horizontal\nset offsets graph "
          "0.04, graph 0.04, 0, 0\n"
          "plot 'labels.tsv' using 1:2:yticlabels(3) with points pt -1 notitle, "
          "'claimed.tsv' using 1:2 with points pt 12 ps 1.3 lw 1.8 lc rgb '#D55E00' title 'claimed', "
          "'measured.tsv' using 1:2:3:4 with xerrorbars pt 7 ps 1 lw 1.8 lc rgb '#0072B2' "
          "title 'measured'{}",
          static_cast<double>(row) - 0.4, extra);
  return plot;
}

std::optional<Plot> roofline_plot(const View& view) {
  Series series;
  const Naming naming = naming_of(view);
  std::map<Dtype, double> peaks;  // the unit that computes a dtype fastest has a roof of its own
  double bandwidth = 0, least = 1e300, most = 0, lowest = 1e300, highest = 0;
  for (const CaseView& of_case : view.cases) {
    double& peak = peaks[of_case.work->dtype];
    peak = std::max(peak, of_case.peak_flops_per_s.value_or(0));
    bandwidth = std::max(bandwidth, of_case.copy_bytes_per_s.value_or(0));
    for (const Record* record : of_case.records) {
      if (record->status != Status::ok || !record->flops || !record->tflops || !record->min_bytes) continue;
      if (*record->min_bytes <= 0 || *record->tflops <= 0 || *record->flops <= 0) continue;
      // Three digits of intensity: cases that differ by less share a point where a large store is thinned.
      const double step = std::pow(10, std::floor(std::log10(*record->flops / *record->min_bytes)) - 2);
      const double x = std::round(*record->flops / *record->min_bytes / step) * step;
      const double y = *record->tflops * 1e3;
      least = std::min(least, x);
      most = std::max(most, x);
      lowest = std::min(lowest, y);
      highest = std::max(highest, y);
      points_of(series, record->variant_id + dtype_text(record->work, naming)).push_back({x, y, {y, y}});
    }
  }
  if (series.empty()) return std::nullopt;
  Plot plot{.name = "roofline", .title = "Rate against arithmetic intensity"};
  const std::string thinned = thin(series);
  std::vector<std::string> curves;
  std::vector<std::string> roofs;
  for (const auto& [dtype, peak] : peaks) {
    if (peak <= 0 || bandwidth <= 0) continue;
    roofs.push_back(fmt::format("{} ({})", rate_text(peak), to_string(dtype)));
    least = std::min(least, peak / bandwidth / 8);
    lowest = std::min(lowest, bandwidth / 1e9 * least);
    highest = std::max(highest, peak / 1e9);
    curves.push_back(fmt::format(
        "(x*{0} < {1} ? x*{0} : {1}) with lines lw 2 dt {2} lc rgb '#444444' title 'measured limits, {3}'",
        bandwidth / 1e9, peak / 1e9, roofs.size(), to_string(dtype)));
  }
  const std::string roof =
      roofs.empty()
          ? "no peak was measured beside these records"
          : fmt::format(
                "the roof is the peak measured beside them, {}, and the measured copy bandwidth, {} GB/s",
                fmt::join(roofs, ", "), number_text(bandwidth / 1e9, 3));
  plot.caption = fmt::format(
      "Rate against arithmetic intensity (FLOPs of the case per byte that any implementation must move). "
      "Higher is "
      "better; {}. {}.{}",
      roof, view.machine, thinned);
  for (std::size_t i = 0; i < series.size(); ++i) {
    const std::string file = fmt::format("series{}.tsv", i);
    plot.data[file] = point_lines(series[i].second, 1);
    curves.push_back(fmt::format("'{}' using 1:2 with points {} title {}", file, look(i),
                                 gnuplot_quoted(series[i].first)));
  }
  plot.script = titled(roofs.empty() ? "Rate against arithmetic intensity: higher is better"
                                     : "Roofline: higher is better, the line is this machine's limit",
                       view, plot.height) +
                std::string(frame()) +
                fmt::format(
                    "set logscale xy\nset samples 400\nset xrange [{}:{}]\nset xtics ({})\nset ytics "
                    "({})\nset yrange [{}:{}]\n"
                    "set xlabel 'FLOP per byte that must move'\nset ylabel 'GFLOP/s'\n"
                    "set key outside right top Left reverse\nplot {}",
                    least / 1.5, most * 2, log_tics(least / 1.5, most * 2), log_tics(lowest / 2, highest * 2),
                    lowest / 2, highest * 2, fmt::join(curves, ", "));
  return plot;
}

std::optional<Plot> times_plot(const View& view) {
  std::string labels, values, texts;
  std::size_t row = 0, cases = 0;
  double shortest = 1e300, longest = 0;
  for (const CaseView& of_case : view.cases) {
    std::vector<const Record*> timed;
    for (const Record* record : of_case.records)
      if (record->status == Status::ok && record->time && record->time->median_ns > 0 &&
          record->variant_id != "peak")
        timed.push_back(record);
    if (timed.empty()) continue;
    if (row + timed.size() + 1 > kMostRows) break;
    ++cases;
    labels += fmt::format("1\t{}\t{}\n", row++, gnuplot_field(of_case.case_id + ":"));
    for (const Record* record : timed) {
      const Timing& time = *record->time;
      labels += fmt::format("1\t{}\t{}\n", row, gnuplot_field(record->variant_id));
      values += fmt::format("{}\t{}\t{}\t{}\n", time.median_ns / 1e6, row, time.ci_ns.low / 1e6,
                            time.ci_ns.high / 1e6);
      texts += fmt::format("{}\t{}\t{}\n", time.ci_ns.high / 1e6, row, time_text(time.median_ns));
      shortest = std::min(shortest, (time.ci_ns.low > 0 ? time.ci_ns.low : time.median_ns) / 1e6);
      longest = std::max(longest, time.ci_ns.high / 1e6);
      ++row;
    }
  }
  if (longest <= 0) return std::nullopt;
  Plot plot{.name = "times", .title = "Time of each variant"};
  plot.caption =
      fmt::format("Median time of one execution with its 95 % interval; left is better. {}.{}", view.machine,
                  cases < view.cases.size()
                      ? fmt::format(" The first {} of {} cases are drawn.", cases, view.cases.size())
                      : "");
  plot.data = {{"labels.tsv", labels}, {"values.tsv", values}, {"texts.tsv", texts}};
  plot.height = 130 + 20 * static_cast<int>(row);
  plot.script = titled("Time of one execution: left is better", view, plot.height) + std::string(frame()) +
                fmt::format(
                    "set logscale x\nset xrange [{}:{}]\nset xtics ({})\nset yrange [{}:-0.8]\nset xlabel "
                    "'milliseconds'\nunset key\n"
                    "plot 'labels.tsv' using ({}):2:yticlabels(3) with points pt -1, "
                    "'values.tsv' using 1:2:3:4 with xerrorbars pt 7 ps 0.9 lw 1.6 lc rgb '#0072B2', "
                    "'texts.tsv' using 1:2:3 with labels left offset 1,0 font ',11' textcolor rgb '#333333'",
                    shortest / 1.3, longest * 2.2, log_tics(shortest / 1.3, longest * 2.2),
                    static_cast<double>(row) - 0.3, shortest);
  return plot;
}

}  // namespace

std::vector<Plot> plots_of(const View& view, const std::vector<ClaimAnswer>& answers) {
  const auto length_of = [](const Case& work) { return static_cast<double>(work.sequence_length); };
  const auto dilation_of = [](const Case& work) {
    std::int64_t most = 1;
    for (const Branch& branch : work.pattern) most = std::max(most, branch.dilation);
    return static_cast<double>(most);
  };
  std::vector<Plot> plots;
  for (auto& plot :
       {claims_plot(view, answers), speedup_plot(view, "speedup_length", "sequence length", length_of),
        speedup_plot(view, "speedup_dilation", "largest dilation", dilation_of), roofline_plot(view),
        rivals_plot(view), times_plot(view)})
    if (plot) plots.push_back(*plot);
  return plots;
}

}  // namespace hilbench
