// The tiles of windows, on a grid or by a mask: runs of the slots of Q, and for each the keys that it reads,
// as slots of K in ascending sequence. Exact counts of them need no hardware.
#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "kernels/case/case.hpp"
#include "kernels/case/variant.hpp"
#include "kernels/windows/tile_mask.hpp"
#include "kernels/windows/tile_windows.hpp"

namespace hilbench {

class WindowTiles {
 public:
  // Throws UsageError as order_request and order_slots do.
  WindowTiles(const Case& work, const KernelChoice& choice);

  std::int64_t size() const;  // tiles of a head
  std::int32_t query_count(std::int64_t tile) const;

  // Row of each slot of Q; empty if Q is stored in position order.
  const std::vector<std::int32_t>& query_rows() const { return query_rows_; }
  const std::vector<std::int32_t>& k_slots() const { return k_slots_; }

  // What one thread needs to read tiles.
  struct Reader {
    explicit Reader(const WindowTiles& tiles);
    std::variant<TileWindows, TileMask> windows;
    std::vector<std::int32_t> slots;   // of the keys that the tile reads
    std::vector<std::uint64_t> taken;  // scratch: a bit for each slot
  };
  // Sets reader.slots and loads reader.windows.
  void read(std::int64_t tile, Reader& reader) const;
  // How many slots that would be; loads reader.windows only.
  std::int64_t count_keys(std::int64_t tile, Reader& reader) const;
  // Masks of the keys of reader.slots from `first` on, for one block; false if every query sees all of them.
  bool read_mask(const Reader& reader, std::size_t first, BlockMask& mask) const;

 private:
  std::span<const Coordinates> queries_of(std::int64_t tile) const;

  const Case work_;
  const KeyTiles tiles_;
  std::vector<std::int32_t> k_slots_;     // by position; empty: position order
  std::vector<std::int32_t> query_rows_;  // by slot
  std::vector<Coordinates> of_position_;  // with a mask the position alone, as the last coordinate
  std::vector<Coordinates> of_key_slot_;  // empty: those of positions
};

std::uint64_t hash_of(const BlockMask& mask);

// Of one head and batch entry.
struct TileCounts {
  double computed = 0;              // (query, key) pairs of all tiles
  std::int64_t keys = 0;            // entries of all lists
  std::int64_t blocks = 0;          // of kMaskedKeys keys of a tile's list
  std::int64_t partial_blocks = 0;  // those that need a mask
  std::int64_t masks = 0;           // distinct ones
};
TileCounts count_tiles(const WindowTiles& tiles);

// Which of both a kernel reads faster that fetches aligned blocks whole, and the keys of a list one by one.
KeyTiles faster_tiles(const TileCounts& united, const TileCounts& aligned);

}  // namespace hilbench
