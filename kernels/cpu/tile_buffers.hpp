// Workspace of one thread that computes tiles of dilated attention.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace hilbench {

constexpr std::size_t kKeyBlock = 128;  // keys gathered at a time: probabilities of a panel stay in L1
constexpr std::size_t kMaxPanel = 48;   // queries of a register tile, at most
constexpr std::size_t kMaxLanes = 16;
constexpr std::size_t kQueryStep = 2 * kMaxLanes;  // of padded queries: two tile registers
constexpr std::size_t kMaxStaged = std::max(kMaxPanel, kKeyBlock / 2);  // rows that are transposed together
// Of fp32 values: keys that a slab of kTileRows elements has room for. A slab of 4 KiB would put the elements
// of a key into one set of a cache.
constexpr std::size_t kSlabKeys = kKeyBlock + 8;
constexpr std::size_t kWidthStep = 32;  // of padded head_dim: two tile registers
constexpr std::size_t kLineBytes = 64;

constexpr std::size_t round_up(std::size_t value, std::size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// Workspace of one thread. `width` is head_dim rounded up, `queries` those of a tile rounded up. Panels of
// queries follow each other in q and o: a panel that begins at query i begins at i * width.
// Where bf16 is multiplied as pairs, two that meet in a sum share a word of four bytes, kept as a float: then
// q is [width / 2][panel], k [kKeyBlock][width / 2], v [width][kKeyBlock / 2] and probabilities, which begin
// where the scores did, [kKeyBlock / 2][panel].
struct TileBuffers {
  std::size_t width;
  std::size_t queries;
  float* rows;                   // [kMaxStaged][width], on the way to or from the transposed form
  float* q;                      // panels of [width][panel]
  float* o;                      // panels of [width][panel]
  float* k;                      // [kKeyBlock][width]
  float* v;                      // [width / kTileRows][kSlabKeys][kTileRows]
  float* scores;                 // [kKeyBlock][panel], then probabilities
  float* scores_ahead;           // the same, of a neighbouring panel
  float* max;                    // [queries], as in SoftmaxState
  float* sum;                    // [queries]
  float* lse;                    // [queries]: of earlier branches, then with this one
  float* factor;                 // [queries] of this branch's sums
  float* own;                    // [queries] of the row in memory
  std::int32_t* query_position;  // [queries]
  std::int32_t* key_position;    // [kKeyBlock]

  TileBuffers(float* memory, std::size_t head_dim, std::size_t tile_rows)
      : width(round_up(head_dim, kWidthStep)), queries(round_up(tile_rows, kQueryStep)) {
    const auto take = [&](std::size_t count) { return std::exchange(memory, memory + count); };
    rows = take(kMaxStaged * width);
    q = take(queries * width);
    o = take(queries * width);
    k = take(kKeyBlock * width);
    v = take(kSlabKeys * width);
    scores = take(kKeyBlock * kMaxPanel);
    scores_ahead = take(kKeyBlock * kMaxPanel);
    max = take(queries);
    sum = take(queries);
    lse = take(queries);
    factor = take(queries);
    own = take(queries);
    query_position = reinterpret_cast<std::int32_t*>(take(queries));
    key_position = reinterpret_cast<std::int32_t*>(take(kKeyBlock));
    end = memory;
  }
  float* end;  // of the workspace
};

}  // namespace hilbench
