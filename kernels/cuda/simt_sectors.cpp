#include "kernels/cuda/simt/simt_sectors.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/case/pattern.hpp"
#include "kernels/cuda/shared/output_sectors.hpp"
#include "kernels/cuda/simt/simt_shapes.hpp"
#include "kernels/index/slot_stride.hpp"

namespace hilbench::cuda {
namespace simt_stream {
namespace {

constexpr std::int64_t kLanes = simt::kWarpLanes;
constexpr std::int64_t kAligned = kSectorBytes / 4;  // numbers of a table in a sector
// How often a warp reads fields of its tile, beside what the code of its loop says: the compiler keeps few of
// them in registers. Of the machine code for sm_90; a read is one sector, which the L1 mostly holds.
constexpr std::int64_t kStartReads = 9, kShortStartReads = 6, kRowReads = 4;

// The sizes of the instance that a GPU runs.
struct SimtTile {
  std::int64_t head_dim = 0, keys = 0, threads = 0, warp_rows = 0, rows = 0;
  bool two_buffers = false;
};

template <class Shape>
SimtTile sizes_of() {
  return {Shape::kHeadDim, Shape::kKeys, Shape::kThreads, Shape::kWarpRows, Shape::kRows, Shape::kTwoBuffers};
}

// Shared memory that a block may have (CUDA C++ Programming Guide, table "Technical Specifications per
// Compute Capability").
int block_bytes(int compute_capability) {
  switch (compute_capability) {
    case 80:
    case 87:
      return 163 * 1024;
    case 86:
    case 89:
    case 120:
    case 121:
      return 99 * 1024;
    default:
      return compute_capability < 80 ? 48 * 1024 : 227 * 1024;
  }
}

std::optional<SimtTile> simt_tile(const Case& work, int compute_capability) {
  const int most = block_bytes(compute_capability);
  if (work.head_dim > 128) {
    if (simt::Large256::kSharedBytes > most) return std::nullopt;
    return sizes_of<simt::Large256>();
  }
  if (work.head_dim > 64) {
    if (simt::Large128::kSharedBytes <= most) return sizes_of<simt::Large128>();
    return sizes_of<simt::Small128>();
  }
  if (simt::Large64::kSharedBytes <= most) return sizes_of<simt::Large64>();
  return sizes_of<simt::Small64>();
}

class SimtSectors {
 public:
  SimtSectors(const Case& work, const KernelChoice& choice, const Index& index, const SimtTile& tile,
              int compute_capability)
      : work_(work),
        index_(index),
        output_(written_rows(work)),
        tile_(tile),
        element_bytes_(work.dtype == Dtype::fp32 ? 4 : 2),
        row_chunks_(tile.head_dim * element_bytes_ / 16),
        used_chunks_(work.head_dim * element_bytes_ / 16),
        by_copies_(compute_capability >= 80 && work.dtype == Dtype::fp32 && tile.two_buffers),
        q_slots_(query_slots(work, choice, index.q_slots)),
        rows_(choice.rows) {}

  Sectors count() {
    if (output_.clears) sectors_ += cleared_rows(work_, output_);
    for (const BranchIndex& branch : index_.branches) {
      const bool gathered = !slot_stride(branch, rows_);
      for (const IndexTile& tile : branch.tiles) {
        if (tile.key_count > 0) add_queries(tile);
        sectors_ += sectors_of_blocks(tile.key_count, tile_.keys, [&](std::int64_t valid) {
          return block(valid, gathered ? tile.key_begin % kAligned : -1);
        });
        add_output(tile);
        add_fields(tile, branch, gathered);
      }
    }
    if (output_.merges) sectors_ += rounded_rows(work_);
    return sectors_;
  }

