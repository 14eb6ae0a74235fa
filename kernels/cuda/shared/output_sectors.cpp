#include "kernels/cuda/shared/output_sectors.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "kernels/case/pattern.hpp"

namespace hilbench::cuda {
namespace {

constexpr std::int64_t kLanes = 32;
constexpr std::int64_t kCoverBytes = 12;  // of HeadCover: three numbers, each loaded alone
constexpr std::int64_t kClearThreads = 256, kClearRun = 16;
constexpr std::int64_t kRounded = 8;  // elements of a thread

bool leaves_rows_uncovered(const Case& work) {
  if (work.queries == Queries::dense) return false;
  for (std::int64_t head = 0; head < work.heads; ++head)
    if (work.pattern[first_branch(work, head)].dilation > 1) return true;
  return false;
}

// Rows of O that the first branch of their head does not cover, numbered as they lie: [batch, position,
// head].
class UncoveredRows {
 public:
  explicit UncoveredRows(const Case& work)
      : heads_(work.heads), sequence_(work.sequence_length), rows_(work.batch * sequence_ * heads_) {
    std::int64_t period = 1;
    for (std::int64_t head = 0; head < heads_; ++head) {
      const std::size_t first = first_branch(work, head);
      const Branch& branch = work.pattern[first];
      covers_.push_back({branch, offset_of(work, first, kv_head_of(work, head))});
      const bool even = branch.segment_length % branch.dilation == 0;
      period = std::min(std::lcm(period, even ? branch.dilation : branch.segment_length), sequence_);
    }
    period_ = sequence_ % period == 0 ? period * heads_ : rows_;
  }

  bool contains(std::int64_t row) const {
    const auto& [branch, offset] = covers_[static_cast<std::size_t>(row % heads_)];
    return row / heads_ % sequence_ % branch.segment_length % branch.dilation != offset;
  }

  // The sum of `of_part(first, count)`, the stores of up to `count` rows, over all rows. Parts at the same
  // place of the pattern, and of a sector of LSE, are alike.
  template <class OfPart>
  Asked sum(std::int64_t count, const OfPart& of_part) const {
    const auto of_rows = [&](std::int64_t begin, std::int64_t end) {
      Asked asked;
      for (; begin < end; begin += count) asked += of_part(begin, std::min(count, end - begin));
      return asked;
    };
    const std::int64_t period = std::lcm(std::lcm(period_, count), kSectorBytes / 4);
    const std::int64_t whole = rows_ / period;
    const Asked rest = of_rows(whole * period, rows_);
    if (whole == 0) return rest;
    Asked sum = of_rows(0, period) * whole;
    return sum += rest;
  }

