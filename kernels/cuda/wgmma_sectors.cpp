#include "kernels/cuda/wgmma/wgmma_sectors.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "kernels/case/pattern.hpp"
#include "kernels/cuda/shared/output_sectors.hpp"
#include "kernels/cuda/wgmma/wgmma_tile_sizes.hpp"
#include "kernels/index/slot_stride.hpp"
#include "kernels/windows/fullest_blocks.hpp"

namespace hilbench::cuda {
namespace wgmma_stream {
namespace {

constexpr std::int64_t kGroupRows = 64, kProducerWarps = 4, kCopiedRows = 4, kWarpRows = 16, kHalfRows = 8,
                       kLanes = 32;
constexpr std::int64_t kBoxSectors = 64 * 2 / kSectorBytes;  // of a row of a box: 64 columns
constexpr std::int64_t kClearingWarps = 2;
constexpr std::int64_t kMaskSectors = kLanes * 8 / kSectorBytes;  // of a warp: 8 bytes a lane
constexpr std::int64_t kTileLoads = 3;   // of the list of tiles: 48 bytes, 16 at a time
constexpr Asked kLaunchStores = {2, 2};  // the last block sets the two counters of tiles to zero

std::int64_t block_keys(const Case& work) {
  return wgmma_block_keys(static_cast<int>(work.head_dim), has_windows(work));
}

class WgmmaSectors {
 public:
  WgmmaSectors(const Case& work, const KernelChoice& choice, const Index& index, std::int64_t multiprocessors)
      : work_(work),
        index_(index),
        output_(written_rows(work)),
        row_sectors_(work.head_dim * 2 / kSectorBytes),
        column_blocks_((work.head_dim + 63) / 64),
        keys_(block_keys(work)),
        q_slots_(query_slots(work, choice, index.q_slots)),
        rows_(choice.rows),
        aligned_(choice.tiles == KeyTiles::aligned),
        multiprocessors_(multiprocessors) {}

  Sectors count() {
    if (has_windows(work_)) {
      add_windows();
      return sectors_;
    }
    bool clear = output_.clears;
    for (const BranchIndex& branch : index_.branches) {
      const bool strided = slot_stride(branch, rows_).has_value();
      const bool merges = std::any_of(branch.tiles.begin(), branch.tiles.end(),
                                      [](const IndexTile& tile) { return tile.merge; });
      if (clear) {
        if (branch.tiles.empty() || merges)
          sectors_ += cleared_rows(work_, output_);
        else
          clear_beside(strided);
      }
      clear = false;
      if (!branch.tiles.empty()) sectors_[MemoryPath::clears] += kLaunchStores;
      for (const IndexTile& tile : branch.tiles) {
        sectors_[MemoryPath::tables] += {kTileLoads, kTileLoads};
        add_queries(tile);
        if (strided)
          add_boxes(2 * blocks_of(tile), keys_);
        else
          add_gathered_keys(branch, tile);
        add_output(tile);
      }
    }
    if (output_.merges) sectors_ += rounded_rows(work_);
    return sectors_;
  }

 private:
  std::int64_t blocks_of(const IndexTile& tile) const { return (tile.key_count + keys_ - 1) / keys_; }

  // Boxes of `rows` rows. What is past the end of a tensor or of a row arrives as zeros, and GPUs count it as
  // read (head_dim 96 on an H200: four thirds of the sectors that rows have).
  void add_boxes(std::int64_t boxes, std::int64_t rows) {
    sectors_[MemoryPath::tma] += {boxes * column_blocks_, boxes * rows * column_blocks_ * kBoxSectors};
  }

  void add_queries(const IndexTile& tile) {
    const std::int64_t groups = (tile.query_count + kGroupRows - 1) / kGroupRows;
    if (q_slots_.empty()) {
      add_boxes(groups, kGroupRows);
      return;
    }
    std::array<std::int64_t, kLanes> bytes;
    for (std::int64_t first = 0; first < groups * kGroupRows; first += kLanes) {
      for (std::int64_t lane = 0; lane < kLanes; ++lane)
        bytes[static_cast<std::size_t>(lane)] =
            4 *
            (tile.query_row + std::min<std::int64_t>(first + lane, tile.query_count - 1) * tile.query_step);
      sectors_[MemoryPath::tables] += {1, distinct_sectors(bytes, 4)};
      // The lanes of a row are a power of two.
      add_copies(kLanes, work_.head_dim <= 64 ? 8 : work_.head_dim <= 128 ? 16 : 32);
    }
  }

