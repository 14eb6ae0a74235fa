// Random cases of windows on grids, and their masks by the definition (docs/definitions.md), key by key.
#pragma once

#include <set>

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
inline Case random_windows(Random& random, std::int64_t longest) {
  Case work{.batch = between(random, 1, 2),
            .heads = between(random, 1, 4),
            .head_dim = one_of<std::int64_t>(random, {16, 32, 64, 80, between(random, 16, 100)}),
            .dtype = one_of(random, {Dtype::fp32, Dtype::bf16}),
            .mask = one_of(random, {Mask::full, Mask::full, Mask::causal}),
            .device = DeviceKind::cpu,
            .edges = one_of(random, {Edges::shift, Edges::cut})};
  work.kv_heads = one_of(random, {work.heads, between(random, 1, work.heads)});
  const std::int64_t dimensions = between(random, 2, 3);
  for (std::int64_t d = 0; d < dimensions; ++d)
    work.windows.push_back(random_dimension(random, dimensions == 2 ? longest : longest / 2, work.edges));
  fill_in_grid(work);
  return work;
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
  for (std::int64_t key = 0; key < work.sequence_length; ++key) {
    bool selected = work.mask == Mask::full || key <= position;
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