 private:
  // K and V of a block with `valid` keys; `number`: of the first key in its table, or -1.
  const Sectors& block(std::int64_t valid, std::int64_t number) {
    const auto [known, added] = blocks_.try_emplace({valid, number});
    Sectors& sectors = known->second;
    if (!added) return sectors;
    const MemoryPath path = by_copies_ ? MemoryPath::copies : MemoryPath::loads;
    for (std::int64_t first = 0; first < tile_.keys * row_chunks_; first += kLanes) {
      std::vector<std::int64_t> bytes, slots;
      for (std::int64_t chunk = first; chunk < first + kLanes; ++chunk) {
        const std::int64_t row = chunk / row_chunks_, column = chunk % row_chunks_;
        if (row >= valid || column >= used_chunks_) continue;
        bytes.push_back((row * row_chunks_ + column) * 16);
        if (slots.empty() || slots.back() != 4 * (number + row)) slots.push_back(4 * (number + row));
      }
      if (by_copies_) sectors.copy_instructions += 2;
      const std::int64_t twice = by_copies_ ? split_sectors(first, valid) : 0;
      if (!bytes.empty()) sectors[path] += Asked{1, distinct_sectors(bytes, 16) + twice} * 2;
      if (number >= 0 && !slots.empty())
        sectors[MemoryPath::tables] += Asked{1, distinct_sectors(slots, 4)} * 2;
    }
    return sectors;
  }

  // The sectors of a copy whose halves go to different lines of shared memory: they are fetched twice. Chunks
  // of 16 bytes from number `first` of a block on.
  std::int64_t split_sectors(std::int64_t first, std::int64_t valid) const {
    constexpr std::int64_t kLineChunks = 8;
    std::int64_t count = 0;
    for (std::int64_t chunk = first; chunk < first + kLanes; chunk += 2) {
      const std::int64_t row = chunk / row_chunks_, column = chunk % row_chunks_;
      if (row >= valid || column + 1 >= used_chunks_) continue;
      const std::int64_t to = row * (row_chunks_ + 1) + column;  // a row of floats is padded by one chunk
      count += to / kLineChunks != (to + 1) / kLineChunks ? 1 : 0;
    }
    return count;
  }

  // A lane reads along one row, or a part of it.
  void add_queries(const IndexTile& tile) {
    const std::int64_t row_threads = kLanes / tile_.warp_rows;
    std::array<std::int64_t, kLanes> bytes;
    for (std::int64_t warp_row = 0; warp_row < tile_.rows; warp_row += tile_.warp_rows) {
      const std::int64_t inside = std::clamp<std::int64_t>(tile.query_count - warp_row, 0, tile_.warp_rows);
      if (!q_slots_.empty()) {
        for (std::int64_t lane = 0; lane < kLanes; ++lane) {
          const std::int64_t row = lane % tile_.warp_rows;
          bytes[static_cast<std::size_t>(lane)] =
              4 * (tile.query_row + (row < inside ? warp_row + row : 0) * tile.query_step);
        }
        sectors_[MemoryPath::tables] += {1, distinct_sectors(bytes, 4)};
      }
      if (inside == 0) continue;
      for (std::int64_t first = 0; first < row_chunks_; first += row_threads) {
        const std::int64_t count = std::clamp<std::int64_t>(used_chunks_ - first, 0, row_threads);
        // Two neighbouring chunks are a sector.
        if (count > 0) sectors_[MemoryPath::loads] += {1, inside * ((count + 1) / 2)};
      }
    }
  }

  // Fields of the tile, as each warp reads them again.
  void add_fields(const IndexTile& tile, const BranchIndex& branch, bool gathered) {
    const bool by_table = work_.mask == Mask::causal && !branch.keys_by_step;
    const std::int64_t blocks = (tile.key_count + tile_.keys - 1) / tile_.keys;
    std::int64_t reads = 0;
    for (std::int64_t warp_row = 0; warp_row < tile_.rows; warp_row += tile_.warp_rows) {
      const bool warp_works = warp_row < tile.query_count;
      reads += (work_.dtype == Dtype::fp32 ? kStartReads : kShortStartReads) + (gathered ? 1 : 0);
      if (warp_works) reads += kRowReads * (tile_.warp_rows / simt::kRowLanes);
      if (blocks > 0) reads += (warp_works ? 4 : 2) * blocks - 1;
      if (!warp_works) continue;
      const std::int64_t last_query = tile.query_row + (warp_row + tile_.warp_rows - 1) * tile.query_step;
      for (std::int64_t first = blocks - 1; first >= 0; --first) {
        if (first * tile_.keys + tile_.keys <= tile.unmasked) break;
        reads += masked_reads(tile, branch, first * tile_.keys, last_query, by_table);
      }
    }
    sectors_[MemoryPath::tables] += {reads, reads};
  }

