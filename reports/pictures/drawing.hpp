// The parts of a picture, as text of SVG.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hilbench {

struct Point {
  double x = 0, y = 0;
};
using Line = std::vector<Point>;

inline constexpr std::string_view kInk = "#1b1f24", kPaleInk = "#40474f";

class Drawing {
 public:
  // What follows is in units of `scale`, from `origin` on, until end().
  void begin(const Point& origin, double scale);
  void end();

  void lines(std::span<const Line> lines, std::string_view colour, double width);
  void dots(std::span<const Point> points, std::string_view colour, double width);
  void rectangle(const Point& corner, double width, double height, std::string_view colour);
  // A frame of one pixel around it, whatever the scale.
  void frame(const Point& corner, double width, double height);
  // One line, its baseline at `at`.
  enum class Weight { normal, bold };
  void text(const Point& at, std::string_view text, double size, std::string_view colour = kInk,
            Weight weight = Weight::normal);

  // The whole file, on a light ground of its own: it is readable on dark pages too.
  std::string svg(double width, double height, std::string_view title) const;

 private:
  std::string drawn_;
};

}  // namespace hilbench
