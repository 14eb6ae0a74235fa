#include "kernels/orders/maps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "kernels/base/files/npy.hpp"
#include "kernels/base/text/error.hpp"
#include "kernels/orders/curves.hpp"

namespace hilbench {
namespace {

std::int64_t reverse_bits(std::int64_t value, int bits) {
  std::int64_t reversed = 0;
  for (int i = 0; i < bits; ++i) reversed |= ((value >> i) & 1) << (bits - 1 - i);
  return reversed;
}

// Uniform in [0, bound): draws above the last multiple of `bound` are rejected. The distributions of the
// standard library differ between platforms; its engines do not.
std::uint64_t draw_below(std::mt19937_64& engine, std::uint64_t bound) {
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t accepted = most - most % bound;
  std::uint64_t draw = engine();
  while (draw >= accepted) draw = engine();
  return draw % bound;
}

struct Point {
  std::int64_t x = 0;
  std::int64_t y = 0;
};

// The published formula, which reflects inside the whole grid (n - 1), and what it should be: inside the
// current square (s - 1).
enum class Reflect { in_grid, in_square };
Point published_d2xy(std::int64_t n, std::int64_t d, Reflect reflect) {
  Point p;
  for (std::int64_t s = 1; s < n; s *= 2) {
    const std::int64_t rx = (d / 2) & 1;
    const std::int64_t ry = (d ^ rx) & 1;
    if (ry == 0) {
      const std::int64_t last = reflect == Reflect::in_grid ? n - 1 : s - 1;
      if (rx == 1) p = {last - p.x, last - p.y};
      std::swap(p.x, p.y);
    }
    p.x += s * rx;
    p.y += s * ry;
    d /= 4;
  }
  return p;
}

constexpr std::array<std::int64_t, kSeedListChunk> kPublishedList = {0, 1, 14, 15, 2, 3, 12, 13,
                                                                     4, 7, 8,  11, 5, 6, 9,  10};

}  // namespace

void linear_map(const OrderRequest&, std::span<std::int64_t> slots) {
  std::iota(slots.begin(), slots.end(), std::int64_t{0});
}

void residue_map(const OrderRequest& request, std::span<std::int64_t> slots) {
  const auto length = static_cast<std::int64_t>(slots.size());
  const std::int64_t rows =
      length / request.residue;  // of a stream; the first `longer` streams have one more
  const std::int64_t longer = length % request.residue;
  std::int64_t stream = 0;
  std::int64_t row = 0;
  for (std::int64_t& slot : slots) {
    slot = stream * rows + std::min(stream, longer) + row;
    if (++stream == request.residue) stream = 0, ++row;
  }
}

void bitrev_residue_map(const OrderRequest& request, std::span<std::int64_t> slots) {
  if (!std::has_single_bit(static_cast<std::uint64_t>(request.residue)))
    throw UsageError({fmt::format("residue {}", request.residue), "order bitrev_residue",
                      "r_max is a power of two: its bits are reversed",
                      fmt::format("try {}", std::bit_ceil(static_cast<std::uint64_t>(request.residue)))});
  // Every r_max above the length gives the same order.
  const auto streams = static_cast<std::int64_t>(
      std::min(static_cast<std::uint64_t>(request.residue), std::bit_ceil(slots.size())));
  const int bits = std::countr_zero(static_cast<std::uint64_t>(streams));
  std::int64_t next = 0;
  for (std::int64_t i = 0; i < streams; ++i)
    for (auto t = static_cast<std::size_t>(reverse_bits(i, bits)); t < slots.size();
         t += static_cast<std::size_t>(streams))
      slots[t] = next++;
}

void random_map(const OrderRequest& request, std::span<std::int64_t> slots) {
  std::mt19937_64 engine(request.seed);
  std::iota(slots.begin(), slots.end(), std::int64_t{0});
  for (std::size_t i = slots.size(); i > 1; --i)
    std::swap(slots[i - 1], slots[static_cast<std::size_t>(draw_below(engine, i))]);
}

void file_map(const OrderRequest& request, std::span<std::int64_t> slots) {
  const std::string where = request.file.string();
  if (where.empty())
    throw UsageError({"order file", "", "no file is given", "name a .npy with `order_file`"});
  const std::vector<std::int64_t> read = read_npy_integers(request.file);
  if (read.size() != slots.size())
    throw UsageError({"permutation of a wrong length", where,
                      fmt::format("it has {} entries, the sequence {}", read.size(), slots.size()),
                      "give one slot for each position"});
  const std::string fault = order_fault(request, check_order(request, read));
  if (!fault.empty())
    throw UsageError({"permutation file", where, fault, "give each slot of 0..length-1 exactly once"});
  std::copy(read.begin(), read.end(), slots.begin());
}

void seed_d2xy_map(const OrderRequest&, std::span<std::int64_t> slots) {
  const Raster raster = raster_of(static_cast<std::int64_t>(slots.size()));
  const auto n = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(raster.width)));
  for (std::size_t d = 0; d < slots.size(); ++d) {
    const Point p = published_d2xy(n, static_cast<std::int64_t>(d), Reflect::in_grid);
    const bool inside = p.x >= 0 && p.x < n && p.y >= 0 && p.y < n;
    slots[d] = inside ? p.y * n + p.x : -1;
  }
}

void seed_zeros_map(const OrderRequest&, std::span<std::int64_t> slots) {
  std::int64_t n = 1;
  while (n * n < static_cast<std::int64_t>(slots.size())) n *= 2;
  std::fill(slots.begin(), slots.end(), std::int64_t{0});
  for (std::size_t d = 0; d < slots.size(); ++d) {
    const Point p = published_d2xy(n, static_cast<std::int64_t>(d), Reflect::in_square);
    const auto cell = static_cast<std::size_t>(p.y * n + p.x);
    if (cell < slots.size()) slots[cell] = static_cast<std::int64_t>(d);
  }
}

void seed_list_map(const OrderRequest&, std::span<std::int64_t> slots) {
  for (std::size_t begin = 0; begin < slots.size(); begin += kSeedListChunk) {
    const std::size_t count = std::min<std::size_t>(kSeedListChunk, slots.size() - begin);
    const auto ranks = std::span(kPublishedList).first(count);
    for (std::size_t i = 0; i < count; ++i)
      slots[begin + i] =
          static_cast<std::int64_t>(begin) +
          std::count_if(ranks.begin(), ranks.end(), [&](auto rank) { return rank < ranks[i]; });
  }
}

}  // namespace hilbench
