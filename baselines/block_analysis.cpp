#include "baselines/block_analysis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "baselines/derived_sectors.hpp"
#include "kernels/case/pattern.hpp"

namespace hilbench {
namespace {

std::int64_t row_bytes_of(const Case& work) {
  return work.head_dim * (work.dtype == Dtype::fp32 ? 4 : 2);
}

// Lines of one tensor that hold rows of several slots.
std::int64_t lines_of_several_slots(const Case& work, std::int64_t line_bytes) {
  const std::int64_t slot_bytes = work.kv_heads * row_bytes_of(work);
  if (slot_bytes % line_bytes == 0) return 0;
  std::int64_t lines = 0, last = -1;
  for (std::int64_t slot = 1; slot < work.batch * work.sequence_length; ++slot) {
    const std::int64_t border = slot * slot_bytes;
    if (border % line_bytes == 0 || border / line_bytes == last) continue;
    last = border / line_bytes;
    ++lines;
  }
  return lines;
}

std::vector<std::int32_t> positions_by_slot(const std::vector<std::int32_t>& slots) {
  std::vector<std::int32_t> positions(slots.size());
  for (std::size_t t = 0; t < slots.size(); ++t)
    positions[static_cast<std::size_t>(slots[t])] = static_cast<std::int32_t>(t);
  return positions;
}

// The position of each key of each list, in the sequence of the lists.
class ListedPositions {
 public:
  ListedPositions(const Index& index, const BranchIndex& branch)
      : keys_(branch.key_position.empty() ? branch.key_slot : branch.key_position) {
    if (branch.key_position.empty() && !index.k_slots.empty()) by_slot_ = positions_by_slot(index.k_slots);
  }
  std::size_t operator[](std::int64_t key) const {
    const auto number = static_cast<std::size_t>(keys_[static_cast<std::size_t>(key)]);
    return by_slot_.empty() ? number : static_cast<std::size_t>(by_slot_[number]);
  }

 private:
  std::span<const std::int32_t> keys_;
  std::vector<std::int32_t> by_slot_;
};

// A list of one branch against that of linear order. A list has no key twice.
struct ComparedList {
  bool same_keys = false;  // in any sequence
  // How many blocks before each one have other keys; one entry more than there are blocks.
  std::vector<std::int64_t> changed_before = {0};
};

// The lists of keys of one branch in two orders.
class ListPair {
 public:
  ListPair(const Index& own, const Index& linear, std::size_t branch, std::int64_t block_keys)
      : own_(own.branches[branch]),
        linear_(linear.branches[branch]),
        own_keys_(own, own_),
        linear_keys_(linear, linear_),
        block_keys_(block_keys),
        place_(static_cast<std::size_t>(own.kv_rows), -1) {}

  ComparedList compare(std::size_t list) {
    const auto [linear_begin, linear_end] = keys_of(linear_, list);
    for (std::int64_t key = linear_begin; key < linear_end; ++key) place_[linear_keys_[key]] = key;
    const auto [begin, end] = keys_of(own_, list);
    ComparedList compared{.same_keys = end - begin == linear_end - linear_begin};
    for (std::int64_t first = begin; first < end; first += block_keys_) {
      const std::int64_t last = std::min(end, first + block_keys_);
      bool equal = true;
      for (std::int64_t key = first; key < last; ++key) {
        const std::int64_t place =
            place_[own_keys_[key]] - linear_begin;  // what is left of earlier lists: below 0
        equal = equal && first - begin <= place && place < last - begin;
        compared.same_keys = compared.same_keys && place >= 0;
      }
      compared.changed_before.push_back(compared.changed_before.back() + (equal ? 0 : 1));
    }
    return compared;
  }

 private:
  static std::pair<std::int64_t, std::int64_t> keys_of(const BranchIndex& branch, std::size_t list) {
    if (list + 1 >= branch.begin.size()) return {0, 0};
    return {branch.begin[list], branch.begin[list + 1]};
  }

