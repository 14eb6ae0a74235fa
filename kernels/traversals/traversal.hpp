// Traversals: the sequence in which the grid of query tiles is visited (README, Definitions). One
// table-driven tile list serves every kernel.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace hilbench {

struct TraversalInfo {
  std::string_view name;
  std::string_view help;
  bool has_param;  // grouped.G: so many tiles of x before the next head
};
std::span<const TraversalInfo> traversals();

struct TileVisit {
  std::int32_t x = 0;  // tile inside branch and segment: segments one after another
  std::int32_t y = 0;  // batch * heads + head
  bool keys_backwards = false;
};

// Every tile of an `columns` x `rows` grid exactly once. `cost(x, y)` is the tile's work (pairs); only
// longest_first asks for it. Throws UsageError for an unknown name or a grid of more than 2^31 tiles.
std::vector<TileVisit> traverse(std::string_view name, std::optional<std::int64_t> param,
                                std::int64_t columns, std::int64_t rows,
                                const std::function<double(std::int64_t, std::int64_t)>& cost);

}  // namespace hilbench
