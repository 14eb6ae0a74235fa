// How many positions a set of branches covers, each position once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/case/pattern.hpp"

namespace hilbench {

// What one branch covers of each of its segments, in positions u inside the segment: u mod dilation ==
// offset, or, of dense causal queries, u >= offset.
struct Cover {
  std::int64_t segment_length = 0, dilation = 1, offset = 0;
  bool from_offset = false;
  bool operator==(const Cover&) const = default;
  // Whether segments leave no trace: a residue class of the whole sequence.
  bool seamless() const { return !from_offset && segment_length % dilation == 0; }
  std::int64_t count_inside(std::int64_t length) const {
    return from_offset ? std::max<std::int64_t>(0, length - offset)
                       : selected_count(length, offset, dilation);
  }
  std::int64_t count_below(std::int64_t n) const {
    return n / segment_length * count_inside(segment_length) + count_inside(n % segment_length);
  }
  // First border after t: between borders the cover is a residue class, all, or nothing.
  std::int64_t next_border(std::int64_t t) const {
    const std::int64_t start = t / segment_length * segment_length;
    return from_offset && t < start + offset ? start + offset : start + segment_length;
  }
};

// Distinct positions below n that some cover holds. Exact for up to 12 covers that are
// seamless, or whose segment borders repeat after, or come to, 256; else the upper bound min(n, sum over
// covers).
std::int64_t distinct_count(const std::vector<Cover>& covers, std::int64_t n);

}  // namespace hilbench
