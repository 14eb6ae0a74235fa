// How a persistent ring cuts shards into chunks, and when each chunk moves.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/index/walk.hpp"
#include "kernels/ring/ring.hpp"
#include "kernels/ring/transport/transport.hpp"

namespace hilbench {

enum class ChunkShape {
  heads,  // some K/V heads of all rows, which are lines: tiles of the first heads need no more to begin
  rows,   // some rows of all heads, which are contiguous
};

struct ChunkSizes {
  // heads: short, so that tiles begin early, but engines copy long lines faster. Lines are twice as long
  // unless attention is dense and full: otherwise a rank computes less for each byte of a dense shard.
  std::int64_t least_line_bytes = 1 << 10;
  std::int64_t least_bytes = 1 << 20;  // of K, and as many of V
  // rows: of K, and as many of V; long enough for NCCL's rate, short enough for several in a shard.
  std::int64_t row_bytes = 8 << 20;
};

// The same for all shards of a ring, and on all ranks.
ShardChunks shard_chunks(const Ring& ring, ChunkShape shape, const ChunkSizes& sizes = {});

// A chunk of a shard: rows [begin, end) and heads [first_head, end_head) of a batch entry. It may be empty.
struct ShardChunk {
  std::int64_t number = 0;
  // The chunks after this one, up to `last`, have none of the shard's rows: they arrive together with it.
  std::int64_t last = 0;
  std::int64_t batch = 0, begin = 0, end = 0, first_head = 0, end_head = 0;
  std::int64_t rows() const { return end - begin; }
};
ShardChunk shard_chunk(const Ring& ring, const ShardChunks& chunks, std::int64_t source, std::int64_t number);

// One exchange of messages: a chunk of what a step of the ring moves.
struct ChunkExchange {
  std::int64_t step = 0, chunk = 0;
  Transport::After after = Transport::After::stream;
};

// All exchanges of a run, the same on every rank, as tiles need them: one shard after another if chunks are
// of some rows, otherwise the first chunk of all shards, then the second.
std::vector<ChunkExchange> chunk_exchanges(const Ring& ring, const ShardChunks& chunks);

}  // namespace hilbench
