// Random cases of windows, on grids and by masks of blocks, and what each query sees by the definition
// (docs/definitions.md), key by key.
#pragma once

#include <set>

#include "kernels/case/mask_blocks.hpp"
#include "kernels/case/windows.hpp"
#include "tests/kernels/attention_problem.hpp"

namespace hilbench {

// One dimension of at most `longest` positions, with every option.
inline WindowDimension random_dimension(Random& random, std::int64_t longest, Edges edges) {
  WindowDimension dimension{.extent = between(random, 1, longest),
                            .dilation = one_of<std::int64_t>(random, {1, 1, between(random, 1, 4)})};
  const std::int64_t most = dimension.extent / dimension.dilation;
  if (edges == Edges::shift && most == 0) dimension.dilation = 1;
  dimension.window = edges == Edges::shift ? between(random, 1, std::max<std::int64_t>(most, 1))
                                           : between(random, 1, dimension.extent + 3);
  if (edges == Edges::shift && most == 0) dimension.window = between(random, 1, dimension.extent);
  dimension.stride = one_of(random, {std::int64_t{1}, between(random, 1, dimension.window)});
  dimension.causal = between(random, 0, 3) == 0;
  return dimension;
}

// A grid of two dimensions of at most `longest` positions each, or three of at most half as many.
inline Case random_shape(Random& random) {
  Case work{.batch = between(random, 1, 2),
            .heads = between(random, 1, 4),
            .head_dim = one_of<std::int64_t>(random, {16, 32, 64, 80, between(random, 16, 100)}),
            .dtype = one_of(random, {Dtype::fp32, Dtype::bf16}),
            .mask = one_of(random, {Mask::full, Mask::full, Mask::causal}),
            .device = DeviceKind::cpu};
  work.kv_heads = one_of(random, {work.heads, between(random, 1, work.heads)});
  return work;
}
inline Case random_windows(Random& random, std::int64_t longest) {
  Case work = random_shape(random);
  work.edges = one_of(random, {Edges::shift, Edges::cut});
  const std::int64_t dimensions = between(random, 2, 3);
  for (std::int64_t d = 0; d < dimensions; ++d)
    work.windows.push_back(random_dimension(random, dimensions == 2 ? longest : longest / 2, work.edges));
  fill_in_windows(work);
  return work;
}

// A mask of blocks over at most `longest` positions, some of them of a grid. Blocks have any size, the last
// one is short unless it happens to fit, and some blocks of queries see nothing.
inline Case random_mask(Random& random, std::int64_t longest) {
  Case work = random_shape(random);
  if (between(random, 0, 2) == 0) {
    const std::int64_t side = between(random, 1, std::max<std::int64_t>(longest / 20, 1));
    work.windows = {{.extent = side},
                    {.extent = between(random, 1, std::max<std::int64_t>(longest / side, 1))}};
    work.sequence_length = grid_positions(work.windows);
  } else {
    work.sequence_length = between(random, 1, longest);
  }
  const std::int64_t block = one_of<std::int64_t>(random, {1, 16, 64, 100, between(random, 1, 200)});
  const std::int64_t blocks = (work.sequence_length + block - 1) / block;
  const double density = one_of(random, {0.03, 0.3, 0.9});
  BlockBits bits(blocks);
  for (std::int64_t q = 0; q < blocks; ++q) {
    if (between(random, 0, 4) == 0) continue;
    for (std::int64_t k = 0; k < blocks; ++k)
      if (static_cast<double>(between(random, 0, 999)) < 1000 * density) bits.set(q, k);
  }
  const std::int64_t some = between(random, 0, blocks - 1);
  bits.set(some, some);  // a causal mask too leaves some pair
  work.mask_blocks = mask_of_bits(std::make_shared<const BlockBits>(bits), block);
  fill_in_windows(work, Length::given);
  return work;
}

// One of the two kinds of windows.
inline Case random_windows_or_mask(Random& random, std::int64_t longest) {
  return between(random, 0, 1) == 0 ? random_windows(random, longest)
                                    : random_mask(random, longest * longest);
}

// The blocks of keys that a mask lets a query see, from the digits that describe it; empty without a mask.
inline std::vector<bool> defined_blocks(const MaskBlocks& mask, std::int64_t query) {
  static const std::string digits = "0123456789abcdef";
  std::vector<bool> row;
  if (mask.bits == nullptr) return row;
  const std::string text = mask.bits->text();
  const std::int64_t begin = query / mask.block * ((mask.blocks + 7) / 8 * 2);
  for (std::int64_t b = 0; b < mask.blocks; ++b)
    row.push_back((digits.find(text.at(static_cast<std::size_t>(begin + b / 4))) & std::size_t{8} >> b % 4) !=
                  0);
  return row;
}

// The coordinates that one dimension selects for the query at coordinate c: the text of the definition.
inline std::set<std::int64_t> defined_keys(const WindowDimension& of, Edges edges, std::int64_t c) {
  const std::int64_t n = of.extent, w = of.window, d = of.dilation, s = of.stride;
  const std::int64_t g = c % d, m = (n - g + d - 1) / d, i = c / d;
  std::set<std::int64_t> keys;
  if (of.causal) {
    const std::int64_t leader = std::min(i / s * s + s - 1, m - 1);
    for (std::int64_t j = std::max(leader - w + 1, std::int64_t{0}); j <= i; ++j) keys.insert(g + d * j);
    return keys;
  }
  const std::int64_t leader = std::min(i / s * s + s / 2, m - 1);
  std::int64_t start = leader - w / 2;
  if (edges == Edges::shift) {
    if (start > m - w) start = m - w;
    if (start < 0) start = 0;
  }
  for (std::int64_t j = start; j <= start + w - 1; ++j)
    if (j >= 0 && j < m) keys.insert(g + d * j);  // with `cut`, what exists
  return keys;
}

// Positions that the query at `position` sees: a plain loop over all keys and dimensions.
inline std::vector<std::int64_t> defined_mask(const Case& work, std::int64_t position) {
  std::vector<std::int64_t> seen;
  const std::vector<bool> row = defined_blocks(work.mask_blocks, position);
  for (std::int64_t key = 0; key < work.sequence_length; ++key) {
    bool selected = work.mask == Mask::full || key <= position;
    if (has_mask_blocks(work)) {
      if (selected && row[static_cast<std::size_t>(key / work.mask_blocks.block)]) seen.push_back(key);
      continue;
    }
    std::int64_t rest_key = key, rest_query = position;
    for (std::size_t d = work.windows.size(); selected && d-- > 0;) {
      const std::int64_t n = work.windows[d].extent;
      selected = defined_keys(work.windows[d], work.edges, rest_query % n).contains(rest_key % n);
      rest_key /= n, rest_query /= n;
    }
    if (selected) seen.push_back(key);
  }
  return seen;
}

}  // namespace hilbench
