#include "kernels/cuda/shared/output_sectors.hpp"

#include <algorithm>
#include <array>
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
  return sectors;
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

}  // namespace hilbench::cuda
