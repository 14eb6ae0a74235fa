// A fixed number of independent bf16 products in registers, to measure the peak of kernels that use them.
#pragma once

#include <cstdint>

#include "kernels/cpu/bf16_products.hpp"

namespace hilbench {

// Runs one part of a thread's products and returns their sum. Not for `widened`.
float run_bf16_products(Bf16Products products);
// FLOPs of run_bf16_products: two for each product.
double flops_of_bf16_products(Bf16Products products);

}  // namespace hilbench
