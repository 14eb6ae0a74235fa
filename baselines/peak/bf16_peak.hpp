// A fixed number of independent bf16 products in registers: the roof of kernels that multiply by them.
#pragma once

#include <cstdint>

#include "kernels/cpu/bf16_products.hpp"

namespace hilbench {

// A part of a thread's products by instructions other than `widened`, and what they sum to.
float run_bf16_products(Bf16Products products);
// FLOPs of that: two for each product.
double flops_of_bf16_products(Bf16Products products);

}  // namespace hilbench
