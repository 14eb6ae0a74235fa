// A tensor whose elements are kept in host memory once they are computed.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "kernels/base/files/untouched_vector.hpp"
#include "kernels/case/case.hpp"

namespace hilbench {

// In blocks of kBlock elements. A block is kept from the first read on that covers the whole of it. Memory is
// taken block by block. Threads may read at the same time; none waits for another.
class KeptElements {
 public:
  static constexpr std::int64_t kBlock = 1024;
  // Computes elements `first`, `first` + 1 ..., each the same whenever it is computed and exact in the dtype.
  using Compute = std::function<void(std::int64_t first, std::span<float> to)>;

  KeptElements(Dtype dtype, std::int64_t elements);

  // Reads elements from `first` on, widened to fp32.
  void read(std::int64_t first, std::span<float> to, const Compute& compute);
  // Copies `count` elements in the dtype, if all of them are kept; returns whether they are.
  bool copy_stored(std::int64_t first, std::int64_t count, std::byte* to) const;

 private:
  enum class State : std::uint8_t { absent, being_kept, kept };

  bool kept(std::int64_t block) const;
  void keep(std::int64_t block, std::span<const float> values);

  Dtype dtype_;
  std::int64_t elements_;
  UntouchedVector<std::byte> stored_;
  std::vector<std::atomic<State>> states_;  // of each block
};

}  // namespace hilbench
