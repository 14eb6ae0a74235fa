// What the queries of one tile see by a mask of blocks (kernels/case/mask_blocks.hpp): the counterpart of
// TileWindows for cases with `mask`. One table says which queries see a block of keys. Positions are the last
// of the coordinates, whatever grid the case has.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kernels/case/mask_blocks.hpp"
#include "kernels/windows/tile_windows.hpp"

namespace hilbench {

class TileMask {
 public:
  explicit TileMask(const Case& work);

  // Takes the queries of a tile, at most kMaskedRows.
  void load(std::span<const Coordinates> queries);

  // All queries of the tile.
  const KeyMask& all() const { return all_; }
  // The queries that see the key there.
  KeyMask seen_by(const Coordinates& key) const {
    const KeyMask& seen = seen_[static_cast<std::uint32_t>(key.back()) / block_];
    return causal_ ? seen & not_before(key.back()) : seen;
  }

  // Calls visit(position) for every key that some query sees, by ascending position.
  template <class Visit>
  void for_each_key(Visit visit) const;

 private:
  void add_row(std::int64_t query_block, const KeyMask& queries);
  // Causal: the queries whose position is not before that of the key.
  KeyMask not_before(std::int32_t key) const;

  std::shared_ptr<const BlockBits> bits_;
  std::uint32_t block_;  // positions of a block
  std::int64_t length_;  // positions of the sequence
  bool causal_;
  std::vector<KeyMask> seen_;          // of each block of keys: queries that see it
  std::vector<std::uint64_t> listed_;  // blocks of keys that some query sees, a bit each
  // Of the tile's queries, by ascending position: the position, the number of the query, and the mask of this
  // and all later ones.
  struct Query {
    std::int32_t position = 0, number = 0;
    KeyMask from_here = {};
  };
  std::vector<Query> queries_;
  KeyMask all_ = {};
};

template <class Visit>
void TileMask::for_each_key(Visit visit) const {
  const std::int64_t end = causal_ ? std::int64_t{queries_.back().position} + 1 : length_;
  for (std::size_t w = 0; w < listed_.size(); ++w)
    for (std::uint64_t word = listed_[w]; word != 0; word &= word - 1) {
      const std::int64_t first = (static_cast<std::int64_t>(w) * 64 + __builtin_ctzll(word)) * block_;
      for (std::int64_t key = first; key < std::min(first + block_, end); ++key) {
        const auto position = static_cast<std::int32_t>(key);
        if (!causal_ || any_query(seen_by({0, 0, position}))) visit(position);
      }
    }
}

}  // namespace hilbench
