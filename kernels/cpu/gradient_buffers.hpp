// Workspace of one thread that computes the backward pass of tiles.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/tile_buffers.hpp"

namespace hilbench {

// Keys gathered at once: probabilities and dS of a panel stay in L1 together.
constexpr std::size_t kGradientKeys = 64;
constexpr std::size_t kGradientSlabKeys = kGradientKeys + 8;  // as kSlabKeys

// `width` is head_dim rounded up, `queries` the queries of a tile rounded up. Panels of queries follow each
// other: the panel of query i begins at i * width. Rows that are multiplied as lanes are in parts of one to
// three vectors ("part"), one part of all rows after another.
//
// If bf16 is multiplied as pairs, two elements that are added up share a word of four bytes, kept as a float.
// Then q and d_o are [width / 2][panel], q_rows and d_o_rows [parts][panel / 2][part], k and v
// [kGradientKeys][width / 2], k_slabs [width][kGradientKeys / 2]; the probabilities are rounded to
// [kGradientKeys][panel / 2], and dS to d_s_rows for dK, and to [kGradientKeys / 2][panel] for dQ.
struct GradientBuffers {
  std::size_t width;
  std::size_t queries;
  float* rows;                   // [kMaxPanel][width], before or after transposing
  float* q;                      // panels of [width][panel]
  float* d_o;                    // panels of [width][panel]
  float* q_rows;                 // panels of [parts][panel][part]
  float* d_o_rows;               // panels of [parts][panel][part]
  float* d_q;                    // panels of [width][panel]
  float* k;                      // [kGradientKeys][width]
  float* k_slabs;                // [width / kTileRows][kGradientSlabKeys][kTileRows]
  float* v;                      // [kGradientKeys][width]
  float* p;                      // [kGradientKeys][panel]: scores, then probabilities
  float* d_s;                    // [kGradientKeys][panel]: dP, then dS
  float* d_s_rows;               // [kGradientKeys][panel / 2]: of pairs alone
  float* d_k;                    // [parts][kGradientKeys][part]
  float* d_v;                    // [parts][kGradientKeys][part]
  float* lse;                    // [queries], in units of log2; +infinity for a row that sees no key
  float* delta;                  // [queries]
  float* ones;                   // [kMaxPanel]
  std::int32_t* query_position;  // [queries]
  std::int32_t* key_position;    // [kGradientKeys]
  std::int32_t* key_number;      // [kGradientKeys]: in the tile's list

  GradientBuffers(float* memory, std::size_t head_dim, std::size_t tile_rows)
      : width(round_up(head_dim, kWidthStep)), queries(round_up(tile_rows, kQueryStep)) {
    const auto take = [&](std::size_t count) { return take_floats(memory, count, floats); };
    rows = take(kMaxPanel * width);
    q = take(queries * width);
    d_o = take(queries * width);
    q_rows = take(queries * width);
    d_o_rows = take(queries * width);
    d_q = take(queries * width);
    k = take(kGradientKeys * width);
    k_slabs = take(kGradientSlabKeys * width);
    v = take(kGradientKeys * width);
    p = take(kGradientKeys * kMaxPanel);
    d_s = take(kGradientKeys * kMaxPanel);
    d_s_rows = take(kGradientKeys * kMaxPanel / 2);
    d_k = take(kGradientKeys * width);
    d_v = take(kGradientKeys * width);
    lse = take(queries);
    delta = take(queries);
    ones = take(kMaxPanel);
    query_position = reinterpret_cast<std::int32_t*>(take(queries));
    key_position = reinterpret_cast<std::int32_t*>(take(kGradientKeys));
    key_number = reinterpret_cast<std::int32_t*>(take(kGradientKeys));
  }
  std::size_t floats = 0;  // of the workspace; with `memory` null this is all that is known
};

}  // namespace hilbench