  // Copies of `count` rows by `copies` instructions, 16 bytes a lane; lanes past the end of a row read
  // nothing. Those past the last row repeat it, to other lines of shared memory, and so are read again.
  void add_copies(std::int64_t count, std::int64_t copies) {
    sectors_[MemoryPath::copies] += {copies, count * row_sectors_};
    sectors_.copy_instructions += copies;
  }

  void add_gathered_keys(const BranchIndex& branch, const IndexTile& tile) {
    const std::int64_t warp_rows = keys_ / kProducerWarps;
    sectors_ += sectors_of_blocks(tile.key_count, keys_, [&](std::int64_t valid) {
      Sectors block;
      for (std::int64_t first = 0; first < keys_; first += warp_rows)
        block[MemoryPath::tables] +=
            {1, table_sectors(tile.key_begin + std::min(first, valid - 1),
                              std::clamp<std::int64_t>(valid - first, 1, warp_rows))};
      return block;
    });
    // An instruction copies 128 bytes of each of its rows.
    const std::int64_t rows = 2 * keys_ * blocks_of(tile);
    add_copies(rows, rows / kCopiedRows * column_blocks_);
    // A causal mask of keys by slot reads the position of every key.
    if (work_.mask != Mask::causal || branch.keys_by_step) return;
    const std::int64_t groups = (tile.query_count + kGroupRows - 1) / kGroupRows;
    sectors_[MemoryPath::tables] +=
        alternate_reads(tile.key_begin, tile.key_begin + tile.key_count) * (4 * groups);
  }

  void add_output(const IndexTile& tile) {
    const bool by_map = !tile.merge && !output_.fp32 && work_.head_dim <= 128;
    for (std::int64_t first = 0; first < tile.query_count; first += kWarpRows) {
      const std::int64_t rows = std::min<std::int64_t>(tile.query_count - first, kWarpRows);
      const bool whole = by_map && rows == kWarpRows;
      if (whole) {
        const Asked boxes = {column_blocks_, rows * row_sectors_};
        sectors_[MemoryPath::stores] += boxes;
        sectors_.tma_stores += boxes;
      }
      for (std::int64_t half = 0; half < rows; half += kHalfRows) {
        const std::int64_t count = std::min(rows - half, kHalfRows);
        const Asked lse = {1, lse_sectors(work_, tile, first + half, count)};
        sectors_[MemoryPath::stores] += lse;
        if (whole) continue;
        const Asked row =
            output_.fp32 ? Asked{work_.head_dim / 8, count * work_.head_dim / 8} : stored_rows(count);
        sectors_[MemoryPath::stores] += row;
        if (!tile.merge) continue;
        sectors_[MemoryPath::loads] += lse;
        sectors_[MemoryPath::loads] += row;
      }
    }
  }

  // Rows of 16-bit elements by four lanes each, which store 32 elements at a time.
  Asked stored_rows(std::int64_t count) const { return {(work_.head_dim + 31) / 32, count * row_sectors_}; }

  // Windows on a grid: each tile reads a list of keys, and masks of its blocks.
  void add_windows() {
    const BranchIndex& branch = index_.branches.front();
    const std::vector<std::int64_t> fullest = fullest_blocks(branch);
    if (!branch.tiles.empty()) sectors_[MemoryPath::clears] += kLaunchStores;
    for (const IndexTile& tile : branch.tiles) {
      const std::int64_t blocks = blocks_of(tile);
      sectors_[MemoryPath::tables] += {kTileLoads, kTileLoads};
      add_boxes((tile.query_count + kGroupRows - 1) / kGroupRows, kGroupRows);
      if (aligned_) {
        add_boxes(2 * blocks, keys_);
        sectors_[MemoryPath::tables] += {blocks, blocks};
      } else {
        add_gathered_keys(branch, tile);
      }
      const auto list = static_cast<std::size_t>(tile.query_row / kMaskedRows);
      add_masks(branch, tile, list, fullest[list]);
      add_window_output(branch, tile);
    }
  }

  // Each warp of a group with rows reads the number of the mask of every block but the first, and the words
  // of every mask; those of the block that is visited last twice. Blocks of fewer keys than a mask has share
  // it, and each reads its own half of the words, which are in as many sectors as the whole.
  void add_masks(const BranchIndex& branch, const IndexTile& tile, std::size_t list, std::int64_t fullest) {
    const std::int64_t begin = branch.block_begin[list], blocks = branch.block_begin[list + 1] - begin;
    if (blocks == 0) return;
    const auto masked = [&](std::int64_t block) {
      const bool is_short = block == blocks - 1 && tile.key_count % kMaskedKeys != 0;
      return is_short || branch.mask_of_block[static_cast<std::size_t>(begin + block)] != kUnmasked;
    };
    std::int64_t last = blocks > 1 && fullest == blocks - 1 ? blocks - 2 : blocks - 1;
    if (tile.keys_backwards) last = fullest;
    std::int64_t masks = masked(last) ? 1 : 0;
    const std::int64_t visits = blocks_of(tile), parts = kMaskedKeys / keys_;
    for (std::int64_t visit = 0; visit < visits; ++visit) masks += masked(visit / parts) ? 1 : 0;
    const std::int64_t warps = (tile.query_count + kGroupRows - 1) / kGroupRows * (kGroupRows / kWarpRows);
    sectors_[MemoryPath::tables] += Asked{visits - 1 + masks, visits - 1 + kMaskSectors * masks} * warps;
  }

