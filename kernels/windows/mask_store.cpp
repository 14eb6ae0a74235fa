#include "kernels/windows/mask_store.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <new>

#include "kernels/windows/window_tiles.hpp"

namespace hilbench {
namespace {

// A mapping, because the system gives its pages when masks are written: most lists of blocks have few
// different masks. It reserves no memory, because all blocks together may have masks of more than there is.
std::shared_ptr<BlockMask[]> map_masks(std::size_t most) {
  const std::size_t bytes = std::max<std::size_t>(most, 1) * sizeof(BlockMask);
  void* memory =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return {static_cast<BlockMask*>(memory), [bytes](BlockMask* masks) { ::munmap(masks, bytes); }};
}

}  // namespace

MaskStore::MaskStore(std::size_t most) : memory_(map_masks(most)) {}

std::int32_t MaskStore::number_of(const BlockMask& mask) {
  return number_of(mask, hash_of(mask));
}

std::int32_t MaskStore::number_of(const BlockMask& mask, std::uint64_t hash) {
  Part& part = parts_[hash >> (64 - kPartBits)];
  const std::lock_guard lock(part.mutex);
  for (auto [at, end] = part.numbers.equal_range(hash); at != end; ++at)
    if (memory_[at->second] == mask) return at->second;
  const std::int32_t number = count_.fetch_add(1, std::memory_order_relaxed);
  memory_[number] = mask;
  part.numbers.emplace(hash, number);
  return number;
}

MaskList MaskStore::masks() const {
  return {.memory = memory_, .count = static_cast<std::size_t>(count_.load())};
}

}  // namespace hilbench
