// Memory of processors for tensors and workspaces, on pages of the size that a case asks for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "kernels/case/case.hpp"

namespace hilbench {

// All three return memory that nothing has touched yet, and throw std::bad_alloc. With a chosen page size it
// is a mapping of its own that starts on a 2 MiB boundary and fills whole pages of 2 MiB. The kernel may
// still give other pages when the memory is touched: pages_fault() says so afterwards.

// A tensor: from 2 MiB on, it starts on a 2 MiB boundary; a smaller one is 64-byte aligned.
std::shared_ptr<void> allocate_buffer(std::size_t bytes, PageSize pages);
// A workspace, 64-byte aligned. Highway moves each a little, so that several do not compete for the same sets
// of a cache.
std::shared_ptr<void> allocate_workspace(std::size_t bytes, PageSize pages);
std::shared_ptr<float[]> allocate_floats(std::int64_t count, PageSize pages);

// How much of the memory that holds all living buffers, and workspaces of a chosen page size, is on huge
// pages: 0 to 1, of what was touched (AnonHugePages and Rss in /proc/self/smaps).
struct HugeShare {
  double least, mean, most;  // of a mapping, of all together, of a mapping
};
// Nothing if nothing was touched or the kernel does not say.
std::optional<HugeShare> huge_share();

// Why they are not on pages of this size, "pages 2m: ..."; nothing if they are.
std::optional<std::string> pages_fault(PageSize pages);

}  // namespace hilbench
