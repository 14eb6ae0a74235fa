// How the tiles of a piece share the multiprocessors of a GPU. A piece with few tiles takes as long as the
// multiprocessor that gets most of them, whatever their mean.
#pragma once

#include <cstdint>

#include "kernels/ring/piece_work.hpp"
#include "kernels/ring/ring.hpp"

namespace hilbench {

// What executes the ranks, as far as the model knows it.
struct RingMachine {
  std::int64_t threads = 1;            // of a CPU, shared by the ranks
  std::int64_t multiprocessors = 132;  // of each GPU
  bool longest_first = false;          // tiles start by their work; else head by head
};

// Query rows of a tile on a GPU (dilated_wgmma's).
inline constexpr std::int64_t kScheduledTileRows = 128;

// What the busiest multiprocessor does, over the launches of a piece.
struct TileSchedule {
  double keys = 0;   // that its tiles walk, one tile after another
  double tiles = 0;  // how many these are
};

// Each tile starts on the first multiprocessor that is free. Exact for pieces with up to 64 tiles for each;
// beyond, the mean and half of the longest tile. `work`: piece_works() of the piece.
TileSchedule tile_schedule(const Ring& ring, std::int64_t rank, const RingStep::Source& source,
                           const PieceWork& work, const RingMachine& machine);

}  // namespace hilbench
