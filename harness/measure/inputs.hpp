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

// `ordinary` inputs are verified and timed. Those of the key probe have a query of 0, so that all scores are
// 0, and +1 or -1 in every element of V, as a hash of (seed, element) says. K is not theirs: it stays.
enum class InputSet { ordinary, key_probe };

// A whole tensor moves through host memory in parts of this many elements.
constexpr std::int64_t kPartElements = 1 << 22;

// Calls visit(first, count) for each part of `elements` elements. A part has kPartElements, rounded down to a
// multiple of `unit`, but at least `unit`.
void for_each_part(std::int64_t elements, std::int64_t unit,
                   const std::function<void(std::int64_t first, std::int64_t count)>& visit);

// Q, K and V in position order, BSHD, every value rounded to the case's dtype.
// Random values are computed when they are read, so host memory never holds a whole tensor. They follow N(0,
// 1); one in a thousand is drawn from N(0, 100) instead. These are the outliers of the FlashAttention-3
// accuracy test (arXiv 2407.08608, section 4.3, which adds them to the value instead). Element i of a tensor
// depends only on (seed, tensor, i). Tensors from files stay in host memory.
class InputTensors {
 public:
  InputTensors(const Case& work, const Inputs& inputs, std::uint64_t seed);
  // Those of the key probe.
  static InputTensors key_probe(const Case& work, std::uint64_t seed);

  // Number of elements of the tensor.
  std::int64_t size(Tensor which) const;
  // Reads elements from `first` on, widened to fp32.
  void read(Tensor which, std::int64_t first, std::span<float> to) const;
  // Reads `count` elements in the case's dtype, with `threads` threads.
  void read_stored(Tensor which, std::int64_t first, std::int64_t count, std::byte* to, int threads) const;

 private:
  Case work_;
  InputSet set_ = InputSet::ordinary;
  std::array<std::uint64_t, 3> keys_ = {};
  std::array<std::vector<float>, 3> held_;
};

}  // namespace hilbench
