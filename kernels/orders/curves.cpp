#include "kernels/orders/curves.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "kernels/orders/hilbert.hpp"

namespace hilbench {
namespace {

// A block of cells. `cell` is its corner. The first side has `a` cells, `da` apart in memory; the second has
// `b` cells, `db` apart.
struct Block {
  std::int64_t cell;
  std::int64_t a, da;
  std::int64_t b, db;
};

std::uint32_t* walk_line(std::int64_t cell, std::int64_t count, std::int64_t stride, std::uint32_t* out) {
  for (std::int64_t i = 0; i < count; ++i, cell += stride) *out++ = static_cast<std::uint32_t>(cell);
  return out;
}

// Walks from the corner of the block to the other end of its first side. Parts get even lengths if possible,
// because a part with an odd first side and an even second side needs a diagonal step.
std::uint32_t* walk_hilbert(const Block& block, std::uint32_t* out) {
  const auto [cell, a, da, b, db] = block;
  if (b == 1) return walk_line(cell, a, da, out);
  if (a == 1) return walk_line(cell, b, db, out);
  if (a == 2 && b == 2) {
    out[0] = static_cast<std::uint32_t>(cell);
    out[1] = static_cast<std::uint32_t>(cell + db);
    out[2] = static_cast<std::uint32_t>(cell + db + da);
    out[3] = static_cast<std::uint32_t>(cell + da);
    return out + 4;
  }
  std::int64_t half_a = a / 2;
  std::int64_t half_b = b / 2;
  if (2 * a > 3 * b) {
    if (half_a % 2 != 0 && a > 2) ++half_a;
    out = walk_hilbert({cell, half_a, da, b, db}, out);
    return walk_hilbert({cell + half_a * da, a - half_a, da, b, db}, out);
  }
  if (half_b % 2 != 0 && b > 2) ++half_b;
  out = walk_hilbert({cell, half_b, db, half_a, da}, out);
  out = walk_hilbert({cell + half_b * db, a, da, b - half_b, db}, out);
  return walk_hilbert({cell + (a - 1) * da + (half_b - 1) * db, half_b, -db, a - half_a, -da}, out);
}

void walk_square(int k, std::span<std::uint32_t> cells) {
  constexpr std::size_t kBatch = 4096;
  std::array<std::uint32_t, kBatch> index;
  std::array<std::uint16_t, kBatch> x, y;
  for (std::size_t begin = 0; begin < cells.size(); begin += kBatch) {
    const std::size_t count = std::min(kBatch, cells.size() - begin);
    std::iota(index.begin(), index.begin() + static_cast<std::ptrdiff_t>(count),
              static_cast<std::uint32_t>(begin));
    hilbert_decode(std::span(index).first(count), k, std::span(x).first(count), std::span(y).first(count));
    for (std::size_t i = 0; i < count; ++i) cells[begin + i] = (std::uint32_t{y[i]} << k) | x[i];
  }
}

// A curve that splits a square into quadrants, and each quadrant in the same way, turned or not. For each
// state: the quadrants (2 * lower + right) in visiting sequence, and the state inside each.
struct QuadrantRule {
  std::array<int, 4> quadrant;
  std::array<int, 4> state;
};
constexpr std::array<QuadrantRule, 1> kMorton = {{{{0, 1, 2, 3}, {0, 0, 0, 0}}}};
// The state is the lowest bit of the rank one level up; it complements the next bit of the Gray code.
constexpr std::array<QuadrantRule, 2> kGray = {{{{0, 1, 3, 2}, {0, 1, 0, 1}}, {{2, 3, 1, 0}, {0, 1, 0, 1}}}};

struct Square {
  std::int64_t x, y, side;
};

std::uint32_t* walk_quadrants(std::span<const QuadrantRule> rules, int state, const Square& square,
                              const Raster& raster, std::uint32_t* out) {
  if (square.x >= raster.width || square.y >= raster.height) return out;
  if (square.side == 1) {
    *out = static_cast<std::uint32_t>(square.y * raster.width + square.x);
    return out + 1;
  }
  const QuadrantRule& rule = rules[static_cast<std::size_t>(state)];
  const std::int64_t half = square.side / 2;
  for (std::size_t i = 0; i < 4; ++i) {
    const int quadrant = rule.quadrant[i];
    const Square part{square.x + (quadrant & 1) * half, square.y + (quadrant >> 1) * half, half};
    out = walk_quadrants(rules, rule.state[i], part, raster, out);
  }
  return out;
}

void quadrant_curve(std::span<const QuadrantRule> rules, const Raster& raster,
                    std::span<std::uint32_t> cells) {
  const auto longest = static_cast<std::uint64_t>(std::max(raster.width, raster.height));
  walk_quadrants(rules, 0, {0, 0, static_cast<std::int64_t>(std::bit_ceil(longest))}, raster, cells.data());
}

}  // namespace

Raster raster_of(std::int64_t length) {
  auto width = static_cast<std::int64_t>(std::sqrt(static_cast<double>(length)));
  while (width * width < length) ++width;
  while (width > 1 && (width - 1) * (width - 1) >= length) --width;
  return {width, (length + width - 1) / width};
}

void snake_curve(std::int64_t width, std::int64_t height, std::span<std::uint32_t> cells) {
  std::uint32_t* out = cells.data();
  for (std::int64_t y = 0; y < height; ++y) {
    const bool rightwards = y % 2 == 0;
    out = walk_line(y * width + (rightwards ? 0 : width - 1), width, rightwards ? 1 : -1, out);
  }
}

void morton_curve(std::int64_t width, std::int64_t height, std::span<std::uint32_t> cells) {
  quadrant_curve(kMorton, {width, height}, cells);
}

void gray_curve(std::int64_t width, std::int64_t height, std::span<std::uint32_t> cells) {
  quadrant_curve(kGray, {width, height}, cells);
}

void hilbert_curve(std::int64_t width, std::int64_t height, std::span<std::uint32_t> cells) {
  const auto side = static_cast<std::uint64_t>(width);
  if (width == height && std::has_single_bit(side) && side < (std::uint64_t{1} << 16))
    return walk_square(std::countr_zero(side), cells);
  const Block along_rows{0, width, 1, height, width};
  const Block along_columns{0, height, width, width, 1};
  walk_hilbert(width >= height ? along_rows : along_columns, cells.data());
}

void moore_curve(std::int64_t width, std::int64_t height, std::span<std::uint32_t> cells) {
  std::int64_t left = width / 2;
  // With an odd height, parts of odd width need no diagonal.
  if (height % 2 != 0 && width % 2 == 0 && left % 2 == 0) --left;
  std::uint32_t* out = cells.data();
  if (left > 0) out = walk_hilbert({left - 1, height, width, left, -1}, out);
  walk_hilbert({(height - 1) * width + left, height, -width, width - left, 1}, out);
}

}  // namespace hilbench
