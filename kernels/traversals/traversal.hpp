// Traversals: the sequence in which the grid of query tiles is visited (docs/definitions.md). A traversal
// gives a list of tiles, which every kernel follows.
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
  bool has_param;  // NAME.G, NAME.W
};
std::span<const TraversalInfo> traversals();

struct TileVisit {
  std::int32_t x = 0;  // tile inside the branch; segments follow one another
  std::int32_t y = 0;  // batch * heads + head
  bool keys_backwards = false;
};

// Every tile of a `columns` x `rows` grid exactly once. `cost(x, y)`: how long the tile takes, in any unit;
// only longest_first calls it. Throws UsageError if the name is unknown or `auto` (fastest.hpp), `param` is
// not allowed or out of range, or the grid has more than 2^31 tiles.
std::vector<TileVisit> traverse(std::string_view name, std::optional<std::int64_t> param,
                                std::int64_t columns, std::int64_t rows,
                                const std::function<double(std::int64_t, std::int64_t)>& cost);

}  // namespace hilbench
