// Stores the masks of an index, each once. Several threads add masks at the same time.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "kernels/index/index.hpp"

namespace hilbench {

class MaskStore {
 public:
  // Holds at most this many masks. Takes memory only for those that are added. Throws std::bad_alloc.
  explicit MaskStore(std::size_t most);

  // The number of a mask: counts from 0, the same for equal masks. With several threads, chance decides which
  // mask has which number. Throws std::bad_alloc.
  std::int32_t number_of(const BlockMask& mask);
  // The same, with the mask's hash (hash_of). Masks with equal hashes may differ.
  std::int32_t number_of(const BlockMask& mask, std::uint64_t hash);

  // All masks by number. Nothing may be added afterwards.
  MaskList masks() const;

 private:
  // The masks whose hashes begin alike. Threads wait for each other only if they add to the same part.
  struct alignas(64) Part {
    struct Entry {
      std::uint64_t hash = 0;
      std::int32_t number = -1;  // below 0: free
    };
    std::mutex mutex;
    std::vector<Entry> entries;  // a mask's is the first free one from the place that its hash says
    std::size_t used = 0;
    Entry& free_entry(std::uint64_t hash);
    void grow();
  };
  static constexpr int kPartBits = 8;

  std::size_t most_;
  std::shared_ptr<BlockMask[]> memory_;
  std::atomic<std::int32_t> count_ = 0;
  std::array<Part, 1 << kPartBits> parts_;
};

}  // namespace hilbench
