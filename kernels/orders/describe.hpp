// A description of an order for people: is it a bijection, and how local is it?
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "kernels/orders/order.hpp"

namespace hilbench {

// Lines of text: the result of check_order with its counts and, for a bijection, a table of locality for
// tiles of 128 keys at dilations 1 to 16, with adjacent rows of 256 bytes. Throws UsageError if `slots` does
// not have request.length entries.
std::string describe_order(const OrderRequest& request, std::span<const std::int64_t> slots);

}  // namespace hilbench
