#include "kernels/cuda/mma/mma_sectors.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "kernels/cuda/mma/mma_tile_rows.hpp"
#include "kernels/cuda/shared/output_sectors.hpp"
#include "kernels/index/slot_stride.hpp"

namespace hilbench::cuda {
namespace mma_stream {
namespace {

constexpr std::int64_t kLanes = 32, kWarps = 4, kHalfRows = 8;
constexpr std::int64_t kAligned = kSectorBytes / 4;  // numbers of a table in a sector
// How often a warp reads fields of its tile: the compiler keeps few of them in registers. Of the machine code
// for sm_90; a read is one sector, which the L1 mostly holds. A further read comes with each store of O.
constexpr std::int64_t kStartReads = 22, kGatheredReads = 3;
// In a block with a mask; where keys are at equal steps, another for each eight rows of the warp.
constexpr std::int64_t kMaskReads = 2, kPositionTableReads = 1;
// The same of windows, where the fields are read again for each eight rows of O.
constexpr std::int64_t kWindowStartReads = 9, kWindowRowReads = 3;
constexpr std::int64_t kMaskSectors = kLanes * 8 / kSectorBytes;  // of a warp: 8 bytes a lane

constexpr std::int64_t block_keys(std::int64_t head_dim) {
  return head_dim == 256 ? 32 : 64;
}

class MmaSectors {
 public:
  MmaSectors(const Case& work, const KernelChoice& choice, const Index& index)
      : work_(work),
        index_(index),
        output_(written_rows(work)),
        tile_rows_(mma_tile_rows(static_cast<int>(work.head_dim))),
        keys_(block_keys(work.head_dim)),
        chunks_(work.head_dim * 2 / 16),
        q_slots_(query_slots(work, choice, index.q_slots)),
        rows_(choice.rows) {}

  Sectors count() {
    if (has_windows(work_)) {
      add_windows();
      return sectors_;
    }
    if (output_.clears) sectors_ += cleared_rows(work_, output_);
    for (const BranchIndex& branch : index_.branches) {
      const bool gathered = !slot_stride(branch, rows_);
      for (const IndexTile& tile : branch.tiles) {
        sectors_ += copies(tile_rows_, tile.query_count);
        if (!q_slots_.empty()) add_query_slots(tile);
        sectors_ += sectors_of_blocks(tile.key_count, keys_, [&](std::int64_t valid) {
          return block(valid, gathered ? tile.key_begin % kAligned : -1);
        });
        add_output(tile);
        add_fields(branch, tile, gathered);
      }
    }
    if (output_.merges) sectors_ += rounded_rows(work_);
    return sectors_;
  }

 private:
  // Copies of `count` rows, of which those past `valid` become zeros without a read.
  Sectors copies(std::int64_t count, std::int64_t valid) const {
    Sectors sectors;
    for (std::int64_t first = 0; first < count * chunks_; first += kLanes) {
      const std::int64_t read = std::clamp<std::int64_t>(valid * chunks_ - first, 0, kLanes);
      if (read > 0) sectors[MemoryPath::copies] += {1, (read + 1) / 2};
      ++sectors.copy_instructions;
    }
    return sectors;
  }

  // K and V of a block with `valid` keys, and their slots from number `begin` of the table on, or -1: none.
  // Slots are copied 4 bytes at a time by the first lanes.
  const Sectors& block(std::int64_t valid, std::int64_t begin) {
    const auto [known, added] = blocks_.try_emplace({valid, begin});
    Sectors& sectors = known->second;
    if (!added) return sectors;
    sectors = copies(keys_, valid) * 2;
    for (std::int64_t first = 0; begin >= 0 && first < valid; first += kLanes) {
      sectors[MemoryPath::tables] += {1, table_sectors(begin + first, std::min(valid - first, kLanes))};
      ++sectors.copy_instructions;
    }
    return sectors;
  }

  void add_query_slots(const IndexTile& tile) {
    std::vector<std::int64_t> bytes;
    for (std::int64_t first = 0; first < tile_rows_ * chunks_; first += kLanes) {
      bytes.clear();
      for (std::int64_t row = first / chunks_; row <= (first + kLanes - 1) / chunks_; ++row)
        bytes.push_back(
            4 * (tile.query_row + std::min<std::int64_t>(row, tile.query_count - 1) * tile.query_step));
      sectors_[MemoryPath::tables] += {1, distinct_sectors(bytes, 4)};
    }
  }

  // Windows on a grid: each tile reads a list of keys, and masks of its blocks.
  void add_windows() {
    const BranchIndex& branch = index_.branches.front();
    for (const IndexTile& tile : branch.tiles) {
      sectors_ += copies(tile_rows_, tile.query_count);
      sectors_ += sectors_of_blocks(
          tile.key_count, keys_, [&](std::int64_t valid) { return block(valid, tile.key_begin % kAligned); });
      add_masks(branch, tile);
      add_window_output(branch, tile);
      sectors_[MemoryPath::tables] += Asked{1, 1} * (kWarps * kWindowStartReads);
    }
  }

