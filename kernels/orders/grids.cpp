#include "kernels/orders/grids.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/base/text/error.hpp"
#include "kernels/orders/order_table.hpp"

namespace hilbench {
namespace {

// Extents as [planes, rows, columns]; one plane in two dimensions.
GridBox box_of(std::span<const std::int64_t> extents) {
  return {extents.size() > 2 ? extents[0] : 1, extents[extents.size() - 2], extents[extents.size() - 1]};
}

}  // namespace

bool sorts_groups(std::string_view name) {
  const OrderEntry* entry = find_order_entry(name);
  return entry != nullptr && !entry->grid.inside.empty();
}

Refusal why_not_on_grid(const OrderRequest& request) {
  const std::size_t dimensions = request.grid.size();
  const OrderEntry* entry = find_order_entry(request.name);
  if (entry == nullptr || entry->grid.kind == OnGrid::nothing)
    return fmt::format("order {} has no form on grids", request.name);
  if (entry->info.param == OrderParam::box && request.box.size() != dimensions)
    return fmt::format("order {} of {} extents on a grid of {} dimensions: write {}.{}", request.name,
                       request.box.size(), dimensions, request.name, dimensions == 2 ? "8.16" : "2.8.8");
  if (entry->grid.kind == OnGrid::curve && dimensions == 3 && entry->grid.box == nullptr)
    return fmt::format("order {} has no form on grids of three dimensions", request.name);
  return std::nullopt;
}

void curve_on_grid(const OrderEntry& entry, const OrderRequest& request, std::span<std::int64_t> slots) {
  std::vector<std::uint32_t> cells(slots.size());
  const GridBox box = box_of(request.grid);
  if (request.grid.size() == 2)
    entry.curve(box.columns, box.rows, cells);
  else
    entry.grid.box(box, cells);
  for (std::size_t rank = 0; rank < cells.size(); ++rank)
    slots[cells[rank]] = static_cast<std::int64_t>(rank);
}

bool promises_unit_steps(const OrderRequest& request) {
  const OrderEntry& entry = order_entry(request.name);
  return entry.grid.unit_steps == nullptr || entry.grid.unit_steps(request.grid);
}

void box_map(const OrderRequest& request, std::span<std::int64_t> slots) {
  if (request.box.size() != request.grid.size())
    throw UsageError(
        {"order boxes", "", "it needs an extent of the boxes for each dimension of the grid", ""});
  const GridBox grid = box_of(request.grid), box = box_of(request.box);
  std::int64_t next = 0;
  for (std::int64_t plane = 0; plane < grid.planes; plane += box.planes)
    for (std::int64_t row = 0; row < grid.rows; row += box.rows)
      for (std::int64_t column = 0; column < grid.columns; column += box.columns)
        for (std::int64_t p = plane; p < std::min(plane + box.planes, grid.planes); ++p)
          for (std::int64_t r = row; r < std::min(row + box.rows, grid.rows); ++r)
            for (std::int64_t c = column; c < std::min(column + box.columns, grid.columns); ++c)
              slots[static_cast<std::size_t>((p * grid.rows + r) * grid.columns + c)] = next++;
}

void group_map(const OrderRequest& request, std::span<std::int64_t> slots) {
  const std::size_t dimensions = request.grid.size();
  const std::vector<std::int64_t> dilation =
      request.dilation.empty() ? std::vector<std::int64_t>(dimensions, 1) : request.dilation;
  OrderRequest inside{
      .name = std::string(order_entry(request.name).grid.inside), .grid = request.grid, .box = request.box};
  std::vector<std::int64_t> group(dimensions, 0);
  std::int64_t first = 0;  // slot of the group
  for (bool left = true; left;) {
    inside.length = 1;
    for (std::size_t d = 0; d < dimensions; ++d) {
      inside.grid[d] = (request.grid[d] - group[d] + dilation[d] - 1) / dilation[d];
      inside.length *= inside.grid[d];
    }
    const std::vector<std::int64_t> ranks = order_slots(inside);
    for (std::int64_t i = 0; i < inside.length; ++i) {
      std::int64_t rest = i, position = 0, step = 1;
      for (std::size_t d = dimensions; d-- > 0; rest /= inside.grid[d], step *= request.grid[d])
        position += (group[d] + rest % inside.grid[d] * dilation[d]) * step;
      slots[static_cast<std::size_t>(position)] = first + ranks[static_cast<std::size_t>(i)];
    }
    first += inside.length;
    left = false;
    for (std::size_t d = dimensions; !left && d-- > 0;) {
      left = ++group[d] < std::min(dilation[d], request.grid[d]);
      if (!left) group[d] = 0;
    }
  }
}

}  // namespace hilbench
