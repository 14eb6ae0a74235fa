// The Q, K and V of a case: seeded random values, or tensors captured from a model.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "harness/sweep/settings.hpp"
#include "kernels/case/case.hpp"

namespace hilbench {

enum class Tensor { q, k, v };

// Elements that pass through host memory at a time, where a whole tensor is moved.
constexpr std::int64_t kPartElements = 1 << 22;

// Calls visit(first, count) for part after part of `elements` elements: kPartElements each, or the nearest
// multiple of `unit` below that is not 0.
void for_each_part(std::int64_t elements, std::int64_t unit,
                   const std::function<void(std::int64_t first, std::int64_t count)>& visit);

// Position order, BSHD, every value rounded to the case's dtype. Random values are made where they are read,
// so that no whole tensor stands in host memory: N(0, 1) with one in a thousand drawn from N(0, 100) instead,
// the outliers of the FlashAttention-3 accuracy test (arXiv 2407.08608, section 4.3, there added rather than
// drawn). Element i of a tensor depends on (seed, tensor, i) alone, however it is read. Tensors from files
// are held.
class InputTensors {
 public:
  InputTensors(const Case& work, const Inputs& inputs, std::uint64_t seed);

  // Elements of the tensor.
  std::int64_t size(Tensor which) const;
  // Elements from `first` on, widened to fp32.
  void read(Tensor which, std::int64_t first, std::span<float> to) const;
  // The same by `threads` threads, as they are stored: `count` elements of the case's dtype.
  void read_stored(Tensor which, std::int64_t first, std::int64_t count, std::byte* to, int threads) const;

 private:
  Case work_;
  std::array<std::uint64_t, 3> keys_ = {};
  std::array<std::vector<float>, 3> held_;
};

}  // namespace hilbench
