// Orders over the positions of a grid of two or three dimensions (docs/definitions.md).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "kernels/orders/order.hpp"

namespace hilbench {

// Whether the order has a form on grids alone.
bool needs_grid(std::string_view name);

// Whether the order sorts by the groups of request.dilation.
bool sorts_groups(std::string_view name);

// Why the order has no form on request.grid, or "". It need not be known.
std::string why_not_on_grid(const OrderRequest& request);

// Fills slots[t] for every position t of request.grid if the order is a curve over it or one of boxes; false
// if it takes no notice of the grid.
bool fill_on_grid(const OrderRequest& request, std::span<std::int64_t> slots);

// Whether all steps of the curve are unit steps, but for one diagonal in two dimensions.
bool promises_unit_steps(const OrderRequest& request);

// Positions sorted by box of request.box, boxes and the positions in them row-major. Boxes at the ends of the
// grid are smaller.
void fill_boxes(const OrderRequest& request, std::span<std::int64_t> slots);

// Positions sorted by group, row-major: the position with coordinates c is in group c mod request.dilation,
// whose keys are the only ones that a dilated window sees (Hassani and Shi, arXiv 2209.15001, section 3).
// Each group is a grid, in row-major order (residue), along a Hilbert curve (residue_hilbert) or in boxes
// (residue_boxes).
void fill_groups(const OrderRequest& request, std::span<std::int64_t> slots);

}  // namespace hilbench
