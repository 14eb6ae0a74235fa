#include "kernels/cpu/tile_lines.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "kernels/case/pattern.hpp"
#include "kernels/cpu/tile_buffers.hpp"
#include "kernels/cpu/uncovered_rows.hpp"

namespace hilbench {
namespace {

constexpr auto kLine = static_cast<std::int64_t>(kLineBytes);

// Lines of `count` stretches of `bytes` bytes, `step` bytes apart, each line once.
std::int64_t lines_of_stretches(std::int64_t first, std::int64_t count, std::int64_t step,
                                std::int64_t bytes) {
  if (count <= 0) return 0;
  if (step > kLine && kLine % bytes == 0) return count;  // of an entry, which never straddles lines
  return (first + (count - 1) * step + bytes - 1) / kLine - first / kLine + 1;
}

std::int64_t lines_of(std::int64_t first, std::int64_t bytes) {
  return lines_of_stretches(first, 1, bytes, bytes);
}

std::int64_t distinct_lines(std::vector<std::int64_t>& bytes) {
  for (std::int64_t& byte : bytes) byte /= kLine;
  std::sort(bytes.begin(), bytes.end());
  return std::unique(bytes.begin(), bytes.end()) - bytes.begin();
}

class TileLines {
 public:
  TileLines(const Case& work, const Index& index)
      : work_(work),
        index_(index),
        row_bytes_(work.head_dim * dtype_bytes(work.dtype)),
        windows_(has_windows(work)),
        merges_(work.pattern.size() > 1 && work.branch_heads == BranchHeads::all),
        collects_(merges_ && work.dtype == Dtype::bf16),
        output_bytes_(work.head_dim * (collects_ ? 4 : dtype_bytes(work.dtype))) {}

  Sectors count() {
    add_cleared();
    for (const BranchIndex& branch : index_.branches) {
      lines_before_.clear();
      for (std::size_t number = 0; number < branch.tiles.size(); ++number) {
        const IndexTile& tile = branch.tiles[number];
        const auto bytes = static_cast<std::int64_t>(sizeof(IndexTile));
        add(MemoryPath::tables, 1, lines_of(static_cast<std::int64_t>(number) * bytes, bytes));
        add_keys(branch, tile);
        if (windows_) add_masks(branch, tile);
        add_queries(branch, tile);
      }
    }
    if (collects_) add_rounded();
    return sectors_;
  }

 private:
  void add(MemoryPath path, std::int64_t requests, std::int64_t lines) {
    sectors_[path] += {requests, lines};
  }

  std::int64_t row_of_query(const BranchIndex& branch, const IndexTile& tile, std::int64_t i) const {
    const std::int64_t number = tile.query_row + i * tile.query_step;
    return branch.query_rows.empty() ? number : branch.query_rows[static_cast<std::size_t>(number)];
  }

  // A tensor's row of a head begins here.
  std::int64_t row_begin(const IndexTile& tile, std::int64_t rows, std::int64_t row, std::int64_t heads,
                         std::int64_t head, std::int64_t bytes) const {
    return ((tile.batch * rows + row) * heads + head) * bytes;
  }

  // Lines of the rows of K of the first `end` keys of the branch's lists, for the tile's head and batch
  // entry.
  std::int64_t key_lines_before(const BranchIndex& branch, const IndexTile& tile, std::int64_t end) {
    const std::int64_t phase =
        row_begin(tile, index_.kv_rows, 0, work_.kv_heads, tile.kv_head, row_bytes_) % kLine;
    std::vector<std::int64_t>& before = lines_before_[phase];
    if (before.empty()) {
      before.push_back(0);
      for (const std::int64_t slot : branch.key_slot)
        before.push_back(before.back() + lines_of(phase + slot * work_.kv_heads * row_bytes_, row_bytes_));
    }
    return before[static_cast<std::size_t>(end)];
  }

  // Rows of K and V of keys begin .. end of the branch's lists, and their slots.
  void add_key_rows(const BranchIndex& branch, const IndexTile& tile, std::int64_t begin, std::int64_t end) {
    const std::int64_t keys = end - begin;
    const std::int64_t lines =
        row_bytes_ % kLine == 0 ? keys * (row_bytes_ / kLine)
                                : key_lines_before(branch, tile, end) - key_lines_before(branch, tile, begin);
    add(MemoryPath::loads, 2 * keys, 2 * lines);
  }

