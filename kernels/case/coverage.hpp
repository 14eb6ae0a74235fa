// Counting the distinct positions that a set of branches covers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/case/pattern.hpp"

namespace hilbench {

// The positions that one branch covers. In each segment, with u counted from its begin: those with
// u mod dilation == offset, or with from_offset (dense causal queries) those with u >= offset.
struct Cover {
  std::int64_t segment_length = 0, dilation = 1, offset = 0;
  bool from_offset = false;
  bool operator==(const Cover&) const = default;
  // True if the cover is a residue class of the whole sequence, so that segment borders do not matter.
  bool seamless() const { return !from_offset && segment_length % dilation == 0; }
  std::int64_t count_inside(std::int64_t length) const {
    return from_offset ? std::max<std::int64_t>(0, length - offset)
                       : selected_count(length, offset, dilation);
  }
  std::int64_t count_below(std::int64_t n) const {
    return n / segment_length * count_inside(segment_length) + count_inside(n % segment_length);
  }
  // First border after t. Between two borders the cover is a residue class, everything, or nothing.
  std::int64_t next_border(std::int64_t t) const {
    const std::int64_t start = t / segment_length * segment_length;
    return from_offset && t < start + offset ? start + offset : start + segment_length;
  }
};

// Number of distinct positions below n in the union of the covers. Exact for up to 12 covers if they are
// seamless, or if there are at most 256 stretches between segment borders before these repeat or end. Else
// the upper bound min(n, sum over covers).
std::int64_t distinct_count(const std::vector<Cover>& covers, std::int64_t n);

}  // namespace hilbench
