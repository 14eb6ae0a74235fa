// Rows of O that the first branch of a head does not cover: O is 0 and LSE -infinity there, unless a later
// branch merges into them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/case/case.hpp"

namespace hilbench {

class UncoveredRows {
 public:
  explicit UncoveredRows(const Case& work);

  // o: [batch][sequence_length][heads] rows of head_dim elements of `o_dtype`; lse: one float for each row.
  void clear(void* o, Dtype o_dtype, float* lse, int threads) const;

  // `of_stretch(begin, end)` for everything between two covered heads, across rows (batch, position) `first`
  // to `last`: rows of O as they are numbered in memory.
  template <class OfStretch>
  void for_each(std::int64_t first, std::int64_t last, const OfStretch& of_stretch) const {
    if (!any_) return;
    std::vector<std::int64_t> covering;
    std::int64_t done = first * work_.heads;
    const auto until = [&](std::int64_t end) {
      if (done < end) of_stretch(done, end);
      done = end + 1;
    };
    for (std::int64_t row = first; row < last; ++row) {
      covering_heads(row % work_.sequence_length, covering);
      for (const std::int64_t head : covering) until(row * work_.heads + head);
    }
    until(last * work_.heads);
  }

 private:
  // Heads that cover the row at this position, ascending.
  void covering_heads(std::int64_t position, std::vector<std::int64_t>& heads) const;

  Case work_;
  // [branch][offset]: the heads that run this branch first and whose stream has this offset, ascending.
  // Offsets are below the number of KV heads.
  std::vector<std::vector<std::vector<std::int64_t>>> first_heads_;
  bool any_ = false;
};

}  // namespace hilbench