  const BranchIndex &own_, &linear_;
  ListedPositions own_keys_, linear_keys_;
  std::int64_t block_keys_;
  std::vector<std::int64_t> place_;  // of each position, in the lists of linear order up to this one; or -1
};

// Queries of a tile of windows, ascending.
std::vector<std::int32_t> queries_of(const BranchIndex& branch, const IndexTile& tile) {
  std::vector<std::int32_t> rows(static_cast<std::size_t>(tile.query_count));
  std::iota(rows.begin(), rows.end(), tile.query_row);
  if (branch.query_rows.empty()) return rows;
  for (std::int32_t& row : rows) row = branch.query_rows[static_cast<std::size_t>(row)];
  std::sort(rows.begin(), rows.end());
  return rows;
}

bool same_queries(const BranchIndex& a, const IndexTile& x, const BranchIndex& b, const IndexTile& y) {
  if (x.query_count != y.query_count || x.batch != y.batch || x.head != y.head || x.merge != y.merge)
    return false;
  if (a.query_rows.empty() && b.query_rows.empty())
    return x.query_row == y.query_row && x.query_step == y.query_step;
  return queries_of(a, x) == queries_of(b, y);
}

auto place_of(const IndexTile& tile) {
  return std::tuple(tile.batch, tile.head, tile.query_row);
}

bool same_place(const IndexTile& a, const IndexTile& b) {
  return place_of(a) == place_of(b) && a.keys_backwards == b.keys_backwards;
}

std::vector<IndexTile> by_place(std::vector<IndexTile> tiles) {
  std::sort(tiles.begin(), tiles.end(),
            [](const IndexTile& a, const IndexTile& b) { return place_of(a) < place_of(b); });
  return tiles;
}

void compare_branch(const Index& own, const Index& linear, std::size_t number, std::int64_t block_keys,
                    BlockAnalysis& analysis) {
  const BranchIndex &a = own.branches[number], &b = linear.branches[number];
  ListPair pair(own, linear, number, block_keys);
  std::vector<ComparedList> lists;
  for (std::size_t list = 0; list + 1 < a.begin.size(); ++list) lists.push_back(pair.compare(list));
  for (std::size_t i = 0; i < a.tiles.size(); ++i)
    analysis.moved_tiles += i < b.tiles.size() && same_place(a.tiles[i], b.tiles[i]) ? 0 : 1;
  const std::vector<IndexTile> own_tiles = by_place(a.tiles), linear_tiles = by_place(b.tiles);
  for (std::size_t i = 0; i < own_tiles.size(); ++i) {
    const IndexTile& tile = own_tiles[i];
    const auto after = std::upper_bound(a.begin.begin(), a.begin.end(), tile.key_begin);
    // Lists without keys begin where the next one does.
    const auto list = static_cast<std::size_t>(after - a.begin.begin()) - 1;
    const auto blocks = static_cast<std::size_t>((tile.key_count + block_keys - 1) / block_keys);
    ++analysis.tiles;
    analysis.blocks += static_cast<std::int64_t>(blocks);
    if (tile.key_count > 0) {
      const std::vector<std::int64_t>& changed = lists[list].changed_before;
      analysis.changed_blocks += changed[std::min(blocks, changed.size() - 1)];
    }
    const bool alike = i < linear_tiles.size() && same_queries(a, tile, b, linear_tiles[i]) &&
                       tile.key_count == linear_tiles[i].key_count &&
                       (tile.key_count == 0 || lists[list].same_keys);
    analysis.changed_tiles += alike ? 0 : 1;
  }
}

CacheView view_of(const BlockAnalysis& analysis, bool moved) {
  if (analysis.changed_tiles > 0) return CacheView::keys;
  if (analysis.changed_blocks > 0 || analysis.moved_tiles > 0) return CacheView::sequence;
  const bool as_many = analysis.own == analysis.linear;
  if (moved && analysis.shared_lines > 0) return CacheView::shared;
  if (!as_many) return CacheView::table;
  return moved ? CacheView::renamed : CacheView::same;
}

std::int64_t moved_rows(const std::vector<std::int32_t>& slots) {
  std::int64_t moved = 0;
  for (std::size_t t = 0; t < slots.size(); ++t) moved += slots[t] != static_cast<std::int32_t>(t) ? 1 : 0;
  return moved;
}

}  // namespace

std::string_view to_string(CacheView view) {
  switch (view) {
    case CacheView::same:
      return "same";
    case CacheView::renamed:
      return "renamed";
    case CacheView::table:
      return "table";
    case CacheView::shared:
      return "shared";
    case CacheView::sequence:
      return "sequence";
    case CacheView::keys:
      return "keys";
  }
  return "";
}

double BlockAnalysis::read_ratio() const {
  return static_cast<double>(own.read()) / static_cast<double>(linear.read());
}

double BlockAnalysis::most_ratio() const {
  switch (view) {
    case CacheView::same:
    case CacheView::renamed:
      return 1;
    case CacheView::table: {
      // Sectors that only one of the two reads, each let through; the others are the same lines by other
      // names.
      const auto more_of = [](const Sectors& some) {
        const std::int64_t tables = some[MemoryPath::tables].sectors;
        return std::pair(tables, some.read() - tables);
      };
      const auto [own_tables, own_rows] = more_of(own);
      const auto [linear_tables, linear_rows] = more_of(linear);
      const std::int64_t differ = std::abs(own_tables - linear_tables) + std::abs(own_rows - linear_rows);
      return 1 + static_cast<double>(differ) / least_sectors;
    }
    default:
      return static_cast<double>(std::max(own.read(), linear.read())) / least_sectors;
  }
}

std::string BlockAnalysis::sentence() const {
  const auto times = [](double ratio) {
    return ratio < 1.1 ? fmt::format("{:.2g} %", 100 * (ratio - 1)) : fmt::format("{:.3g} times", ratio);
  };
  switch (view) {
    case CacheView::same:
      return "linear order";
    case CacheView::renamed:
      return fmt::format("cannot change: all {} blocks of keys are the same, lines are renamed", blocks);
    case CacheView::table:
      return fmt::format(
          "K and V cannot change: all {} blocks of keys are the same, lines are renamed; tables and rows "
          "past lists: {:+.2g} % of the {} read",
          blocks, 100 * (read_ratio() - 1), unit.name);
    case CacheView::shared:
      return fmt::format("may change by at most {}: {} lines hold rows of several slots", times(most_ratio()),
                         shared_lines);
    case CacheView::sequence:
      return fmt::format(
          "may change by at most {}: tiles read the same keys, {} of {} blocks of keys and {} of {} tiles in "
          "another sequence",
          times(most_ratio()), changed_blocks, blocks, moved_tiles, tiles);
    case CacheView::keys:
      return fmt::format(
          "may change by at most {}: {} of {} tiles have other queries or keys; {:+.3g} % of the "
          "{} read",
          times(most_ratio()), changed_tiles, tiles, 100 * (read_ratio() - 1), unit.name);
  }
  return "";
}

KernelChoice linear_choice(KernelChoice choice) {
  choice.order = "linear";
  choice.order_param.reset();
  choice.order_box.clear();
  choice.order_chunk = 0;
  choice.order_file.clear();
  choice.order_tensors = OrderTensors::kv;
  choice.order_scope = OrderScope::memory;
  choice.key_visit = KeyVisit::position;
  choice.rows = KeyRows::automatic;
  choice.traversal = "auto";
  choice.traversal_param.reset();
  return choice;
}

void BlockAnalyser::take_linear(const Case& work, const KernelChoice& choice,
                                const Implementation& implementation, const StreamDevice& device) {
  if (kernel_ == &implementation && device_ == device && work_ == work && choice_ == choice) return;
  kernel_ = nullptr;  // until nothing has thrown
  linear_ = {};
  linear_ = streamed_index(work, choice, implementation, device);
  linear_sectors_ = implementation.stream->sectors(work, choice, linear_, device);
  device_ = device;
  work_ = work;
  choice_ = choice;
  kernel_ = &implementation;
}

BlockAnalysis BlockAnalyser::analyse(const Case& work, const KernelChoice& choice,
                                     const Implementation& implementation, const StreamDevice& device) {
  return analyse(work, choice, implementation, device, streamed_index(work, choice, implementation, device));
}

BlockAnalysis BlockAnalyser::analyse(const Case& work, const KernelChoice& choice,
                                     const Implementation& implementation, const StreamDevice& device,
                                     const Index& own) {
  const SectorStream& stream = *implementation.stream;
  take_linear(work, linear_choice(choice), implementation, device);
  BlockAnalysis analysis{.shared_lines = lines_of_several_slots(work, stream.unit.line_bytes),
                         .moved_queries = moved_rows(own.q_slots),
                         .unit = stream.unit,
                         .own = stream.sectors(work, choice, own, device),
                         .linear = linear_sectors_};
  for (std::size_t branch = 0; branch < own.branches.size(); ++branch)
    compare_branch(own, linear_, branch, stream.block_keys(work, device), analysis);
  const PatternCounts counts = count_work(work);
  const double row_units = static_cast<double>(row_bytes_of(work)) / static_cast<double>(stream.unit.bytes);
  analysis.least_sectors = (2 * counts.kv_rows + counts.covered_rows) * row_units;
  analysis.view = view_of(analysis, moved_rows(own.k_slots) > 0 || analysis.moved_queries > 0);
  return analysis;
}

std::map<std::string, Counter> block_counters(const BlockAnalysis& analysis) {
  std::map<std::string, Counter> counters;
  const auto add = [&](const char* name, std::int64_t value, const char* unit) {
    counters.emplace(name, Counter{.value = static_cast<double>(value), .unit = unit, .source = "derived"});
  };
  add("derived_blocks", analysis.blocks, "count");
  add("derived_changed_blocks", analysis.changed_blocks, "count");
  add("derived_changed_tiles", analysis.changed_tiles, "count");
  add("derived_moved_tiles", analysis.moved_tiles, "count");
  add("derived_shared_lines", analysis.shared_lines, "count");
  add("derived_read_sectors", analysis.own.read(), "sectors");
  add("derived_linear_read_sectors", analysis.linear.read(), "sectors");
  return counters;
}

}  // namespace hilbench
