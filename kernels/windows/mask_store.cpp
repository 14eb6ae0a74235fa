#include "kernels/windows/mask_store.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <new>

#include "kernels/windows/window_tiles.hpp"

namespace hilbench {
namespace {

// A mapping, because the system gives its pages when masks are written: most lists of blocks have few
// different masks. It reserves no memory, because all blocks together may have masks of more than there is.
// Null if the system refuses it.
std::shared_ptr<BlockMask[]> map_masks(std::size_t most) {
  const std::size_t bytes = most * sizeof(BlockMask);
  void* memory =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  return {static_cast<BlockMask*>(memory), [bytes](BlockMask* masks) { ::munmap(masks, bytes); }};
}

}  // namespace

// At least half of the entries are free, so searches are short.
void MaskStore::Part::grow() {
  std::vector<Entry> before(std::max<std::size_t>(16, 2 * entries.size()));
  before.swap(entries);
  for (const Entry& entry : before)
    if (entry.number >= 0) free_entry(entry.hash) = entry;
}

MaskStore::Part::Entry& MaskStore::Part::free_entry(std::uint64_t hash) {
  std::size_t at = hash % entries.size();
  while (entries[at].number >= 0) at = (at + 1) % entries.size();
  return entries[at];
}

// Where addresses are limited (ulimit -v, strict overcommit), half of what is left is taken: other memory
// needs the rest, and the masks that differ seldom need all.
MaskStore::MaskStore(std::size_t most) : most_(std::max<std::size_t>(most, 1)) {
  for (memory_ = map_masks(most_); memory_ == nullptr;) {
    if (most_ < 4) throw std::bad_alloc();
    most_ /= 2;
    if (map_masks(most_) != nullptr) memory_ = map_masks(most_ /= 2);
  }
}

std::int32_t MaskStore::number_of(const BlockMask& mask) {
  return number_of(mask, hash_of(mask));
}

std::int32_t MaskStore::number_of(const BlockMask& mask, std::uint64_t hash) {
  Part& part = parts_[hash >> (64 - kPartBits)];
  const std::lock_guard lock(part.mutex);
  if (2 * part.used >= part.entries.size()) part.grow();
  const std::size_t size = part.entries.size();
  for (std::size_t at = hash % size; part.entries[at].number >= 0; at = (at + 1) % size)
    if (const Part::Entry& entry = part.entries[at]; entry.hash == hash && memory_[entry.number] == mask)
      return entry.number;
  const std::int32_t number = count_.fetch_add(1, std::memory_order_relaxed);
  if (static_cast<std::size_t>(number) >= most_) throw std::bad_alloc();
  memory_[number] = mask;
  part.free_entry(hash) = {hash, number};
  ++part.used;
  return number;
}

MaskList MaskStore::masks() const {
  return {.memory = memory_, .count = static_cast<std::size_t>(count_.load())};
}

}  // namespace hilbench
