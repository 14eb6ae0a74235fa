#include "kernels/ring/piece_branch.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "kernels/case/pattern.hpp"
#include "kernels/index/tile_grid.hpp"
#include "kernels/ring/shard_keys.hpp"

namespace hilbench {
namespace {

constexpr std::int64_t kNone = -1;

// K/V heads that select the same keys: those of one offset; in a packed shard those of one class.
struct Stream {
  std::int64_t offset = 0;
  std::int64_t head_class = 0;
};

struct Streams {
  std::vector<Stream> list;
  std::vector<std::size_t> of_head;  // [kv_heads]; any value for a head that does not run the branch
};

Streams streams_of(const Ring& ring, std::size_t branch, bool packed) {
  Streams streams;
  const HeadClasses& classes = ring.classes();
  for (const std::int32_t head_class : classes.of_head) {
    const std::int64_t offset = classes.classes[static_cast<std::size_t>(head_class)].offsets[branch];
    const auto known = std::find_if(streams.list.begin(), streams.list.end(), [&](const Stream& stream) {
      return packed ? stream.head_class == head_class : stream.offset == offset;
    });
    streams.of_head.push_back(static_cast<std::size_t>(known - streams.list.begin()));
    if (known == streams.list.end()) streams.list.push_back({offset, head_class});
  }
  return streams;
}

// True if `rank` may have rows in the segment. Cheap, since it is called for all segments of a branch.
bool touches(const Shards& shards, std::int64_t rank, std::int64_t begin, std::int64_t end) {
  return shards.rows_below(rank, end) > shards.rows_below(rank, begin);
}

// Packed rows of a class in the branches before `branch`.
std::int64_t packed_before(const Ring& ring, std::int64_t source, std::int64_t head_class,
                           std::int64_t branch) {
  const Case& work = ring.work();
  std::int64_t rows = 0;
  for (std::int64_t b = 0; b < branch; ++b) {
    const std::int64_t offset =
        ring.classes().classes[static_cast<std::size_t>(head_class)].offsets[static_cast<std::size_t>(b)];
    if (offset < 0) continue;
    for (const SharedSegment& shared : shared_segments(work, ring.shards(), b)) {
      const Selection of{b, offset, shared.segment};
      rows += shared.times *
              needed_count(work, ring.shards(), of, source, needed_end(work, ring.shards(), of, source));
    }
  }
  return rows;
}

// Builds the index of one branch of one piece.
class BranchBuilder {
 public:
  BranchBuilder(const Ring& ring, std::int64_t rank, const PieceKeys& source, std::int64_t branch,
                FirstPiece first, const PieceTiles& tiles)
      : ring_(ring),
        work_(ring.work()),
        shards_(ring.shards()),
        rank_(rank),
        source_(source),
        branch_(branch),
        first_(first == FirstPiece::yes),
        tile_rows_(tiles.rows),
        causal_(tiles.causal),
        streams_(streams_of(ring, static_cast<std::size_t>(branch), source.packed)),
        segments_(static_cast<std::size_t>(segment_count(work_, pattern()))) {}

  BranchIndex build() {
    const std::int64_t common =
        shards_.sharding() == Sharding::striped ? std::gcd(pattern().dilation, ring_.ranks()) : 1;
    index_.key_step = static_cast<std::int32_t>(
        std::min(pattern().dilation / common, std::max<std::int64_t>(1, shards_.count(rank_))));
    index_.begin.push_back(0);
    for (std::size_t stream = 0; stream < streams_.list.size(); ++stream)
      if (streams_.list[stream].offset >= 0) add_lists(stream);
    add_tiles();
    return std::move(index_);
  }

 private:
  struct List {
    std::int64_t begin = 0, count = 0;
    std::int32_t lowest = 0, highest = -1;  // of key_position
    bool ascends = true, by_step = true;
  };

  const Branch& pattern() const { return work_.pattern[static_cast<std::size_t>(branch_)]; }
  Selection selection(std::size_t stream, std::int64_t segment) const {
    return {branch_, streams_.list[stream].offset, segment};
  }
  std::size_t place(std::size_t stream, std::int64_t segment) const {
    return stream * segments_ + static_cast<std::size_t>(segment);
  }

