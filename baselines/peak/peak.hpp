// Measured limits of this machine: the roofline, and a check against impossible results.
#pragma once

#include "kernels/cpu/bf16_products.hpp"
#include "kernels/implementation.hpp"

namespace hilbench {

struct Peak {
  double fp32_fma_flops = 0;    // FLOP/s of independent fused multiply-adds, `threads` threads together
  double copy_bytes_per_s = 0;  // read + written, arrays well past the last-level cache; 0: not measured
};
// The best of several short runs, about `seconds` in all. Copies are measured only if `seconds` is at least
// 0.1, because setting up the arrays takes about as long.
Peak measure_peak(int threads, double seconds);

// FLOP/s of independent bf16 products by the given instructions, `threads` threads together. The best of
// several short runs, about `seconds` in all. `widened` measures fp32 FMAs.
double measure_bf16_flops(Bf16Products products, int threads, double seconds);

// The baseline `peak`: a fixed number of FMAs, or of bf16 products if the case is in bf16. No
// attention, no output.
extern const Implementation kPeak;

}  // namespace hilbench
