// The table of orders: a row for each, with its form on a sequence and its form on a grid.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "kernels/orders/curves.hpp"
#include "kernels/orders/grid_curves.hpp"
#include "kernels/orders/maps.hpp"
#include "kernels/orders/order.hpp"

namespace hilbench {

enum class OnGrid {
  nothing,      // it has no form there
  as_sequence,  // it takes no notice of the grid
  curve,        // its curve over two dimensions, and `box` over three
  own           // as `map` says
};

struct GridForm {
  OnGrid kind = OnGrid::nothing;
  BoxCurve box = nullptr;        // null: none over three dimensions
  std::string_view inside = "";  // an order of groups: the order inside of a group
  bool only = false;             // it has no form on a sequence
  // Whether unit steps, if the order promises them, hold on a grid of these extents; null: on all.
  bool (*unit_steps)(std::span<const std::int64_t> extents) = nullptr;
};

// An order is a curve over the raster of each chunk, or a map of its own.
struct OrderEntry {
  OrderInfo info;
  Curve curve = nullptr;
  SlotMap map = nullptr;
  GridForm grid = {};
};

const OrderEntry* find_order_entry(std::string_view name);
// Throws UsageError if no order is called so.
const OrderEntry& order_entry(std::string_view name);

}  // namespace hilbench