  // Each warp reads the number of the mask of every visit but the first, and its words of every mask.
  void add_masks(const BranchIndex& branch, const IndexTile& tile) {
    const std::int64_t begin = branch.block_begin[static_cast<std::size_t>(tile.query_row / kMaskedRows)];
    const std::int64_t visits = (tile.key_count + keys_ - 1) / keys_;
    if (visits == 0) return;
    std::int64_t masks = 0;
    for (std::int64_t visit = 0; visit < visits; ++visit) {
      const std::int64_t block = visit * keys_ / kMaskedKeys;
      // The last block of a list has a mask if it is short.
      const bool is_short = (block + 1) * kMaskedKeys > tile.key_count;
      const bool masked = branch.mask_of_block[static_cast<std::size_t>(begin + block)] != kUnmasked;
      masks += is_short || masked ? 1 : 0;
    }
    sectors_[MemoryPath::tables] += Asked{visits - 1 + masks, visits - 1 + kMaskSectors * masks} * kWarps;
  }

  void add_window_output(const BranchIndex& branch, const IndexTile& tile) {
    const std::int64_t requests = work_.head_dim / 16;
    for (std::int64_t first = 0; first < tile_rows_; first += kHalfRows) {
      sectors_[MemoryPath::tables] += {kWindowRowReads, kWindowRowReads};
      const std::int64_t rows = std::clamp<std::int64_t>(tile.query_count - first, 0, kHalfRows);
      if (!branch.query_rows.empty()) {  // rows past the last query repeat it
        const std::int64_t row = tile.query_row + std::min<std::int64_t>(first, tile.query_count - 1);
        sectors_[MemoryPath::tables] += {1, table_sectors(row, std::max<std::int64_t>(rows, 1))};
      }
      if (rows == 0) continue;
      sectors_[MemoryPath::stores] += {1, lse_sectors(work_, branch, tile, first, rows)};
      sectors_[MemoryPath::stores] += {requests, requests * rows};
    }
  }

  // Fields of the tile, as each warp reads them again.
  void add_fields(const BranchIndex& branch, const IndexTile& tile, bool gathered) {
    std::int64_t reads = kWarps * (kStartReads + (gathered ? kGatheredReads : 0));
    reads += (tile.query_count + kHalfRows - 1) / kHalfRows * (work_.head_dim / 16);
    const bool is_causal = work_.mask == Mask::causal, by_table = is_causal && !branch.keys_by_step;
    const std::int64_t in_mask = by_table    ? kMaskReads + kPositionTableReads
                                 : is_causal ? kMaskReads + tile_rows_ / (kWarps * kHalfRows)
                                             : kMaskReads;
    const std::int64_t blocks = (tile.key_count + keys_ - 1) / keys_;
    const std::int64_t unmasked = std::min<std::int64_t>(tile.unmasked, tile.key_count) / keys_;
    reads += kWarps * in_mask * (blocks - unmasked);
    sectors_[MemoryPath::tables] += {reads, reads};
    if (by_table)
      sectors_[MemoryPath::tables] +=
          alternate_reads(tile.key_begin + unmasked * keys_, tile.key_begin + tile.key_count) * kWarps;
  }

  void add_output(const IndexTile& tile) {
    for (std::int64_t first = 0; first < tile.query_count; first += kHalfRows) {
      const std::int64_t count = std::min<std::int64_t>(tile.query_count - first, kHalfRows);
      const Asked lse = {1, lse_sectors(work_, tile, first, count)};
      const std::int64_t requests = work_.head_dim / 16;
      const Asked row = {requests, requests * count * (output_.fp32 ? 2 : 1)};
      sectors_.add_output(lse, tile.merge);
      sectors_.add_output(row, tile.merge);
    }
  }

  const Case& work_;
  const Index& index_;
  WrittenRows output_;
  std::int64_t tile_rows_, keys_, chunks_;
  std::vector<std::int32_t> q_slots_;
  KeyRows rows_;
  std::map<std::pair<std::int64_t, std::int64_t>, Sectors> blocks_;
  Sectors sectors_;
};

Refusal why_not_mma(const Case& work, const StreamDevice& device) {
  if (device.compute_capability < 80) return Refusal("it runs from compute capability 8.0 on");
  if (work.dtype == Dtype::fp32) return Refusal("it reads fp16 and bf16 only");
  for (const int head_dim : {32, 64, 96, 128, 256})
    if (work.head_dim == head_dim)
      return has_windows(work) && head_dim == 256 ? Refusal("it computes windows with head_dim 32 to 128")
                                                  : std::nullopt;
  return Refusal("it has head_dim 32, 64, 96, 128 and 256");
}

constexpr SectorStream kStream = {
    // Builds of 2026-11-26 read fewer fields in masked blocks than those of 2026-11-30.
    .since = [](const Case& work) -> std::string_view {
      return work.mask == Mask::causal && !has_windows(work) ? "2026-11-30T00:00:00Z"
                                                             : "2026-11-21T00:00:00Z";
    },
    .why_not = why_not_mma,
    .tile_rows = [](const Case& work, const StreamDevice&) -> std::int64_t {
      return mma_tile_rows(static_cast<int>(work.head_dim));
    },
    .block_keys = [](const Case& work, const StreamDevice&) { return block_keys(work.head_dim); },
    .sectors = [](const Case& work, const KernelChoice& choice, const Index& index,
                  const StreamDevice&) { return MmaSectors(work, choice, index).count(); }};

}  // namespace
}  // namespace mma_stream

const SectorStream kMmaStream = mma_stream::kStream;

}  // namespace hilbench::cuda
