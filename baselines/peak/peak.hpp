// Measured limits of this machine: the roofline, and the guard against impossible figures.
#pragma once

#include "kernels/cpu/bf16_products.hpp"
#include "kernels/implementation.hpp"

namespace hilbench {

struct Peak {
  double fp32_fma_flops = 0;    // FLOP/s of independent fused multiply-adds, `threads` threads together
  double copy_bytes_per_s = 0;  // read + written, arrays well past the last-level cache; 0: not measured
};
// Best of several short runs; takes about `seconds` in all. Copies are measured from 0.1 s on: below, the
// arrays alone take longer to set up.
Peak measure_peak(int threads, double seconds);

// FLOP/s of independent products in bf16 by the given instructions, `threads` threads together: best of
// several short runs within about `seconds`. `widened` means fp32 FMAs.
double measure_bf16_flops(Bf16Products products, int threads, double seconds);

// The baseline `peak`: a fixed number of FMAs, or of bf16 products for cases in bf16; no attention, no
// output.
extern const Implementation kPeak;

}  // namespace hilbench
