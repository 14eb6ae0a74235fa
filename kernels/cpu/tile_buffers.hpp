// Workspace of one thread that computes tiles of dilated attention.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace hilbench {

constexpr std::size_t kKeyBlock = 128;  // keys gathered at once: probabilities of a panel stay in L1
constexpr std::size_t kMaxPanel = 48;   // most queries of a register tile
constexpr std::size_t kMaxLanes = 16;
constexpr std::size_t kQueryStep = 2 * kMaxLanes;  // queries are padded to this: two tile registers
constexpr std::size_t kMaxStaged = std::max(kMaxPanel, kKeyBlock / 2);  // most rows transposed together
// For fp32 values: keys that a slab of kTileRows elements has room for. With slabs of 4 KiB all elements of a
// key would fall into one set of the cache.
constexpr std::size_t kSlabKeys = kKeyBlock + 8;
constexpr std::size_t kWidthStep = 32;  // head_dim is padded to this: two tile registers
constexpr std::size_t kLineBytes = 64;

constexpr std::size_t round_up(std::size_t value, std::size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// The next `count` floats of a workspace, of which `taken` are taken; null if `memory` is, which only counts.
inline float* take_floats(float* memory, std::size_t count, std::size_t& taken) {
  float* const next = memory == nullptr ? nullptr : memory + taken;
  taken += count;
  return next;
}

// Workspace of one thread. `width` is head_dim rounded up, `queries` the queries of a tile rounded up. Panels
// of queries follow each other in q and o: the panel of query i begins at i * width.
//
// If bf16 is multiplied as pairs, two elements that are added up share a word of four bytes, kept as a float.
// Then q is [width / 2][panel], k [kKeyBlock][width / 2], v [width][kKeyBlock / 2], and the probabilities,
// which replace the scores, are [kKeyBlock / 2][panel].
struct TileBuffers {
  std::size_t width;
  std::size_t queries;
  float* rows;                   // [kMaxStaged][width], before or after transposing
  float* q;                      // panels of [width][panel]
  float* o;                      // panels of [width][panel]
  float* k;                      // [kKeyBlock][width]
  float* v;                      // [width / kTileRows][kSlabKeys][kTileRows]
  float* scores;                 // [kKeyBlock][panel], then probabilities
  float* scores_ahead;           // the same for a neighbouring panel
  float* max;                    // [queries], as in SoftmaxState
  float* sum;                    // [queries]
  float* lse;                    // [queries]: of earlier branches; later with this branch
  float* factor;                 // [queries]: factor for this branch's sums
  float* own;                    // [queries]: factor for the row in memory
  std::int32_t* query_position;  // [queries]
  std::int32_t* key_position;    // [kKeyBlock]

  TileBuffers(float* memory, std::size_t head_dim, std::size_t tile_rows)
      : width(round_up(head_dim, kWidthStep)), queries(round_up(tile_rows, kQueryStep)) {
    const auto take = [&](std::size_t count) { return take_floats(memory, count, floats); };
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
  }
  std::size_t floats = 0;  // of the workspace; with `memory` null this is all that is known
};

}  // namespace hilbench
