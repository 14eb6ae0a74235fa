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

// Builds the index of one branch, for keys of one source or of several.
class BranchBuilder {
 public:
  BranchBuilder(const Ring& ring, std::int64_t rank, const std::vector<const PieceKeys*>& sources,
                std::int64_t branch, FirstPiece first, const PieceTiles& tiles)
      : ring_(ring),
        work_(ring.work()),
        shards_(ring.shards()),
        rank_(rank),
        sources_(sources),
        branch_(branch),
        first_(first == FirstPiece::yes),
        tile_rows_(tiles.rows),
        causal_(tiles.causal),
        streams_(streams_of(ring, static_cast<std::size_t>(branch),
                            std::any_of(sources.begin(), sources.end(),
                                        [](const PieceKeys* source) { return source->packed; }))),
        segments_(static_cast<std::size_t>(segment_count(work_, pattern()))) {}

  BranchIndex build() {
    add_all(&BranchBuilder::read_list);
    return std::move(index_);
  }

  WalkBranch build_walk() {
    add_all(&BranchBuilder::walk_lists);
    return {std::move(index_), std::move(stretches_)};
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

  // Gives a tile its keys of these lists, at a place of each source.
  using GiveKeys = void (BranchBuilder::*)(IndexTile&, std::size_t at);

  void add_all(GiveKeys give_keys) {
    const std::int64_t common =
        shards_.sharding() == Sharding::striped ? std::gcd(pattern().dilation, ring_.ranks()) : 1;
    index_.key_step = static_cast<std::int32_t>(
        std::min(pattern().dilation / common, std::max<std::int64_t>(1, shards_.count(rank_))));
    index_.begin.push_back(0);
    const std::size_t places = streams_.list.size() * segments_;
    for (const PieceKeys* const source : sources_) {
      lists_.emplace_back(places, kNone);
      for (std::size_t stream = 0; stream < streams_.list.size(); ++stream)
        if (streams_.list[stream].offset >= 0) add_lists(*source, stream);
    }
    add_tiles(give_keys);
  }

  void add_lists(const PieceKeys& source, std::size_t stream) {
    std::int64_t packed_row =
        source.packed ? packed_before(ring_, source.rank, streams_.list[stream].head_class, branch_) : 0;
    for (std::int64_t segment = 0; segment < static_cast<std::int64_t>(segments_); ++segment) {
      const std::int64_t begin = segment_begin(pattern(), segment);
      const std::int64_t end = segment_end(work_, pattern(), segment);
      if (!ring_.global_order() && !touches(shards_, source.rank, begin, end)) continue;
      const Selection of = selection(stream, segment);
      const std::int64_t row = packed_row;
      if (source.packed)
        packed_row +=
            needed_count(work_, shards_, of, source.rank, needed_end(work_, shards_, of, source.rank));
      if (touches(shards_, rank_, begin, end)) add_list(source, of, row, place(stream, segment));
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

  void add_list(const PieceKeys& source, const Selection& of, std::int64_t packed_row, std::size_t at) {
    keys_.clear();
    const std::int64_t end = seen_end(of);
    if (source.packed)
      for_each_key(ring_, of, source.rank, end,
                   [&](std::int64_t, std::int64_t position) { add_key(packed_row++, position); });
    else if (ring_.global_order())
      add_globally_ordered(source, of, end);
    else
      for_each_key(ring_, of, source.rank, end, [&](std::int64_t row, std::int64_t position) {
        add_key(source.slots.empty() ? row : source.slots[static_cast<std::size_t>(row)], position);
      });
    if (keys_.empty()) return;
    if (ring_.variant().kernel().key_visit == KeyVisit::slot) std::sort(keys_.begin(), keys_.end());
    lists_.back()[at] = static_cast<std::int64_t>(list_.size());
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

  void add_globally_ordered(const PieceKeys& source, const Selection& of, std::int64_t end) {
    const std::int64_t first = ring_.first_slot(source.rank), rows = ring_.kv_rows(source.rank);
    for (std::int64_t t = segment_begin(pattern(), of.segment) + of.offset; t < end;
         t += pattern().dilation) {
      const std::int64_t slot = source.slots.empty() ? t : source.slots[static_cast<std::size_t>(t)];
      if (slot >= first && slot < first + rows) add_key(slot - first, t);
    }
  }

  void add_key(std::int64_t slot, std::int64_t position) {
    keys_.emplace_back(static_cast<std::int32_t>(slot),
                       static_cast<std::int32_t>(shards_.rows_below(rank_, position)));
  }

  // Columns of the grid: the tiles of each stretch of each segment, enough for the stream with most queries.
  void add_tiles(GiveKeys give_keys) {
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
                                 : tile_of(stream, column.segment, column.stretch, column.tile, give_keys));
    index_.tiles = visited_tiles(grid, ring_traversal(ring_, pattern(), causal_), &BranchBuilder::pairs);
    // A piece that merges needs no tiles without keys.
    std::erase_if(index_.tiles, [](const IndexTile& tile) { return tile.merge && tile.key_count == 0; });
  }

  IndexTile tile_of(std::size_t stream, std::int64_t segment, std::int64_t stretch, std::int64_t tile,
                    GiveKeys give_keys) {
    const Stretch rows = query_rows(work_, shards_, selection(stream, segment), rank_, stretch);
    const std::int64_t first = tile * tile_rows_;
    IndexTile made;
    made.query_count = static_cast<std::int32_t>(std::clamp<std::int64_t>(rows.count - first, 0, tile_rows_));
    if (made.query_count == 0) return made;
    made.query_step = work_.queries == Queries::dense ? 1 : index_.key_step;
    made.query_row = static_cast<std::int32_t>(rows.row + first * rows.step);
    (this->*give_keys)(made, place(stream, segment));
    return made;
  }

  void read_list(IndexTile& tile, std::size_t at) {
    const KeyStretch keys = keys_of(tile, lists_.front()[at]);
    tile.key_begin = keys.key_begin;
    tile.key_count = keys.key_count;
    tile.unmasked = keys.unmasked;
  }

  void walk_lists(IndexTile& tile, std::size_t at) {
    tile.key_begin = std::ssize(stretches_);
    for (std::size_t source = 0; source < sources_.size(); ++source) {
      KeyStretch keys = keys_of(tile, lists_[source][at]);
      if (keys.key_count == 0) continue;
      keys.source = sources_[source]->number;
      stretches_.push_back(keys);
      ++tile.stretches;
      tile.key_count += keys.key_count;
      tile.unmasked += keys.unmasked;
    }
  }

  // The keys of a list that queries of the tile see.
  KeyStretch keys_of(const IndexTile& tile, std::int64_t number) {
    if (number == kNone) return {};
    const List& list = list_[static_cast<std::size_t>(number)];
    KeyStretch keys{.key_begin = list.begin, .key_count = seen(list, tile.last_row())};
    const bool all_seen = work_.mask == Mask::full || list.highest <= tile.query_row;
    keys.unmasked = list.ascends || all_seen ? seen(list, tile.query_row) : 0;
    if (keys.unmasked < keys.key_count) index_.keys_by_step = index_.keys_by_step && list.by_step;
    return keys;
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

  const Ring& ring_;
  const Case& work_;
  const Shards& shards_;
  std::int64_t rank_;
  const std::vector<const PieceKeys*> sources_;
  std::int64_t branch_;
  bool first_;
  std::int64_t tile_rows_;
  CausalTraversal causal_;
  Streams streams_;
  std::size_t segments_;
  BranchIndex index_;
  std::vector<KeyStretch> stretches_;
  std::vector<std::vector<std::int64_t>> lists_;  // [sources][streams, segments]: into list_, or kNone
  std::vector<List> list_;
  std::vector<std::pair<std::int32_t, std::int32_t>> keys_;  // slot and position, of the current list
};

}  // namespace

BranchIndex piece_branch(const Ring& ring, std::int64_t rank, const PieceKeys& source, std::int64_t branch,
                         FirstPiece first, const PieceTiles& tiles) {
  return BranchBuilder(ring, rank, {&source}, branch, first, tiles).build();
}

WalkBranch walk_branch(const Ring& ring, std::int64_t rank, const std::vector<PieceKeys>& sources,
                       std::int64_t branch, const PieceTiles& tiles) {
  std::vector<const PieceKeys*> all;
  for (const PieceKeys& source : sources) all.push_back(&source);
  return BranchBuilder(ring, rank, all, branch, FirstPiece::yes, tiles).build_walk();
}

}  // namespace hilbench
