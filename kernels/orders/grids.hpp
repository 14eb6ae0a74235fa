// Orders over the positions of a grid of two or three dimensions (docs/definitions.md).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "kernels/base/text/refusal.hpp"
#include "kernels/orders/order.hpp"

namespace hilbench {

struct OrderEntry;  // kernels/orders/order_table.hpp

// Whether the order sorts by the groups of request.dilation.
bool sorts_groups(std::string_view name);

// Why the order has no form on request.grid. It need not be known.
Refusal why_not_on_grid(const OrderRequest& request);

// Fills slots[t] for every position t of request.grid along the curve of the order.
void curve_on_grid(const OrderEntry& entry, const OrderRequest& request, std::span<std::int64_t> slots);

// Whether all steps of the curve are unit steps, but for one diagonal in two dimensions.
bool promises_unit_steps(const OrderRequest& request);

// Positions sorted by box of request.box, boxes and the positions in them row-major. Boxes at the ends of the
// grid are smaller.
void box_map(const OrderRequest& request, std::span<std::int64_t> slots);

// Positions sorted by group, row-major: the position with coordinates c is in group c mod request.dilation,
// whose keys are the only ones that a dilated window sees (Hassani and Shi, arXiv 2209.15001, section 3).
// Each group is a grid, in row-major order (residue), along a Hilbert curve (residue_hilbert) or in boxes
// (residue_boxes).
void group_map(const OrderRequest& request, std::span<std::int64_t> slots);

}  // namespace hilbench
