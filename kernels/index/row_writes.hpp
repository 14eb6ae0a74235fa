// What the launches of a ring do to one row of O of one head. C++17 and no fmt.
#pragma once

#include <cstdint>

namespace hilbench {

enum class RowWrites : std::uint8_t {
  untouched,  // no launch writes it: O is 0, LSE -infinity
  stored,     // the first launch that writes it stores its result
  merged,     // the first launch that writes it merges into what is there
};

}  // namespace hilbench