  // What a warp reads of its tile for the mask of one block, beyond what it reads in every block.
  std::int64_t masked_reads(const IndexTile& tile, const BranchIndex& branch, std::int64_t first_key,
                            std::int64_t last_query, bool by_table) const {
    std::int64_t reads = 0;
    if (first_key >= tile.unmasked && !by_table) {
      ++reads;
      const std::int64_t position = branch.key_position[static_cast<std::size_t>(tile.key_begin)];
      if (position + first_key * branch.key_step > last_query) return reads - 1;  // the warp skips the block
    }
    ++reads;
    for (std::int64_t key = first_key; key < first_key + tile_.keys; key += simt::kColumnLanes) {
      if (key + simt::kColumnLanes <= tile.unmasked) continue;
      ++reads;
      if (key < tile.key_count && std::max<std::int64_t>(key + simt::kColumnLanes, 0) > tile.unmasked &&
          std::max<std::int64_t>(key, tile.unmasked) < tile.key_count && !by_table)
        ++reads;
    }
    return reads;
  }

  void add_output(const IndexTile& tile) {
    const std::int64_t quads = tile_.head_dim / 32, lane_bytes = output_.fp32 ? 16 : 8;
    for (std::int64_t warp_row = 0; warp_row < tile.query_count; warp_row += tile_.warp_rows)
      for (std::int64_t i = 0; i < tile_.warp_rows / simt::kRowLanes; ++i) {
        std::int64_t rows = 0;
        std::vector<std::int64_t> lse;
        for (std::int64_t lane = 0; lane < simt::kRowLanes; ++lane) {
          const std::int64_t row = warp_row + lane * 4 + i / 4 * 4 * simt::kRowLanes + i % 4;
          if (row >= tile.query_count) continue;
          ++rows;
          lse.push_back(4 * ((tile.batch * work_.sequence_length + tile.query_row + row * tile.query_step) *
                                 work_.heads +
                             tile.head));
        }
        if (rows == 0) continue;
        const Asked of_lse = {1, distinct_sectors(lse, 4)};
        Asked of_rows;
        for (std::int64_t quad = 0; quad < quads; ++quad) {
          const std::int64_t lanes = std::clamp<std::int64_t>((work_.head_dim - quad * 32) / 4, 0, 8);
          if (lanes > 0) of_rows += {1, rows * (lanes * lane_bytes / kSectorBytes)};
        }
        sectors_.add_output(of_lse, tile.merge);
        sectors_.add_output(of_rows, tile.merge);
      }
  }

  const Case& work_;
  const Index& index_;
  WrittenRows output_;
  SimtTile tile_;
  std::int64_t element_bytes_, row_chunks_, used_chunks_;
  bool by_copies_;
  std::vector<std::int32_t> q_slots_;
  KeyRows rows_;
  std::map<std::pair<std::int64_t, std::int64_t>, Sectors> blocks_;
  Sectors sectors_;
};

Refusal why_not_simt(const Case& work, const StreamDevice& device) {
  if (device.compute_capability < 61) return Refusal("it runs from compute capability 6.1 on");
  if (has_windows(work)) return Refusal("it computes no windows");
  if (drops(dropout_of(work))) return Refusal("its reads with dropout are not derived");
  if (work.head_dim < 8 || work.head_dim > 256 || work.head_dim % 8 != 0)
    return Refusal("it has head_dim 8 to 256 in steps of 8");
  if (!simt_tile(work, device.compute_capability)) return Refusal("no tile of this head_dim fits the GPU");
  return why_not_whole_sectors(work.head_dim * (work.dtype == Dtype::fp32 ? 4 : 2));
}

constexpr SectorStream kStream = {
    .since = [](const Case&) -> std::string_view { return "2026-11-21T00:00:00Z"; },
    .why_not = why_not_simt,
    .tile_rows = [](const Case& work,
                    const StreamDevice& device) { return simt_tile(work, device.compute_capability)->rows; },
    .block_keys = [](const Case& work,
                     const StreamDevice& device) { return simt_tile(work, device.compute_capability)->keys; },
    .sectors =
        [](const Case& work, const KernelChoice& choice, const Index& index, const StreamDevice& device) {
          const SimtTile tile = *simt_tile(work, device.compute_capability);
          return SimtSectors(work, choice, index, tile, device.compute_capability).count();
        }};

}  // namespace
}  // namespace simt_stream

const SectorStream kSimtStream = simt_stream::kStream;

}  // namespace hilbench::cuda