  void add_window_output(const BranchIndex& branch, const IndexTile& tile) {
    if (branch.query_rows.empty()) {
      add_output(tile);
      return;
    }
    const std::int64_t groups = (tile.query_count + kGroupRows - 1) / kGroupRows;
    for (std::int64_t first = 0; first < groups * kGroupRows; first += kHalfRows) {
      // Rows past the last query repeat it.
      const std::int64_t row = std::min<std::int64_t>(first, tile.query_count - 1);
      const std::int64_t rows = std::clamp<std::int64_t>(tile.query_count - first, 0, kHalfRows);
      sectors_[MemoryPath::tables] +=
          {1, table_sectors(tile.query_row + row, std::max<std::int64_t>(rows, 1))};
      if (rows == 0) continue;
      sectors_[MemoryPath::stores] += {1, lse_sectors(work_, branch, tile, first, rows)};
      sectors_[MemoryPath::stores] += stored_rows(rows);
    }
  }

  // Warps that have nothing else to do clear 32 rows (position, head) at a time.
  void clear_beside(bool strided) {
    // Warps that do nothing else look at the keys of the first tile.
    if (strided) sectors_[MemoryPath::tables] += Asked{1, 1} * (kClearingWarps * multiprocessors_);
    const std::int64_t rows = work_.batch * work_.sequence_length * work_.heads;
    std::map<std::int64_t, Asked> of_phase;
    for (std::int64_t first = 0; first < rows; first += kLanes) {
      const std::int64_t count = std::min(rows - first, kLanes);
      const std::int64_t phase = first % work_.heads + (count < kLanes ? work_.heads : 0);
      const auto [known, added] = of_phase.try_emplace(phase);
      if (added)
        for (std::int64_t member = 0; member < 3; ++member) {
          std::vector<std::int64_t> bytes;
          for (std::int64_t i = 0; i < count; ++i)
            bytes.push_back((first + i) % work_.heads * 12 + member * 4);
          known->second += {1, distinct_sectors(bytes, 4)};
        }
      sectors_[MemoryPath::tables] += known->second;
    }
    sectors_[MemoryPath::clears] += cleared_windows(work_, output_);
  }

  const Case& work_;
  const Index& index_;
  WrittenRows output_;
  std::int64_t row_sectors_, column_blocks_, keys_;
  std::vector<std::int32_t> q_slots_;
  KeyRows rows_;
  bool aligned_;
  std::int64_t multiprocessors_;
  Sectors sectors_;
};

Refusal why_not_wgmma(const Case& work, const StreamDevice& device) {
  if (device.compute_capability != 90) return Refusal("it runs on compute capability 9.0");
  if (work.dtype == Dtype::fp32) return Refusal("it reads fp16 and bf16 only");
  if (work.head_dim < 32 || work.head_dim > 256 || work.head_dim % 8 != 0)
    return Refusal("it has head_dim 32 to 256 in steps of 8");
  return why_not_whole_sectors(work.head_dim * 2);
}

constexpr SectorStream kStream = {
    // Q and O by TMA, 128 keys a block.
    .since = [](const Case& work) -> std::string_view {
      // Builds before left out what is past the end of a row.
      return work.head_dim % 64 == 0 ? "2026-11-23T22:31:37Z" : "2026-12-01T07:00:00Z";
    },
    .why_not = why_not_wgmma,
    .tile_rows = [](const Case& work, const StreamDevice&) -> std::int64_t {
      return has_windows(work) ? kMaskedRows : wgmma_tile_rows(static_cast<int>(work.head_dim));
    },
    .block_keys = [](const Case& work, const StreamDevice&) { return block_keys(work); },
    .sectors =
        [](const Case& work, const KernelChoice& choice, const Index& index, const StreamDevice& device) {
          return WgmmaSectors(work, choice, index, device.multiprocessors).count();
        }};

}  // namespace
}  // namespace wgmma_stream

const SectorStream kWgmmaStream = wgmma_stream::kStream;

}  // namespace hilbench::cuda
