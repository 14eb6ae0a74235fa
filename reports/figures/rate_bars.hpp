// Rates of kernels and rivals by sequence length, as grouped bars.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reports/view/view.hpp"

namespace hilbench {

// Bars of one library: an entry for each length of the panel.
struct RateSeries {
  std::string library;
  std::vector<const Record*> records;  // null: none measured
};

// More lengths are thinned out evenly, so that the bars stay readable.
inline constexpr std::size_t kMostRateLengths = 16;

// Cases that differ in length and batch alone. A segment that spans the sequence grows with it.
struct RatePanel {
  std::string shared;  // "h 16, d 128, bf16, causal"
  std::vector<std::int64_t> lengths;
  std::vector<RateSeries> series;
  std::size_t measured_lengths = 0;  // before they were thinned out
};
// "FLOPs count ...": how the bars of a panel are read, for the caption.
std::string reading_of(const RatePanel& panel);

// The unit that the rates of a panel are shown in: "TFLOP/s", or "GFLOP/s" if none reaches 1 TFLOP/s.
struct RateUnit {
  std::string name;
  double per_tflops = 1;
};
RateUnit unit_of(const RatePanel& panel);

// Kernels in linear order, and baselines that computed and verified the same case. Panels with fewer than two
// libraries are left out; those with most lengths stand first.
std::vector<RatePanel> rate_panels(const View& view);

}  // namespace hilbench
