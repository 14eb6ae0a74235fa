#include "kernels/orders/grid_curves.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <utility>

namespace hilbench {
namespace {

// One side of a box of cells: `count` of them, `step` apart in memory.
struct Side {
  std::int64_t count = 0, step = 0;
};

// A box of cells that begins at the corner `cell`.
struct Box {
  std::int64_t cell = 0;
  Side a, b, c;
};

Side part(const Side& side, std::int64_t count) {
  return {count, side.step};
}
// The rest of a side, from its far end back.
Side back(const Side& side, std::int64_t count) {
  return {count, -side.step};
}
// From the corner to the last of the first `count` cells of a side.
std::int64_t to_last(const Side& side, std::int64_t count) {
  return (count - 1) * side.step;
}

// About half of a side, even if possible: a part of odd length may need a step that is no unit.
std::int64_t half_of(const Side& side) {
  const std::int64_t half = side.count / 2;
  return half % 2 != 0 && side.count > 2 ? half + 1 : half;
}

// Walks a box from its corner to the other end of its side a.
class HilbertWalk {
 public:
  explicit HilbertWalk(std::span<std::uint32_t> cells) : out_(cells.data()) {}

  void walk(const Box& box) {
    const auto& [cell, a, b, c] = box;
    if (b.count == 1 && c.count == 1) return line(cell, a);
    if (a.count == 1 && c.count == 1) return line(cell, b);
    if (a.count == 1 && b.count == 1) return line(cell, c);
    if (2 * a.count > 3 * b.count && 2 * a.count > 3 * c.count)
      halves(box);
    else if (3 * b.count > 4 * c.count)
      along_b(box);
    else if (3 * c.count > 4 * b.count)
      along_c(box);
    else
      fifths(box);
  }

 private:
  void line(std::int64_t cell, const Side& side) {
    for (std::int64_t i = 0; i < side.count; ++i, cell += side.step)
      *out_++ = static_cast<std::uint32_t>(cell);
  }

  // Side a is cut.
  void halves(const Box& box) {
    const auto& [cell, a, b, c] = box;
    const std::int64_t half = half_of(a);
    walk({cell, part(a, half), b, c});
    walk({cell + half * a.step, part(a, a.count - half), b, c});
  }

  // Sides a and b are cut: along b over half of a, along a, and back along b.
  void along_b(const Box& box) {
    const auto& [cell, a, b, c] = box;
    const std::int64_t half_a = half_of(a), half_b = half_of(b);
    walk({cell, part(b, half_b), c, part(a, half_a)});
    walk({cell + half_b * b.step, a, part(b, b.count - half_b), c});
    walk({cell + to_last(a, a.count) + to_last(b, half_b), back(b, half_b), c, back(a, a.count - half_a)});
  }

  // The same with side c.
  void along_c(const Box& box) {
    const auto& [cell, a, b, c] = box;
    const std::int64_t half_a = half_of(a), half_c = half_of(c);
    walk({cell, part(c, half_c), part(a, half_a), b});
    walk({cell + half_c * c.step, a, b, part(c, c.count - half_c)});
    walk({cell + to_last(a, a.count) + to_last(c, half_c), back(c, half_c), back(a, a.count - half_a), b});
  }

  // All sides are cut: along b, c, a, back along c and along b.
  void fifths(const Box& box) {
    const auto& [cell, a, b, c] = box;
    const std::int64_t half_a = half_of(a), half_b = half_of(b), half_c = half_of(c);
    const std::int64_t far_a = to_last(a, a.count), far_c = to_last(c, c.count);
    const std::int64_t near_b = to_last(b, half_b), next_b = half_b * b.step;
    const Side first_a = part(a, half_a), rest_a = back(a, a.count - half_a);
    const Side rest_b = part(b, b.count - half_b);
    walk({cell, part(b, half_b), part(c, half_c), first_a});
    walk({cell + next_b, c, first_a, rest_b});
    walk({cell + near_b + far_c, a, back(b, half_b), back(c, c.count - half_c)});
    walk({cell + far_a + next_b + far_c, back(c, c.count), rest_a, rest_b});
    walk({cell + far_a + near_b, back(b, half_b), part(c, half_c), rest_a});
  }

  std::uint32_t* out_;
};

// Visits the octants of a cube with a power of two as its side, without cells outside of the box.
std::uint32_t* walk_octants(const GridBox& box, const GridBox& corner, std::int64_t side,
                            std::uint32_t* out) {
  if (corner.planes >= box.planes || corner.rows >= box.rows || corner.columns >= box.columns) return out;
  if (side == 1) {
    *out =
        static_cast<std::uint32_t>((corner.planes * box.rows + corner.rows) * box.columns + corner.columns);
    return out + 1;
  }
  const std::int64_t half = side / 2;
  for (std::int64_t octant = 0; octant < 8; ++octant)
    out = walk_octants(box,
                       {corner.planes + (octant >> 2) * half, corner.rows + (octant >> 1 & 1) * half,
                        corner.columns + (octant & 1) * half},
                       half, out);
  return out;
}

}  // namespace

void snake_box(const GridBox& box, std::span<std::uint32_t> cells) {
  std::size_t rank = 0;
  for (std::int64_t line = 0; line < box.planes * box.rows; ++line) {
    const std::int64_t plane = line / box.rows, along = line % box.rows;
    const std::int64_t row = plane % 2 == 0 ? along : box.rows - 1 - along;
    const std::int64_t begin = (plane * box.rows + row) * box.columns;
    for (std::int64_t column = 0; column < box.columns; ++column)
      cells[rank++] = static_cast<std::uint32_t>(begin + (line % 2 == 0 ? column : box.columns - 1 - column));
  }
}

void morton_box(const GridBox& box, std::span<std::uint32_t> cells) {
  const auto longest = static_cast<std::uint64_t>(std::max({box.planes, box.rows, box.columns}));
  walk_octants(box, {0, 0, 0}, static_cast<std::int64_t>(std::bit_ceil(longest)), cells.data());
}

void hilbert_box(const GridBox& box, std::span<std::uint32_t> cells) {
  const Side planes{box.planes, box.rows * box.columns}, rows{box.rows, box.columns}, columns{box.columns, 1};
  HilbertWalk curve(cells);
  if (box.columns >= box.rows && box.columns >= box.planes)
    curve.walk({0, columns, rows, planes});
  else if (box.rows >= box.planes)
    curve.walk({0, rows, columns, planes});
  else
    curve.walk({0, planes, rows, columns});
}

}  // namespace hilbench
