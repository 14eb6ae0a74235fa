#include "kernels/ring/shard_chunks.hpp"

#include <algorithm>

namespace hilbench {
namespace {

std::int64_t divided_up(std::int64_t x, std::int64_t by) {
  return (x + by - 1) / by;
}

}  // namespace

ShardChunks shard_chunks(const Ring& ring, ChunkShape shape, const ChunkSizes& sizes) {
  const Case& work = ring.work();
  const std::int64_t rows = std::max<std::int64_t>(1, ring.longest_sent_rows());
  const std::int64_t head_bytes = work.head_dim * dtype_bytes(work.dtype);
  ShardChunks chunks{.heads = work.kv_heads, .rows = rows};
  if (shape == ChunkShape::heads) {
    const bool dense =
        work.mask == Mask::full && std::all_of(work.pattern.begin(), work.pattern.end(),
                                               [](const Branch& branch) { return branch.dilation == 1; });
    const std::int64_t least = std::max(divided_up(sizes.least_line_bytes * (dense ? 1 : 2), head_bytes),
                                        divided_up(sizes.least_bytes, head_bytes * rows));
    chunks.heads = std::min(least, work.kv_heads);
  } else {
    const std::int64_t parts = divided_up(rows * work.kv_heads * head_bytes, sizes.row_bytes);
    chunks.rows = divided_up(rows, parts);
  }
  chunks.head_chunks = divided_up(work.kv_heads, chunks.heads);
  chunks.row_chunks = divided_up(rows, chunks.rows);
  return chunks;
}

ShardChunk shard_chunk(const Ring& ring, const ShardChunks& chunks, std::int64_t source,
                       std::int64_t number) {
  const std::int64_t rows = ring.sent_rows(source);
  const std::int64_t row_chunk = number % chunks.row_chunks;
  const std::int64_t head_chunk = number / chunks.row_chunks % chunks.head_chunks;
  const std::int64_t end = std::min(rows, (row_chunk + 1) * chunks.rows);
  return {.number = number,
          .last = end == rows ? number - row_chunk + chunks.row_chunks - 1 : number,
          .batch = number / chunks.row_chunks / chunks.head_chunks,
          .begin = std::min(rows, row_chunk * chunks.rows),
          .end = end,
          .first_head = head_chunk * chunks.heads,
          .end_head = std::min(ring.work().kv_heads, (head_chunk + 1) * chunks.heads)};
}

std::vector<ChunkExchange> chunk_exchanges(const Ring& ring, const ShardChunks& chunks) {
  const bool passes_on =
      ring.algorithm() == RingAlgorithm::ring || ring.algorithm() == RingAlgorithm::ring_packed;
  const std::int64_t count = chunks.count(ring.work().batch), steps = ring.ranks() - 1;
  std::vector<ChunkExchange> exchanges;
  const auto add = [&](std::int64_t step, std::int64_t chunk) {
    if (chunk >= 0 && chunk < count)
      exchanges.push_back(
          {step, chunk, passes_on && step > 0 ? Transport::After::arrivals : Transport::After::stream});
  };
  if (chunks.row_chunks > 1) {
    for (std::int64_t step = 0; step < steps; ++step)
      for (std::int64_t chunk = 0; chunk < count; ++chunk) add(step, chunk);
    return exchanges;
  }
  for (std::int64_t round = 0; round < count + steps; ++round)
    for (std::int64_t step = 0; step < steps; ++step) add(step, passes_on ? round - step : round);
  return exchanges;
}

}  // namespace hilbench
