#include "reports/site/poster.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include "reports/site/findings_of_all.hpp"
#include "reports/view/table.hpp"

namespace hilbench {
namespace {

constexpr double kWidth = 780, kLeft = 270, kRight = 740, kTop = 76, kStep = 34, kMargin = 16;
constexpr double kApart = 5.5;  // marks of two machines in a row, so that none hides another
constexpr double kEntryIndent = 18, kEntryGap = 20, kLegendStep = 20, kFontSize = 13;
constexpr double kSmallestClaim = 1.1, kRoom = 1.02;
constexpr std::string_view kInk = "#1b1f24", kPaleInk = "#40474f", kClaimed = "#c04a00";
// Told apart without colours too.
constexpr std::array<std::string_view, 6> kColours = {"#0072b2", "#009e73", "#a0429a",
                                                      "#8a6d00", "#333333", "#b3005e"};

struct Mark {
  std::size_t machine = 0;
  double ratio = 0;
  Interval ci;
  bool other_dtype = false;
};
struct PosterRow {
  double claimed = 0;
  std::string text;
  std::vector<Mark> marks;
};
struct Poster {
  std::vector<std::string> machines;
  std::vector<PosterRow> rows;  // the largest claim first
  double least = 1, most = 1;
  bool other_dtypes = false;

  double place(double ratio) const {
    return kLeft + std::log(ratio / least) / std::log(most / least) * (kRight - kLeft);
  }
};

bool is_shown(const ClaimEntry& entry) {
  return !entry.of_paper && entry.compares == kKernelTime && entry.gain && entry.own_sweep &&
         !entry.case_words.empty() && entry.measured && entry.claimed && *entry.claimed >= kSmallestClaim;
}

std::vector<MachineOverview> processors_first(std::vector<MachineOverview> machines) {
  std::stable_partition(machines.begin(), machines.end(), on_processor);
  return machines;
}

Poster poster_of(const std::vector<MachineOverview>& machines) {
  Poster poster;
  std::map<std::pair<double, std::string>, PosterRow> rows;
  for (const MachineOverview& machine : processors_first(machines)) {
    bool any = false;
    for (const SweepOverview& sweep : machine.sweeps)
      for (const ClaimEntry& entry : sweep.claims) {
        if (!is_shown(entry)) continue;
        any = true;
        PosterRow& row = rows[{-*entry.claimed, entry.case_words}];
        row.claimed = *entry.claimed;
        row.text = entry.case_words;
        row.marks.push_back({poster.machines.size(), *entry.measured, entry.ci, entry.other_dtype});
      }
    if (any) poster.machines.push_back(short_name(machine));
  }
  for (auto& [key, row] : rows) {
    const bool in_its_dtype =
        std::ranges::any_of(row.marks, [](const Mark& mark) { return !mark.other_dtype; });
    if (in_its_dtype) poster.rows.push_back(std::move(row));
  }
  for (const PosterRow& row : poster.rows) {
    poster.most = std::max(poster.most, row.claimed);
    for (const Mark& mark : row.marks) {
      poster.other_dtypes = poster.other_dtypes || mark.other_dtype;
      poster.least = std::min({poster.least, mark.ci.low, mark.ratio});
      poster.most = std::max({poster.most, mark.ci.high, mark.ratio});
    }
  }
  poster.least /= kRoom;
  poster.most *= 1.13;  // for the number beside the largest claim
  return poster;
}

std::string shape(std::size_t machine, double x, double y) {
  switch (machine % kColours.size()) {
    case 0:
      return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4.2\"", x, y);
    case 1:
      return fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"7.6\" height=\"7.6\"", x - 3.8, y - 3.8);
    case 2:
      return fmt::format("<path d=\"M{:.1f},{:.1f} l4.8,8.4 h-9.6 z\"", x, y - 5);
    case 3:
      return fmt::format("<path d=\"M{:.1f},{:.1f} l5,3.8 -1.9,5.6 h-6.2 l-1.9,-5.6 z\"", x, y - 5);
    case 4:
      return fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"3.6\" height=\"11\"", x - 1.8, y - 5.5);
    default:
      return fmt::format("<path d=\"M{:.1f},{:.1f} l4.8,-8.4 h-9.6 z\"", x, y + 5);
  }
}

std::string mark_svg(std::size_t machine, double x, double y, bool hollow) {
  const std::string_view colour = kColours[machine % kColours.size()];
  return fmt::format("{} fill=\"{}\" fill-opacity=\"0.85\" stroke=\"{}\"/>\n", shape(machine, x, y),
                     hollow ? "#ffffff" : colour, colour);
}

std::string claimed_svg(double x, double y) {
  return fmt::format(
      "<path d=\"M{:.1f},{:.1f} l6,6 -6,6 -6,-6 z\" fill=\"#ffffff\" stroke=\"{}\" stroke-width=\"2\"/>\n", x,
      y - 6, kClaimed);
}

std::string label(double x, double y, std::string_view text, std::string_view anchor = "start",
                  std::string_view colour = kInk) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" fill=\"{}\">{}</text>\n", x, y,
                     anchor, colour, html_text(text));
}

