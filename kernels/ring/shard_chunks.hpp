// How a persistent ring cuts shards into chunks, and when each chunk moves.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/index/walk.hpp"
#include "kernels/ring/ring.hpp"
#include "kernels/ring/transport/transport.hpp"

namespace hilbench {

// A chunk has all rows of some K/V heads: tiles of the first heads need no more to begin. So it is short, but
// long enough for the rate of what copies it. Sizes are of K; V has as many bytes.
struct ChunkSizes {
  // Of lines, the heads of a row, which engines copy faster if they are long. Twice as long unless attention
  // is dense and full: otherwise a rank computes less for each byte of a dense shard.
  std::int64_t least_line_bytes = 1 << 10;
  std::int64_t least_bytes = 1 << 20;  // of lines in all
  std::int64_t least_bytes_of_whole_heads = 4 << 20;
};

// How a chunk lies where a shard is read and where it arrives.
enum class ChunkShape {
  lines,        // the heads of a row are neighbours: a chunk has a line of each row
  whole_heads,  // all rows of a head are neighbours: for transports without lines
};

// The same for all shards of a ring, and on all ranks.
ShardChunks shard_chunks(const Ring& ring, ChunkShape shape, const ChunkSizes& sizes = {});

// A chunk of a shard: `rows` rows, which may be none, of heads [first_head, end_head) of a batch entry.
struct ShardChunk {
  std::int64_t batch = 0, rows = 0, first_head = 0, end_head = 0;
};
ShardChunk shard_chunk(const Ring& ring, const ShardChunks& chunks, std::int64_t source, std::int64_t number);

// One exchange of messages: a chunk of what a step of the ring moves.
struct ChunkExchange {
  std::int64_t step = 0, chunk = 0;
  Transport::After after = Transport::After::stream;
};

// All exchanges of a run, the same on every rank, as tiles need them: the first chunk of all shards, then the
// second.
std::vector<ChunkExchange> chunk_exchanges(const Ring& ring, const ShardChunks& chunks);

}  // namespace hilbench
