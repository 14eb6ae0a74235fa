#include "reports/pictures/drawing.hpp"

#include <fmt/format.h>

#include <iterator>

#include "reports/view/table.hpp"

namespace hilbench {

void Drawing::begin(const Point& origin, double scale) {
  fmt::format_to(std::back_inserter(drawn_), "<g transform=\"translate({:.6g} {:.6g}) scale({:.6g})\">\n",
                 origin.x, origin.y, scale);
}

void Drawing::end() {
  drawn_ += "</g>\n";
}

void Drawing::lines(std::span<const Line> lines, std::string_view colour, double width) {
  fmt::format_to(std::back_inserter(drawn_),
                 "<path fill=\"none\" stroke=\"{}\" stroke-width=\"{:.3g}\" stroke-linejoin=\"round\" "
                 "stroke-linecap=\"round\" d=\"",
                 colour, width);
  for (const Line& line : lines)
    for (std::size_t i = 0; i < line.size(); ++i)
      fmt::format_to(std::back_inserter(drawn_), "{}{:.6g},{:.6g}", i == 0 ? "M" : " ", line[i].x, line[i].y);
  drawn_ += "\"/>\n";
}

// Each is a line of no length with a round end.
void Drawing::dots(std::span<const Point> points, std::string_view colour, double width) {
  fmt::format_to(std::back_inserter(drawn_),
                 "<path fill=\"none\" stroke=\"{}\" stroke-width=\"{:.3g}\" stroke-linecap=\"round\" d=\"",
                 colour, width);
  for (const Point& point : points)
    fmt::format_to(std::back_inserter(drawn_), "M{:.6g},{:.6g}h0", point.x, point.y);
  drawn_ += "\"/>\n";
}

void Drawing::rectangle(const Point& corner, double width, double height, std::string_view colour) {
  fmt::format_to(std::back_inserter(drawn_),
                 "<rect x=\"{:.6g}\" y=\"{:.6g}\" width=\"{:.6g}\" height=\"{:.6g}\" fill=\"{}\"/>\n",
                 corner.x, corner.y, width, height, colour);
}

void Drawing::frame(const Point& corner, double width, double height) {
  fmt::format_to(std::back_inserter(drawn_),
                 "<rect x=\"{:.6g}\" y=\"{:.6g}\" width=\"{:.6g}\" height=\"{:.6g}\" fill=\"none\" "
                 "stroke=\"#c8ccd0\" vector-effect=\"non-scaling-stroke\"/>\n",
                 corner.x, corner.y, width, height);
}

void Drawing::text(const Point& at, std::string_view text, double size, std::string_view colour,
                   Weight weight) {
  fmt::format_to(std::back_inserter(drawn_),
                 "<text x=\"{:.6g}\" y=\"{:.6g}\" font-size=\"{:.3g}\"{} fill=\"{}\">{}</text>\n", at.x, at.y,
                 size, weight == Weight::bold ? " font-weight=\"bold\"" : "", colour, html_text(text));
}

std::string Drawing::svg(double width, double height, std::string_view title) const {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\" font-family=\"sans-serif\" role=\"img\">\n<title>{2}</title>\n"
      "<rect width=\"{0:.0f}\" height=\"{1:.0f}\" rx=\"6\" fill=\"#ffffff\"/>\n{3}</svg>\n",
      width, height, html_text(title), drawn_);
}

}  // namespace hilbench
