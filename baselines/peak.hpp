// Measured limits of this machine: the roofline, and the guard against impossible figures.
#pragma once

namespace hilbench {

struct Peak {
  double fp32_fma_flops = 0;    // FLOP/s of independent fused multiply-adds, `threads` threads together
  double copy_bytes_per_s = 0;  // read + written, arrays well past the last-level cache
};
// Best of several short runs; takes about `seconds` in all.
Peak measure_peak(int threads, double seconds);

}  // namespace hilbench
