// Checks that a map is a bijection and, if its order promises it, a curve of unit steps.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <vector>

#include "kernels/base/text/error.hpp"
#include "kernels/orders/curves.hpp"
#include "kernels/orders/grids.hpp"
#include "kernels/orders/maps.hpp"
#include "kernels/orders/order.hpp"

namespace hilbench {
namespace {

constexpr std::int64_t kNone = -1;

// The position in each slot, kNone if there is none. Adds its counts to `check`.
std::vector<std::int64_t> positions_by_slot(std::span<const std::int64_t> slots, OrderCheck& check) {
  std::vector<std::int64_t> positions(slots.size(), kNone);
  for (std::size_t t = 0; t < slots.size(); ++t) {
    if (slots[t] < 0 || slots[t] >= check.length) continue;
    ++check.in_range;
    std::int64_t& position = positions[static_cast<std::size_t>(slots[t])];
    if (position == kNone) ++check.distinct;
    position = static_cast<std::int64_t>(t);
  }
  return positions;
}

// Counts the steps along the slots of a part of the positions that begins at `begin` and is a grid of
// `extents` or a part of its first dimension. A neighbour outside of the part is a long step.
void count_steps(std::span<const std::int64_t> positions, std::int64_t begin,
                 std::span<const std::int64_t> extents, OrderCheck& check) {
  const auto count = static_cast<std::int64_t>(positions.size());
  std::int64_t diagonals = 0;
  for (std::size_t slot = 1; slot < positions.size(); ++slot) {
    std::int64_t from = positions[slot - 1] - begin;
    std::int64_t to = positions[slot] - begin;
    bool near = std::min(from, to) >= 0 && std::max(from, to) < count;
    std::int64_t moved = 0;  // along how many dimensions
    for (std::size_t d = extents.size(); near && d-- > 0; from /= extents[d], to /= extents[d]) {
      const std::int64_t distance = std::abs(from % extents[d] - to % extents[d]);
      near = distance <= 1;
      moved += distance;
    }
    if (!near)
      ++check.long_steps;
    else if (moved > 1)
      ++diagonals;
  }
  check.steps += count - 1;
  check.diagonal_steps = std::max(check.diagonal_steps, diagonals);
}

std::int64_t chunk_of(const OrderRequest& request) {
  if (request.name == "seed_list") return kSeedListChunk;
  return request.chunk == 0 ? request.length : std::min(request.chunk, request.length);
}

}  // namespace

OrderCheck check_order(const OrderRequest& request, std::span<const std::int64_t> slots) {
  OrderCheck check{.length = request.length};
  if (static_cast<std::int64_t>(slots.size()) != request.length)
    throw UsageError({"map of a wrong length", fmt::format("order {}", request.name),
                      fmt::format("{} slots for {} positions", slots.size(), request.length), ""});
  const std::vector<std::int64_t> positions = positions_by_slot(slots, check);
  const OrderInfo* info = find_order(request.name);
  if (info == nullptr || !info->unit_steps || !check.bijection()) return check;
  if (!request.grid.empty()) {
    check.promised = promises_unit_steps(request);
    count_steps(positions, 0, request.grid, check);
    return check;
  }
  const std::int64_t chunk = chunk_of(request);
  for (std::int64_t begin = 0; begin < request.length; begin += chunk) {
    const std::int64_t count = std::min(chunk, request.length - begin);
    const Raster raster = raster_of(count);
    if (raster.cells() != count) continue;
    const auto part =
        std::span(positions).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(count));
    const std::array extents = {raster.height, raster.width};
    count_steps(part, begin, extents, check);
  }
  return check;
}

std::string order_fault(const OrderRequest& request, const OrderCheck& check) {
  if (check.valid()) return "";
  if (!check.bijection())
    return fmt::format(
        "order {} is no bijection: {} of {} positions have a slot in range, {} slots are distinct",
        request.name, check.in_range, check.length, check.distinct);
  return fmt::format(
      "order {} is no unit-step curve: of {} steps {} are longer than one cell, {} diagonal in one rectangle "
      "(one is allowed)",
      request.name, check.steps, check.long_steps, check.diagonal_steps);
}

}  // namespace hilbench