 private:
  struct Cover {
    Branch branch;
    std::int64_t offset = 0;
  };
  std::int64_t heads_, sequence_, rows_, period_ = 0;
  std::vector<Cover> covers_;
};

// LSE of those of the rows from `first` on that are in `rows`, by one request.
Asked cleared_lse(const UncoveredRows& rows, std::int64_t first, std::int64_t count) {
  std::int64_t sectors = 0, last = -1;
  for (std::int64_t row = first; row < first + count; ++row) {
    if (!rows.contains(row) || row * 4 / kSectorBytes == last) continue;
    last = row * 4 / kSectorBytes;
    ++sectors;
  }
  return {sectors > 0 ? 1 : 0, sectors};
}

// What a warp of clear_rows() stores at one position: `columns` words of 16 bytes from word `first` of the
// position's rows on, and the LSE of rows whose first word is among them. `row`: the first of the position.
Asked cleared_words(const UncoveredRows& rows, std::int64_t row, std::int64_t row_words, std::int64_t first,
                    std::int64_t columns) {
  std::int64_t words = 0;
  for (std::int64_t word = first; word < first + columns; ++word)
    words += rows.contains(row + word / row_words) ? 1 : 0;
  const std::int64_t begin = (first + row_words - 1) / row_words,
                     end = (first + columns + row_words - 1) / row_words;
  Asked asked = {words > 0 ? 1 : 0, words * 16 / kSectorBytes};
  return asked += cleared_lse(rows, row + begin, end - begin);
}

}  // namespace

WrittenRows written_rows(const Case& work) {
  const bool merges = !has_windows(work) && work.pattern.size() > 1 && work.branch_heads == BranchHeads::all;
  return {.head_dim = work.head_dim,
          .fp32 = work.dtype == Dtype::fp32 || merges,
          .merges = merges && work.dtype != Dtype::fp32,
          .clears = !has_windows(work) && leaves_rows_uncovered(work)};
}

Sectors cleared_rows(const Case& work, const WrittenRows& written) {
  const std::int64_t words = written.head_dim * (written.fp32 ? 4 : 2) / 16, columns = work.heads * words;
  std::int64_t width = kLanes;
  while (width < kClearThreads && width < columns) width *= 2;
  const std::int64_t runs = (work.sequence_length + kClearRun - 1) / kClearRun;
  Sectors sectors;
  for (std::int64_t first = 0; first < columns; first += kLanes) {
    std::vector<std::int64_t> heads;
    for (std::int64_t column = first; column < std::min(first + kLanes, columns); ++column)
      heads.push_back(column / words * kCoverBytes);
    for (std::int64_t member = 0; member < kCoverBytes; member += 4) {
      std::vector<std::int64_t> bytes(heads);
      for (std::int64_t& byte : bytes) byte += member;
      sectors[MemoryPath::tables] += Asked{1, distinct_sectors(bytes, 4)} * runs;
    }
  }
  const std::int64_t batches = work.batch;
  for (Asked& asked : sectors.of) asked = asked * batches;
  const UncoveredRows rows(work);
  sectors[MemoryPath::clears] = rows.sum(work.heads, [&](std::int64_t row, std::int64_t) {
    Asked asked;
    for (std::int64_t first = 0; first < columns; first += kLanes)
      asked += cleared_words(rows, row, words, first, std::min(kLanes, columns - first));
    return asked;
  });
  return sectors;
}

Asked cleared_windows(const Case& work, const WrittenRows& written) {
  const std::int64_t row_bytes = written.head_dim * (written.fp32 ? 4 : 2);
  const UncoveredRows rows(work);
  return rows.sum(kLanes, [&](std::int64_t first, std::int64_t count) {
    Asked asked = cleared_lse(rows, first, count);
    for (std::int64_t begin = 0; begin < count * row_bytes; begin += kLanes * 16) {
      const std::int64_t end = std::min(begin + kLanes * 16, count * row_bytes);
      std::int64_t bytes = 0;
      for (std::int64_t row = begin / row_bytes; row * row_bytes < end; ++row)
        if (rows.contains(first + row))
          bytes += std::min(end, (row + 1) * row_bytes) - std::max(begin, row * row_bytes);
      asked += {bytes > 0 ? 1 : 0, bytes / kSectorBytes};
    }
    return asked;
  });
}

Sectors rounded_rows(const Case& work) {
  const std::int64_t threads = work.batch * work.sequence_length * work.heads * work.head_dim / kRounded;
  Sectors sectors;
  // Two loads of 16 bytes a thread, 32 bytes apart: each touches every sector of the warp's elements.
  sectors[MemoryPath::loads] = {2 * ((threads + kLanes - 1) / kLanes), 2 * threads};
  sectors[MemoryPath::stores] = {(threads + kLanes - 1) / kLanes, (threads + 1) / 2};
  return sectors;
}

std::int64_t lse_sectors(const Case& work, const IndexTile& tile, std::int64_t first, std::int64_t rows) {
  std::array<std::int64_t, kLanes> bytes;
  const std::int64_t step = std::int64_t{tile.query_step} * work.heads * 4;
  std::int64_t at =
      ((tile.batch * work.sequence_length + tile.query_row + first * tile.query_step) * work.heads +
       tile.head) *
      4;
  for (std::int64_t i = 0; i < rows; ++i, at += step) bytes[static_cast<std::size_t>(i)] = at;
  return distinct_sectors({bytes.data(), static_cast<std::size_t>(rows)}, 4);
}

std::int64_t lse_sectors(const Case& work, const BranchIndex& windows, const IndexTile& tile,
                         std::int64_t first, std::int64_t rows) {
  if (windows.query_rows.empty()) return lse_sectors(work, tile, first, rows);
  std::array<std::int64_t, kLanes> bytes;
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::int64_t row = windows.query_rows[static_cast<std::size_t>(tile.query_row + first + i)];
    bytes[static_cast<std::size_t>(i)] =
        4 * ((tile.batch * work.sequence_length + row) * work.heads + tile.head);
  }
  return distinct_sectors({bytes.data(), static_cast<std::size_t>(rows)}, 4);
}

}  // namespace hilbench::cuda
