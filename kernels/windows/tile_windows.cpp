#include "kernels/windows/tile_windows.hpp"

#include <algorithm>

namespace hilbench {

TileWindows::TileWindows(const Case& work) : causal_(work.mask == Mask::causal) {
  const std::size_t missing = kMostDimensions - work.windows.size();
  for (std::size_t d = 0; d < kMostDimensions; ++d) {
    const WindowDimension one_plane{.extent = 1, .window = 1};
    const WindowDimension& dimension = d < missing ? one_plane : work.windows[d - missing];
    extents_[d] = static_cast<std::int32_t>(dimension.extent);
    for (std::int64_t c = 0; c < dimension.extent; ++c)
      lines_[d].keys_of.push_back(selected_keys(dimension, work.edges, c));
  }
}

void TileWindows::load(std::span<const Coordinates> queries) {
  all_ = {};
  for (std::size_t i = 0; i < queries.size(); ++i) all_[i / 64] |= std::uint64_t{1} << i % 64;
  for (std::size_t d = 0; d < kMostDimensions; ++d) load_line(queries, d);
}

void TileWindows::load_line(std::span<const Coordinates> queries, std::size_t dimension) {
  Line& line = lines_[dimension];
  std::int32_t first = extents_[dimension], last = 0;
  for (const Coordinates& query : queries) {
    first = std::min(first, query[dimension]);
    last = std::max(last, query[dimension]);
  }
  at_.assign(static_cast<std::size_t>(last - first + 1), KeyMask{});
  for (std::size_t i = 0; i < queries.size(); ++i)
    at_[static_cast<std::size_t>(queries[i][dimension] - first)][i / 64] |= std::uint64_t{1} << i % 64;
  line.low = extents_[dimension], line.high = -1;
  const auto for_each_coordinate = [&](auto visit) {
    for (std::int32_t c = first; c <= last; ++c)
      if (const KeyMask& here = at_[static_cast<std::size_t>(c - first)]; any_query(here))
        visit(line.keys_of[static_cast<std::size_t>(c)], here);
  };
  for_each_coordinate([&](const KeyRange& keys, const KeyMask&) {
    line.low = std::min(line.low, static_cast<std::int32_t>(keys.first));
    line.high = std::max(line.high, static_cast<std::int32_t>(keys.last()));
  });
  line.selected.assign(static_cast<std::size_t>(line.high - line.low + 1), KeyMask{});
  for_each_coordinate([&](const KeyRange& keys, const KeyMask& here) {
    for (std::int64_t key = keys.first; key <= keys.last(); key += keys.step) {
      KeyMask& selected = line.selected[static_cast<std::size_t>(key - line.low)];
      selected = selected | here;
    }
  });
  line.in_stretch.assign((line.selected.size() + kStretch - 1) / kStretch, KeyMask{});
  for (std::size_t i = 0; i < line.selected.size(); ++i)
    line.in_stretch[i / kStretch] = line.in_stretch[i / kStretch] | line.selected[i];
  if (causal_) load_later(first, line);
}

void TileWindows::load_later(std::int32_t first, Line& line) const {
  const auto last = first + static_cast<std::int32_t>(at_.size()) - 1;
  line.later.assign(line.selected.size(), KeyMask{});
  line.equal.assign(line.selected.size(), KeyMask{});
  KeyMask behind = {};
  for (std::int32_t c = std::max(last, line.high); c >= line.low; --c) {
    const bool queried = first <= c && c <= last;
    const KeyMask here = queried ? at_[static_cast<std::size_t>(c - first)] : KeyMask{};
    if (line.holds(c)) {
      line.later[static_cast<std::size_t>(c - line.low)] = behind;
      line.equal[static_cast<std::size_t>(c - line.low)] = here;
    }
    behind = behind | here;
  }
}

}  // namespace hilbench
