// What the launches of a ring do to a row of O of one head. C++17 and no fmt.
#pragma once

#include <cstdint>

namespace hilbench {

enum class RowWrites : std::uint8_t {
  untouched,  // by none: O is 0, LSE -infinity
  stored,     // the first one that touches it stores
  merged,     // the first one merges into what it finds
};

}  // namespace hilbench