  void add_lists(std::size_t stream) {
    lists_.resize(streams_.list.size() * segments_, kNone);
    std::int64_t packed_row =
        source_.packed ? packed_before(ring_, source_.rank, streams_.list[stream].head_class, branch_) : 0;
    for (std::int64_t segment = 0; segment < static_cast<std::int64_t>(segments_); ++segment) {
      const std::int64_t begin = segment_begin(pattern(), segment);
      const std::int64_t end = segment_end(work_, pattern(), segment);
      if (!ring_.global_order() && !touches(shards_, source_.rank, begin, end)) continue;
      const Selection of = selection(stream, segment);
      const std::int64_t row = packed_row;
      if (source_.packed)
        packed_row +=
            needed_count(work_, shards_, of, source_.rank, needed_end(work_, shards_, of, source_.rank));
      if (touches(shards_, rank_, begin, end)) add_list(of, row, place(stream, segment));
    }
  }

  // One past the last position that this rank's queries in the segment see.
  std::int64_t seen_end(const Selection& of) const {
    std::int64_t end = segment_begin(pattern(), of.segment);
    for (std::int64_t stretch = 0; stretch < shards_.stretches(); ++stretch)
      if (const Stretch rows = query_rows(work_, shards_, of, rank_, stretch); rows.count > 0)
        end = work_.mask == Mask::causal ? shards_.position(rank_, rows.last()) + 1
                                         : segment_end(work_, pattern(), of.segment);
    return end;
  }

  void add_list(const Selection& of, std::int64_t packed_row, std::size_t at) {
    keys_.clear();
    const std::int64_t end = seen_end(of);
    if (source_.packed)
      for_each_key(ring_, of, source_.rank, end,
                   [&](std::int64_t, std::int64_t position) { add_key(packed_row++, position); });
    else if (ring_.global_order())
      add_globally_ordered(of, end);
    else
      for_each_key(ring_, of, source_.rank, end, [&](std::int64_t row, std::int64_t position) {
        add_key(source_.slots.empty() ? row : source_.slots[static_cast<std::size_t>(row)], position);
      });
    if (keys_.empty()) return;
    if (ring_.variant().key_visit == KeyVisit::slot) std::sort(keys_.begin(), keys_.end());
    lists_[at] = static_cast<std::int64_t>(list_.size());
    List& list = list_.emplace_back(List{.begin = static_cast<std::int64_t>(index_.key_slot.size()),
                                         .count = static_cast<std::int64_t>(keys_.size()),
                                         .lowest = keys_.front().second,
                                         .highest = keys_.front().second});
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      const auto [slot, position] = keys_[i];
      index_.key_slot.push_back(slot);
      index_.key_position.push_back(position);
      list.lowest = std::min(list.lowest, position);
      list.highest = std::max(list.highest, position);
      if (i == 0) continue;
      list.ascends = list.ascends && keys_[i - 1].second <= position;
      list.by_step = list.by_step && keys_[i - 1].second + index_.key_step == position;
    }
    index_.begin.push_back(static_cast<std::int64_t>(index_.key_slot.size()));
  }

  void add_globally_ordered(const Selection& of, std::int64_t end) {
    const std::int64_t first = ring_.first_slot(source_.rank), rows = ring_.kv_rows(source_.rank);
    for (std::int64_t t = segment_begin(pattern(), of.segment) + of.offset; t < end;
         t += pattern().dilation) {
      const std::int64_t slot = source_.slots.empty() ? t : source_.slots[static_cast<std::size_t>(t)];
      if (slot >= first && slot < first + rows) add_key(slot - first, t);
    }
  }

  void add_key(std::int64_t slot, std::int64_t position) {
    keys_.emplace_back(static_cast<std::int32_t>(slot),
                       static_cast<std::int32_t>(shards_.rows_below(rank_, position)));
  }