  void add_keys(const BranchIndex& branch, const IndexTile& tile) {
    const std::int64_t begin = tile.key_begin, end = begin + tile.key_count;
    const auto add_table = [&](std::int64_t entries, std::int64_t lines) {
      add(MemoryPath::tables, entries, lines);
      if (!branch.key_ordinal.empty()) add(MemoryPath::tables, entries, lines);
    };
    if (!windows_) add(MemoryPath::tables, end - begin, lines_of_stretches(4 * begin, end - begin, 4, 4));
    if (windows_ || work_.mask != Mask::causal || branch.keys_by_step) {
      add_key_rows(branch, tile, begin, end);
      add_table(end - begin, lines_of_stretches(4 * begin, end - begin, 4, 4));
      return;
    }
    // Keys by slot: those that no query of the tile sees are left out.
    std::int64_t seen = 0, lines = 0, last = -1;
    for (std::int64_t key = begin; key < end; ++key) {
      if (branch.key_position[static_cast<std::size_t>(key)] > tile.last_row()) continue;
      add_key_rows(branch, tile, key, key + 1);
      ++seen;
      lines += 4 * key / kLine != last ? 1 : 0;
      last = 4 * key / kLine;
    }
    add_table(seen, lines);
  }

  // The number of the mask of each block, and the masks of its keys.
  void add_masks(const BranchIndex& branch, const IndexTile& tile) {
    const auto list = static_cast<std::size_t>(tile.query_row / kMaskedRows);
    const std::int64_t first = branch.block_begin[list];
    const std::int64_t blocks = (tile.key_count + kMaskedKeys - 1) / kMaskedKeys;
    add(MemoryPath::tables, blocks, lines_of_stretches(4 * first, blocks, 4, 4));
    for (std::int64_t block = 0; block < blocks; ++block) {
      if (branch.mask_of_block[static_cast<std::size_t>(first + block)] == kUnmasked) continue;
      const std::int64_t keys = std::min<std::int64_t>(tile.key_count - block * kMaskedKeys, kMaskedKeys);
      add(MemoryPath::tables, keys, lines_of(0, keys * static_cast<std::int64_t>(sizeof(KeyMask))));
    }
  }

  void add_queries(const BranchIndex& branch, const IndexTile& tile) {
    const std::int64_t count = tile.query_count;
    if (!branch.query_rows.empty())
      add(MemoryPath::tables, count, lines_of_stretches(4 * tile.query_row, count, 4 * tile.query_step, 4));
    std::vector<std::int64_t> slots, lse;
    std::int64_t q_lines = 0, o_lines = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t row = row_of_query(branch, tile, i);
      if (!index_.q_slots.empty()) slots.push_back(4 * row);
      const std::int64_t slot = index_.q_slots.empty() ? row : index_.q_slots[static_cast<std::size_t>(row)];
      const auto lines = [&](std::int64_t of_row, std::int64_t bytes) {
        return lines_of(row_begin(tile, index_.q_rows, of_row, work_.heads, tile.head, bytes), bytes);
      };
      q_lines += lines(slot, row_bytes_);
      o_lines += lines(row, output_bytes_);
      lse.push_back(row_begin(tile, index_.q_rows, row, work_.heads, tile.head, 4));
    }
    add(MemoryPath::tables, std::ssize(slots), distinct_lines(slots));
    add(MemoryPath::loads, count, q_lines);
    sectors_.add_output({count, o_lines}, tile.merge);
    sectors_.add_output({count, distinct_lines(lse)}, tile.merge);
  }

  void add_cleared() {
    if (windows_) return;
    UncoveredRows(work_).for_each(0, work_.batch * work_.sequence_length,
                                  [&](std::int64_t begin, std::int64_t end) {
                                    add(MemoryPath::clears, 2,
                                        lines_of(begin * output_bytes_, (end - begin) * output_bytes_) +
                                            lines_of(begin * 4, (end - begin) * 4));
                                  });
  }

  // O of several branches, collected in fp32: rows of all heads of a position at once.
  void add_rounded() {
    const std::int64_t rows = work_.batch * work_.sequence_length, elements = work_.heads * work_.head_dim;
    for (std::int64_t row = 0; row < rows; ++row) {
      add(MemoryPath::loads, 1, lines_of(row * elements * 4, elements * 4));
      add(MemoryPath::stores, 1, lines_of(row * elements * 2, elements * 2));
    }
  }

  const Case& work_;
  const Index& index_;
  std::int64_t row_bytes_;
  bool windows_, merges_, collects_;
  std::int64_t output_bytes_;  // of a row of O as tiles write it
  std::map<std::int64_t, std::vector<std::int64_t>>
      lines_before_;  // of a branch, by place of a row in a line
  Sectors sectors_;
};

}  // namespace

Sectors tile_lines(const Case& work, const Index& index) {
  return TileLines(work, index).count();
}

}  // namespace hilbench
