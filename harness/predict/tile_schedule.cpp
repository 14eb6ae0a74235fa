#include "harness/predict/tile_schedule.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "kernels/case/pattern.hpp"

namespace hilbench {
namespace {

constexpr std::int64_t kMostTilesEach = 64;  // that are scheduled one by one

// The ring whose rows and heads a piece has: if ranks share heads, that of one rank with all rows.
struct PieceOf {
  const Ring& ring;
  std::int64_t rank, source, first_head, heads;
};

std::int64_t last_position(const Ring& ring, std::int64_t rank, const Stretch& rows, std::int64_t end) {
  return ring.shards().position(rank, rows.row + (end - 1) * rows.step);
}

// Keys of each tile of one stream, tile after tile; nothing if there are more than `most`.
bool list_tiles(const PieceOf& piece, const Selection& stream, std::size_t most, std::vector<double>& keys) {
  const Case& work = piece.ring.work();
  const Shards& shards = piece.ring.shards();
  const Branch& branch = work.pattern[static_cast<std::size_t>(stream.branch)];
  for (std::int64_t segment = 0; segment < segment_count(work, branch); ++segment) {
    const std::int64_t begin = segment_begin(branch, segment), end = segment_end(work, branch, segment);
    if (shards.rows_below(piece.rank, end) == shards.rows_below(piece.rank, begin)) continue;
    const Selection of{stream.branch, stream.offset, segment};
    for (std::int64_t stretch = 0; stretch < shards.stretches(); ++stretch) {
      const Stretch rows = query_rows(work, shards, of, piece.rank, stretch);
      for (std::int64_t first = 0; first < rows.count; first += kScheduledTileRows) {
        const std::int64_t past = std::min(rows.count, first + kScheduledTileRows);
        const std::int64_t seen =
            work.mask == Mask::causal ? last_position(piece.ring, piece.rank, rows, past) + 1 : end;
        const std::int64_t count = needed_count(work, shards, of, piece.source, seen);
        if (count > 0) keys.push_back(static_cast<double>(count));
        if (keys.size() > most) return false;
      }
    }
  }
  return true;
}

TileSchedule schedule(std::vector<double> keys, const RingMachine& machine) {
  if (machine.longest_first) std::sort(keys.begin(), keys.end(), std::greater<>());
  using Busy = std::pair<double, double>;  // keys, tiles
  std::priority_queue<Busy, std::vector<Busy>, std::greater<>> units;
  for (std::int64_t i = 0; i < machine.multiprocessors; ++i) units.push({0, 0});
  Busy most{0, 0};
  for (const double tile : keys) {
    Busy unit = units.top();
    units.pop();
    unit.first += tile, unit.second += 1;
    most = std::max(most, unit);
    units.push(unit);
  }
  return {most.first, most.second};
}

// One launch; nothing if it has too many tiles.
std::optional<TileSchedule> schedule_branch(const PieceOf& piece, std::int64_t branch,
                                            const RingMachine& machine) {
  const Case& work = piece.ring.work();
  const auto most = static_cast<std::size_t>(kMostTilesEach * machine.multiprocessors);
  std::map<std::int64_t, std::vector<double>> of_offset;
  std::vector<double> all;
  for (std::int64_t b = 0; b < work.batch; ++b)
    for (std::int64_t head = piece.first_head; head < piece.first_head + piece.heads; ++head) {
      if (!head_runs_branch(work, head, branch)) continue;
      const std::int64_t offset = offset_of(work, static_cast<std::size_t>(branch), kv_head_of(work, head));
      const auto [known, added] = of_offset.try_emplace(offset);
      if (added && !list_tiles(piece, {branch, offset, 0}, most, known->second)) return std::nullopt;
      all.insert(all.end(), known->second.begin(), known->second.end());
      if (all.size() > most) return std::nullopt;
    }
  return schedule(std::move(all), machine);
}

}  // namespace

TileSchedule tile_schedule(const Ring& ring, std::int64_t rank, const RingStep::Source& source,
                           const PieceWork& work, const RingMachine& machine) {
  const auto units = static_cast<double>(machine.multiprocessors);
  const TileSchedule mean{.keys = work.pairs / kScheduledTileRows / units + work.tile_keys / 2,
                          .tiles = work.rows / kScheduledTileRows / units};
  if (mean.tiles > kMostTilesEach || ring.global_order()) return mean;
  const bool splits = ring.splits_heads();
  Case alone = ring.work();
  alone.ring_size = 1;
  const Ring whole(alone, {KernelChoice{.name = ring.variant().name()}});
  const std::int64_t heads = ring.piece_heads();
  const std::int64_t first = splits ? (rank * ring.head_parts() + source.head_part) * heads : 0;
  const PieceOf piece{splits ? whole : ring, splits ? 0 : rank, splits ? 0 : source.rank, first, heads};
  TileSchedule sum;
  for (std::int64_t branch = 0; branch < std::ssize(ring.work().pattern); ++branch) {
    const std::optional<TileSchedule> one = schedule_branch(piece, branch, machine);
    if (!one) return mean;
    sum.keys += one->keys;
    sum.tiles += one->tiles;
  }
  return sum;
}

}  // namespace hilbench