  // Columns of the grid: the tiles of each stretch of each segment, enough for the stream with most queries.
  void add_tiles() {
    TileGrid grid{.rows = grid_rows(work_, branch_, streams_.of_head)};
    for (TileGrid::Row& row : grid.rows) row.merge = row.merge || !first_;
    struct Column {
      std::int64_t segment, stretch, tile;
    };
    std::vector<Column> columns;
    for (std::int64_t segment = 0; segment < static_cast<std::int64_t>(segments_); ++segment) {
      if (!touches(shards_, rank_, segment_begin(pattern(), segment), segment_end(work_, pattern(), segment)))
        continue;
      for (std::int64_t stretch = 0; stretch < shards_.stretches(); ++stretch) {
        std::int64_t rows = 0;
        for (std::size_t stream = 0; stream < streams_.list.size(); ++stream)
          if (streams_.list[stream].offset >= 0)
            rows =
                std::max(rows, query_rows(work_, shards_, selection(stream, segment), rank_, stretch).count);
        for (std::int64_t tile = 0; tile * tile_rows_ < rows; ++tile)
          columns.push_back({segment, stretch, tile});
      }
    }
    grid.columns = static_cast<std::int64_t>(columns.size());
    if (grid.rows.empty() || columns.empty()) return;
    for (std::size_t stream = 0; stream < streams_.list.size(); ++stream)
      for (const Column& column : columns)
        grid.tiles.push_back(streams_.list[stream].offset < 0
                                 ? IndexTile{}
                                 : tile_of(stream, column.segment, column.stretch, column.tile));
    index_.tiles = visited_tiles(grid, ring_traversal(ring_, pattern(), causal_), &BranchBuilder::pairs);
    // A piece that merges needs no tiles without keys.
    std::erase_if(index_.tiles, [](const IndexTile& tile) { return tile.merge && tile.key_count == 0; });
    for (const IndexTile& tile : index_.tiles)
      if (tile.unmasked < tile.key_count) index_.keys_by_step = index_.keys_by_step && cut_by_step(tile);
  }

  IndexTile tile_of(std::size_t stream, std::int64_t segment, std::int64_t stretch, std::int64_t tile) const {
    const Stretch rows = query_rows(work_, shards_, selection(stream, segment), rank_, stretch);
    const std::int64_t first = tile * tile_rows_;
    IndexTile made;
    made.query_count = static_cast<std::int32_t>(std::clamp<std::int64_t>(rows.count - first, 0, tile_rows_));
    if (made.query_count == 0) return made;
    made.query_step = work_.queries == Queries::dense ? 1 : index_.key_step;
    made.query_row = static_cast<std::int32_t>(rows.row + first * rows.step);
    if (lists_.empty() || lists_[place(stream, segment)] == kNone) return made;
    const List& list = list_[static_cast<std::size_t>(lists_[place(stream, segment)])];
    made.key_begin = list.begin;
    made.key_count = seen(list, made.last_row());
    const bool all_seen = work_.mask == Mask::full || list.highest <= made.query_row;
    made.unmasked = list.ascends || all_seen ? seen(list, made.query_row) : 0;
    return made;
  }

  // How many leading keys of a list the query in `row` may see; it sees none after them.
  std::int32_t seen(const List& list, std::int64_t row) const {
    if (work_.mask == Mask::full || list.highest <= row) return static_cast<std::int32_t>(list.count);
    if (list.lowest > row) return 0;
    if (!list.ascends) return static_cast<std::int32_t>(list.count);
    const auto begin = index_.key_position.begin() + list.begin;
    return static_cast<std::int32_t>(std::upper_bound(begin, begin + list.count, row) - begin);
  }

  // Unmasked pairs, if the edge of the mask were a straight line.
  static double pairs(const IndexTile& tile) {
    return 0.5 * tile.query_count * (static_cast<double>(tile.unmasked) + tile.key_count);
  }

  bool cut_by_step(const IndexTile& tile) const {
    const auto after = std::upper_bound(list_.begin(), list_.end(), tile.key_begin,
                                        [](std::int64_t key, const List& list) { return key < list.begin; });
    return (after - 1)->by_step;
  }

  const Ring& ring_;
  const Case& work_;
  const Shards& shards_;
  std::int64_t rank_;
  const PieceKeys& source_;
  std::int64_t branch_;
  bool first_;
  std::int64_t tile_rows_;
  CausalTraversal causal_;
  Streams streams_;
  std::size_t segments_;
  BranchIndex index_;
  std::vector<std::int64_t> lists_;  // [streams, segments]: into list_, or kNone
  std::vector<List> list_;
  std::vector<std::pair<std::int32_t, std::int32_t>> keys_;  // slot and position, of the current list
};

}  // namespace

BranchIndex piece_branch(const Ring& ring, std::int64_t rank, const PieceKeys& source, std::int64_t branch,
                         FirstPiece first, const PieceTiles& tiles) {
  return BranchBuilder(ring, rank, source, branch, first, tiles).build();
}

}  // namespace hilbench