// Of a label. Widths of letters are those of DejaVu Sans, which is wider than other fonts without serifs.
double text_width(std::string_view text) {
  constexpr std::pair<std::string_view, double> kWidths[] = {
      {"ijlIJ", 0.29}, {" .,:;'|!", 0.33}, {"tfr()[]-/", 0.41}, {"Mw", 0.86},
      {"mW", 0.99},    {"DGHNOQU", 0.78},  {"ABCKRVXZ", 0.69}};
  double width = 0;
  for (const char letter : text) {
    const auto* const known = std::ranges::find_if(
        kWidths, [letter](const auto& entry) { return entry.first.find(letter) != std::string_view::npos; });
    width += known == std::end(kWidths) ? 0.64 : known->second;
  }
  return kFontSize * width;
}

// The entries in as many lines as they need.
struct Legend {
  std::string svg;
  double height = 0;  // of the lines after the first
};
Legend legend_of(const Poster& poster) {
  Legend legend;
  double x = kMargin, y = 46;
  const auto add = [&](const std::string& text, const auto& mark) {
    const double width = kEntryIndent + text_width(text);
    if (x > kMargin && x + width > kWidth - kMargin) {
      x = kMargin, y += kLegendStep;
      legend.height += kLegendStep;
    }
    legend.svg += mark(x + 6, y) + label(x + kEntryIndent, y + 4.5, text);
    x += width + kEntryGap;
  };
  add("claimed", claimed_svg);
  for (std::size_t i = 0; i < poster.machines.size(); ++i)
    add(poster.machines[i], [i](double at, double line) { return mark_svg(i, at, line, false); });
  if (poster.other_dtypes)
    add("hollow: in another dtype than claimed",
        [](double at, double line) { return mark_svg(0, at, line, true); });
  return legend;
}

std::string axis_svg(const Poster& poster, double top, double bottom) {
  std::string svg;
  for (const double tick : {0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 32.0, 64.0}) {
    if (tick < poster.least || tick > poster.most) continue;
    const double x = poster.place(tick);
    svg += fmt::format("<path d=\"M{:.1f},{:.1f} V{:.1f}\" stroke=\"{}\"/>\n", x, top - 8, bottom,
                       tick == 1 ? "#57606a" : "#e2e5e9");
    svg += label(x, bottom + 18, fmt::format("{:g}", tick), "middle", kPaleInk);
  }
  return svg + label((kLeft + kRight) / 2, bottom + 42,
                     "times as fast as linear order (right of 1: faster; logarithmic)", "middle", kPaleInk);
}

std::string row_svg(const Poster& poster, const PosterRow& row, double y) {
  const double claimed = poster.place(row.claimed);
  std::string svg =
      label(kLeft - 14, y + 4.5, row.text, "end") +
      fmt::format("<path d=\"M{:.1f},{:.1f} H{:.1f}\" stroke=\"{}\" stroke-opacity=\"0.35\"/>\n",
                  poster.place(1), y, claimed, kClaimed) +
      claimed_svg(claimed, y) +
      label(claimed + 11, y + 4.5, fmt::format("{:.2f}", row.claimed), "start", kClaimed);
  const double middle = (static_cast<double>(poster.machines.size()) - 1) / 2;
  for (const Mark& mark : row.marks) {
    const double at = y + kApart * (static_cast<double>(mark.machine) - middle);
    svg += fmt::format("<path d=\"M{:.1f},{:.1f} H{:.1f}\" stroke=\"{}\"/>\n", poster.place(mark.ci.low), at,
                       poster.place(mark.ci.high), kColours[mark.machine % kColours.size()]);
    svg += mark_svg(mark.machine, poster.place(mark.ratio), at, mark.other_dtype);
  }
  return svg;
}

}  // namespace

std::string poster_svg(const std::vector<MachineOverview>& machines) {
  constexpr std::string_view kTitle = "Claimed and measured speedup of Hilbert order over linear order";
  const Poster poster = poster_of(machines);
  if (poster.rows.empty()) return "";
  const Legend legend = legend_of(poster);
  const double top = kTop + legend.height, bottom = top + kStep * static_cast<double>(poster.rows.size());
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"sans-serif\" "
      "font-size=\"{2:.0f}\" role=\"img\">\n<title>{3}</title>\n<rect x=\"0.5\" y=\"0.5\" width=\"{4:.0f}\" "
      "height=\"{5:.0f}\" rx=\"6\" fill=\"#ffffff\" stroke=\"#c8ccd0\"/>\n<text x=\"16\" y=\"26\" "
      "font-size=\"15\" fill=\"{6}\" font-weight=\"bold\">{3}</text>\n",
      kWidth, bottom + 62, kFontSize, kTitle, kWidth - 1, bottom + 61, kInk);
  svg += legend.svg + axis_svg(poster, top, bottom);
  for (std::size_t i = 0; i < poster.rows.size(); ++i)
    svg += row_svg(poster, poster.rows[i], top + kStep * (static_cast<double>(i) + 0.4));
  return svg + "</svg>\n";
}

}  // namespace hilbench
