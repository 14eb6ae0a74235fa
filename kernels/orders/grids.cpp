#include "kernels/orders/grids.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/base/text/error.hpp"
#include "kernels/orders/curves.hpp"
#include "kernels/orders/grid_curves.hpp"

namespace hilbench {
namespace {

// The curves over a grid of two dimensions, and of three; null if there is none.
struct GridCurve {
  std::string_view name;
  Curve flat = nullptr;
  BoxCurve box = nullptr;
};
constexpr std::array kCurves = {
    GridCurve{"snake", snake_curve, snake_box}, GridCurve{"morton", morton_curve, morton_box},
    GridCurve{"gray", gray_curve, nullptr},     GridCurve{"hilbert", hilbert_curve, hilbert_box},
    GridCurve{"moore", moore_curve, nullptr},
};
// Orders that take no notice of a grid.
constexpr std::array<std::string_view, 3> kPlain = {"linear", "random", "file"};

const GridCurve* find_curve(std::string_view name) {
  const auto found = std::find_if(kCurves.begin(), kCurves.end(),
                                  [&](const GridCurve& curve) { return curve.name == name; });
  return found == kCurves.end() ? nullptr : &*found;
}

// Extents as [planes, rows, columns]; one plane in two dimensions.
GridBox box_of(std::span<const std::int64_t> extents) {
  return {extents.size() > 2 ? extents[0] : 1, extents[extents.size() - 2], extents[extents.size() - 1]};
}

// Orders of groups, and the order inside of a group.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kGrouped = {
    {{"residue", "linear"}, {"residue_hilbert", "hilbert"}, {"residue_boxes", "boxes"}}};

// The order inside of a group; "" for an order without groups.
std::string_view inside_groups(std::string_view name) {
  for (const auto& [grouped, inside] : kGrouped)
    if (grouped == name) return inside;
  return "";
}

bool takes_box(std::string_view name) {
  return name == "boxes" || name == "residue_boxes";
}

}  // namespace

bool needs_grid(std::string_view name) {
  return name == "boxes" || name == "residue_boxes" || name == "residue_hilbert";
}

bool sorts_groups(std::string_view name) {
  return !inside_groups(name).empty();
}

std::string why_not_on_grid(const OrderRequest& request) {
  const std::size_t dimensions = request.grid.size();
  if (takes_box(request.name) && request.box.size() != dimensions)
    return fmt::format("order {} of {} extents on a grid of {} dimensions: write {}.{}", request.name,
                       request.box.size(), dimensions, request.name, dimensions == 2 ? "8.16" : "2.8.8");
  if (takes_box(request.name) || !inside_groups(request.name).empty()) return "";
  if (std::find(kPlain.begin(), kPlain.end(), request.name) != kPlain.end()) return "";
  const GridCurve* curve = find_curve(request.name);
  if (curve == nullptr) return fmt::format("order {} has no form on grids", request.name);
  if (dimensions == 3 && curve->box == nullptr)
    return fmt::format("order {} has no form on grids of three dimensions", request.name);
  return "";
}

bool fill_on_grid(const OrderRequest& request, std::span<std::int64_t> slots) {
  if (request.name == "boxes") {
    fill_boxes(request, slots);
    return true;
  }
  if (!inside_groups(request.name).empty()) {
    fill_groups(request, slots);
    return true;
  }
  const GridCurve* curve = find_curve(request.name);
  if (curve == nullptr) return false;
  std::vector<std::uint32_t> cells(slots.size());
  const GridBox box = box_of(request.grid);
  if (request.grid.size() == 2)
    curve->flat(box.columns, box.rows, cells);
  else
    curve->box(box, cells);
  for (std::size_t rank = 0; rank < cells.size(); ++rank)
    slots[cells[rank]] = static_cast<std::int64_t>(rank);
  return true;
}

bool promises_unit_steps(const OrderRequest& request) {
  const auto all = [&](auto holds) { return std::all_of(request.grid.begin(), request.grid.end(), holds); };
  if (request.name == "moore") return all([](std::int64_t extent) { return extent > 1; });
  return request.name != "hilbert" || request.grid.size() == 2 ||
         all([](std::int64_t extent) { return extent % 2 == 0; });
}

void fill_boxes(const OrderRequest& request, std::span<std::int64_t> slots) {
  if (request.grid.empty() || request.box.size() != request.grid.size())
    throw UsageError({"order boxes", "",
                      "it cuts a grid into boxes, and needs an extent of both for each dimension",
                      "on a sequence take another order"});
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

void fill_groups(const OrderRequest& request, std::span<std::int64_t> slots) {
  const std::size_t dimensions = request.grid.size();
  if (dimensions == 0)
    throw UsageError({fmt::format("order {}", request.name), "", "it sorts the positions of a grid",
                      "on a sequence take another order"});
  const std::vector<std::int64_t> dilation =
      request.dilation.empty() ? std::vector<std::int64_t>(dimensions, 1) : request.dilation;
  OrderRequest inside{
      .name = std::string(inside_groups(request.name)), .grid = request.grid, .box = request.box};
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
