// A slow link between groups of ranks, emulated on one host: what crosses it is copied through host memory,
// as a message between two hosts is.
#pragma once

#include <cstddef>

namespace hilbench {

struct EmulatedLink {
  int group_size = 0;  // ranks of a group, which are neighbours; 0: there is no such link
  bool present() const { return group_size > 0; }
  bool crossed_by(int source, int destination) const {
    return present() && source / group_size != destination / group_size;
  }
};

// Messages cross in chunks, so that the copy out of host memory overlaps with the copy into it.
inline constexpr std::size_t kLinkChunkBytes = std::size_t{4} << 20;

}  // namespace hilbench
