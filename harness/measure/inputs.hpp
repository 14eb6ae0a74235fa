// The Q, K, V and dO of a case: seeded random values, or tensors captured from a model.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "harness/measure/kept_elements.hpp"
#include "harness/sweep/settings.hpp"
#include "kernels/case/case.hpp"

namespace hilbench {

enum class Tensor { q, k, v, d_o };
inline constexpr std::size_t kTensors = 4;

// `first` inputs are verified before the timing. `second` ones, of the same kind, are timed and verified
// after it, so that what an output was for the first is wrong for them. `negated` are the second ones with
// the other sign of V, which changes the sign of O and nothing else; if there are gradients, of dO instead,
// which changes the sign of all three and nothing else. Those of the key probe have a query of 0, so that all
// scores are 0, and +1 or -1 in every element of V, as a hash of (seed, element) says; K is that of the
// first. With gradients they are those of the gradient probe (harness/measure/gradient_probe.hpp).
enum class InputSet { first, second, negated, key_probe };

// A whole tensor moves through host memory in parts of this many elements.
constexpr std::int64_t kPartElements = 1 << 22;

// Calls visit(first, count) for each part of `elements` elements. A part has kPartElements, rounded down to a
// multiple of `unit`, but at least `unit`.
void for_each_part(std::int64_t elements, std::int64_t unit,
                   const std::function<void(std::int64_t first, std::int64_t count)>& visit);
// Converts to.size() elements of `dtype`, from `stored` on, to fp32.
void widen_stored(Dtype dtype, const std::byte* stored, std::span<float> to, int threads);

// Q, K, V and dO in position order, BSHD, every value rounded to the case's dtype. dO is normal, and random
// with tensors from files too if there is none of dO. Random values are computed when they are read, so host
// memory holds no whole tensor, unless keep() asks for it. Element i of a tensor depends only on (case, seed,
// tensor, i). Tensors from files stay in host memory. Of the case's `data`:
//   normal: N(0, 1); one in a thousand is drawn from N(0, 100) instead. These are the outliers of the
//     FlashAttention-3 accuracy test (arXiv 2407.08608, section 4.3, which adds them to the value instead).
//   heavy_tails: Student's t with three degrees of freedom, scaled to variance 1.
//   dominating_key: Q and K are N(0, 1) without outliers, except element 0 of each row: sqrt(head_dim) in Q;
//   in
//     K, 0, or kDominance in a dominating key. So a dominating key has the score kDominance + N(0, 1), other
//     keys N(0, 1). V is normal.
//   equal_rows: all rows of K are the same seeded row, of length sqrt(head_dim): a query gives every key the
//     same score. Q and V are normal. (If the rows of Q were equal too, all scores would be one number. Where
//     that happens to be near a bf16, plain low precision would be exact in all rows, and no measure.)
// Then Q is multiplied by the case's score_scale, which so multiplies the scores. Values beyond fp16 become
// its largest.
class InputTensors {
 public:
  static constexpr float kDominance = 30;

  InputTensors(const Case& work, const Inputs& inputs, std::uint64_t seed);
  // A second set for the same case: other random values, or of tensors from files V with the other sign.
  static InputTensors second(const InputTensors& first, std::uint64_t seed);
  // Those of the key probe.
  static InputTensors key_probe(const Case& work, std::uint64_t seed);

  // From now on random values stay in host memory once they are computed: stored_bytes() at most, of which
  // only the part that is read takes memory. For those who read them often. Call it before other threads
  // read.
  void keep();
  double stored_bytes() const;  // of Q, K and V in the case's dtype, and of dO if there are gradients

  // Number of elements of the tensor.
  std::int64_t size(Tensor which) const;
  // Reads elements from `first` on, widened to fp32.
  void read(Tensor which, std::int64_t first, std::span<float> to) const;
  // Reads `count` elements in the case's dtype, with `threads` threads.
  void read_stored(Tensor which, std::int64_t first, std::int64_t count, std::byte* to, int threads) const;

  // True for a row of K that dominates the softmax of the rows that see it. For each branch, each segment and
  // each K/V head it is one of the keys that the head selects there: the first if the case is causal, so that
  // every row sees it, otherwise a seeded one.
  bool dominates(std::int64_t position, std::int64_t kv_head) const;

 private:
  void compute(Tensor which, std::int64_t first, std::span<float> to) const;
  void read_dominated(Tensor which, std::int64_t first, std::span<float> to) const;
  void read_probe(Tensor which, std::int64_t first, std::span<float> to) const;
  void compute_normal(Tensor which, std::int64_t first, std::span<float> to) const;

  Case work_;
  InputSet set_ = InputSet::first;
  std::array<std::uint64_t, kTensors> keys_ = {};
  // From files, dO empty if there is none for it; null if all values are random.
  std::shared_ptr<const std::array<std::vector<float>, kTensors>> held_;
  std::array<std::unique_ptr<KeptElements>, kTensors> kept_ = {};  // null unless keep() was called
  std::vector<float> equal_row_;                                   // of K; empty unless all are equal
};

}  // namespace hilbench
