// What a reader wants to know of an order before using it.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "kernels/orders/order.hpp"

namespace hilbench {

// Lines of text: the check of `slots` with its counts, and for a bijection a table of locality for tiles of
// 128 keys at dilations 1 to 16, rows of 256 bytes side by side. Throws UsageError where `slots` has not
// request.length entries.
std::string describe_order(const OrderRequest& request, std::span<const std::int64_t> slots);

}  // namespace hilbench
