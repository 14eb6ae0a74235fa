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
  const bool dense =
      work.mask == Mask::full && std::all_of(work.pattern.begin(), work.pattern.end(),
                                             [](const Branch& branch) { return branch.dilation == 1; });
  const std::int64_t least = shape == ChunkShape::whole_heads
                                 ? divided_up(sizes.least_bytes_of_whole_heads, head_bytes * rows)
                                 : std::max(divided_up(sizes.least_line_bytes * (dense ? 1 : 2), head_bytes),
                                            divided_up(sizes.least_bytes, head_bytes * rows));
  const std::int64_t heads = std::min(least, work.kv_heads);
  return {.heads = heads, .head_chunks = divided_up(work.kv_heads, heads)};
}

ShardChunk shard_chunk(const Ring& ring, const ShardChunks& chunks, std::int64_t source,
                       std::int64_t number) {
  const std::int64_t first = number % chunks.head_chunks * chunks.heads;
  return {.batch = number / chunks.head_chunks,
          .rows = ring.sent_rows(source),
          .first_head = first,
          .end_head = std::min(ring.work().kv_heads, first + chunks.heads)};
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
  for (std::int64_t round = 0; round < count + steps; ++round)
    for (std::int64_t step = 0; step < steps; ++step) add(step, passes_on ? round - step : round);
  return exchanges;
}

}  // namespace hilbench
