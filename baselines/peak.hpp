// Measured limits of this machine: the roofline, and the guard against impossible figures.
#pragma once

#include "kernels/variant.hpp"

namespace hilbench {

struct Peak {
  double fp32_fma_flops = 0;    // FLOP/s of independent fused multiply-adds, `threads` threads together
  double copy_bytes_per_s = 0;  // read + written, arrays well past the last-level cache; 0: not measured
};
// Best of several short runs; takes about `seconds` in all. Copies are measured from 0.1 s on: below, the
// arrays alone take longer to set up.
Peak measure_peak(int threads, double seconds);

// The baseline `peak`: a fixed number of FMAs, no attention and no output.
extern const Variant kPeak;

}  // namespace hilbench
