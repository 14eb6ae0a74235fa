// The windows of the queries of one tile: which keys some query sees, and which queries see a key. One table
// a dimension says which queries select a coordinate; the queries that see a key are the intersection of
// three entries. So the work grows with the box around the keys, not with the number of pairs.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/case/windows.hpp"
#include "kernels/index/index.hpp"

namespace hilbench {

// Coordinates of a position; grids of two dimensions have one plane.
using Coordinates = std::array<std::int32_t, kMostDimensions>;

constexpr KeyMask operator&(const KeyMask& a, const KeyMask& b) {
  return {a[0] & b[0], a[1] & b[1]};
}
constexpr KeyMask operator|(const KeyMask& a, const KeyMask& b) {
  return {a[0] | b[0], a[1] | b[1]};
}
constexpr bool any_query(const KeyMask& mask) {
  return (mask[0] | mask[1]) != 0;
}

class TileWindows {
 public:
  explicit TileWindows(const Case& work);

  // Takes the queries of a tile, at most kMaskedRows.
  void load(std::span<const Coordinates> queries);

  // All queries of the tile.
  const KeyMask& all() const { return all_; }
  // The queries that see the key there.
  KeyMask seen_by(const Coordinates& key) const;

  // Calls visit(position) for every key that some query sees, by ascending position.
  template <class Visit>
  void for_each_key(Visit visit) const;

 private:
  // If queries lie far apart, most of the box around their keys holds none: stretches of it are passed over.
  static constexpr std::int32_t kStretch = 16;
  // Along one dimension, for every coordinate from `low` to `high`.
  struct Line {
    std::vector<KeyRange> keys_of;  // what each coordinate of the grid selects
    std::int32_t low = 0, high = -1;
    std::vector<KeyMask> selected;      // queries that select the coordinate
    std::vector<KeyMask> in_stretch;    // that select any of kStretch coordinates
    std::vector<KeyMask> later, equal;  // queries behind it, and at it; only for a causal mask
    const KeyMask& at(const std::vector<KeyMask>& table, std::int32_t coordinate) const {
      return table[static_cast<std::size_t>(coordinate - low)];
    }
    bool holds(std::int32_t coordinate) const { return low <= coordinate && coordinate <= high; }
  };
  template <class Visit>
  void for_each_key_of_row(std::int32_t plane, std::int32_t row, const KeyMask& of_row, Visit visit) const;
  void load_line(std::span<const Coordinates> queries, std::size_t dimension);
  void load_later(std::int32_t first, Line& line) const;  // at_ begins at the coordinate `first`

  bool causal_ = false;
  std::array<std::int32_t, kMostDimensions> extents_ = {1, 1, 1};
  std::array<Line, kMostDimensions> lines_;
  std::vector<KeyMask> at_;  // scratch: queries at each coordinate
  KeyMask all_ = {};
};

inline KeyMask TileWindows::seen_by(const Coordinates& key) const {
  KeyMask seen = all_;
  for (std::size_t d = 0; d < kMostDimensions; ++d) {
    if (!lines_[d].holds(key[d])) return {};
    seen = seen & lines_[d].at(lines_[d].selected, key[d]);
  }
  if (!causal_) return seen;
  // Queries whose position is not before the key's: by the slowest dimension in which they differ.
  KeyMask not_before = all_;
  for (std::size_t d = kMostDimensions; d-- > 0;)
    not_before = lines_[d].at(lines_[d].later, key[d]) | (lines_[d].at(lines_[d].equal, key[d]) & not_before);
  return seen & not_before;
}

template <class Visit>
void TileWindows::for_each_key(Visit visit) const {
  const auto& [planes, rows, columns] = lines_;
  for (std::int32_t plane = planes.low; plane <= planes.high; ++plane) {
    const KeyMask& of_plane = planes.at(planes.selected, plane);
    if (!any_query(of_plane)) continue;
    for (std::int32_t row = rows.low; row <= rows.high; ++row) {
      const KeyMask of_row = of_plane & rows.at(rows.selected, row);
      if (any_query(of_row)) for_each_key_of_row(plane, row, of_row, visit);
    }
  }
}

template <class Visit>
void TileWindows::for_each_key_of_row(std::int32_t plane, std::int32_t row, const KeyMask& of_row,
                                      Visit visit) const {
  const Line& columns = lines_.back();
  const std::int32_t begin = (plane * extents_[1] + row) * extents_[2];
  std::int32_t first = columns.low;
  for (const KeyMask& in_stretch : columns.in_stretch) {
    const std::int32_t end = std::min(first + kStretch, columns.high + 1);
    if (any_query(of_row & in_stretch))
      for (std::int32_t column = first; column < end; ++column) {
        if (!any_query(of_row & columns.at(columns.selected, column))) continue;
        if (!causal_ || any_query(seen_by({plane, row, column}))) visit(begin + column);
      }
    first = end;
  }
}

}  // namespace hilbench
