// Dilated attention (docs/definitions.md; LongNet, arXiv 2307.02486, Eqs. 6-10), branch by branch. The tiles
// of one branch run in parallel and merge into O and LSE, which later branches read back. Windows on a grid
// are one branch whose tiles have masks of bits (kernels/windows/).
//
// q, o [batch, sequence, heads, head_dim]; k, v [batch, sequence, kv_heads, head_dim];
// lse [batch, sequence, heads]. Not handled: fp16, rings, head_dim outside 16-256. The backward pass is in
// dilated_cpu_backward.cpp.
#include "kernels/cpu/dilated_cpu.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "kernels/case/pattern.hpp"
#include "kernels/cpu/dilated_cpu_backward.hpp"
#include "kernels/cpu/dilated_tile.hpp"
#include "kernels/cpu/tile_buffers.hpp"
#include "kernels/cpu/tile_lines.hpp"
#include "kernels/cpu/tile_operands.hpp"
#include "kernels/cpu/uncovered_rows.hpp"
#include "kernels/machine/host.hpp"
#include "kernels/machine/host_memory.hpp"

namespace hilbench {
namespace {

constexpr std::int64_t kMinHeadDim = 16;
constexpr std::int64_t kMaxHeadDim = 256;
// Most queries that share one gathered block of keys, a multiple of the register tiles of 12, 24, 32 and 48
// queries. Together with their results they fill nine sixteenths of a second-level cache.
constexpr std::int64_t kMaxTileRows = 1152;
constexpr std::int64_t kUsualSecondLevel = 1 << 20;  // if nobody knows the size of that cache
constexpr std::int64_t kPanelRows = 48;
// Fewest tiles of a branch: enough for the threads to share them evenly. kMinTiles is used if the case does
// not give the number of threads.
constexpr std::int64_t kMinTilesPerThread = 8;
constexpr std::int64_t kMinTiles = 128;

std::string_view peak_unit(const Case& work) {
  return cpu_product_unit(work.dtype);
}

std::int64_t rows_of_segment(const Case& work, const Branch& branch) {
  const std::int64_t length = std::min(branch.segment_length, work.sequence_length);
  return work.queries == Queries::dense ? length : selected_count(length, 0, branch.dilation);
}

// Floats that a query keeps for each element of a row: Q and O; in the backward pass Q and dO, each also
// transposed, and dQ.
std::int64_t kept_of_query(const Case& work) {
  return work.pass == Pass::forward ? 2 : 5;
}

std::int64_t most_tile_elements(const Case& work) {
  const std::int64_t cache = data_cache_bytes(2);
  return (cache > 0 ? cache : kUsualSecondLevel) * 9 / 16 /
         (kept_of_query(work) * static_cast<std::int64_t>(sizeof(float)));
}

// Rows of a tile: many, to amortise the gathering, in equal tiles of a segment; but not more than the longest
// branch has, and fewer if a branch would have too few tiles.
std::int64_t tile_rows(const Case& work) {
  if (has_windows(work)) return kMaskedRows;
  const auto divide_up = [](std::int64_t value, std::int64_t by) { return (value + by - 1) / by; };
  const std::int64_t min_tiles = work.threads > 0 ? kMinTilesPerThread * work.threads : kMinTiles;
  const std::int64_t most = std::clamp(most_tile_elements(work) / work.head_dim / kPanelRows * kPanelRows,
                                       kPanelRows, kMaxTileRows);
  std::int64_t longest = 1;
  std::int64_t fair = most;
  for (const Branch& branch : work.pattern) {
    const std::int64_t rows = rows_of_segment(work, branch);
    const std::int64_t segments = segment_count(work, branch) * work.batch * work.heads;
    const std::int64_t tiles = std::max(divide_up(rows, most), divide_up(min_tiles, segments));
    longest = std::max(longest, rows);
    fair = std::min(fair, divide_up(divide_up(rows, tiles), kPanelRows) * kPanelRows);
  }
  return std::min(fair, longest);
}

// On any processor.
Refusal why_not_case(const Case& work) {
  if (work.dtype == Dtype::fp16) return "dilated_cpu stores fp32 or bf16, not fp16";
  if (work.ring_size > 1) return "dilated_cpu runs on one rank";
  if (work.head_dim < kMinHeadDim || work.head_dim > kMaxHeadDim)
    return fmt::format("dilated_cpu takes head_dim {} to {}, not {}", kMinHeadDim, kMaxHeadDim,
                       work.head_dim);
  if (work.sequence_length > kMostPositions)
    return "dilated_cpu numbers rows with 32 bits: sequence_length must stay below 2^31";
  return std::nullopt;
}

Refusal why_not(const Case& work, const Variant&) {
  if (work.dtype == Dtype::bf16)
    if (const Bf16Choice choice = chosen_bf16_products(); choice.against) return choice.against;
  return why_not_case(work);
}

// True if O has to be kept in fp32 until the last branch is merged: several branches with bf16 results.
bool merges_in_workspace(const Case& work) {
  return work.dtype == Dtype::bf16 && work.pattern.size() > 1 && work.branch_heads == BranchHeads::all;
}

std::int64_t output_elements(const Case& work) {
  return work.batch * work.sequence_length * work.heads * work.head_dim;
}

double workspace_bytes(const Case& work, int threads) {
  if (work.pass == Pass::backward) return backward_workspace_bytes(work, tile_rows(work), threads);
  const auto tiles = static_cast<double>(tile_workspace_floats(work.head_dim, tile_rows(work))) * threads;
  const double merged = merges_in_workspace(work) ? static_cast<double>(output_elements(work)) : 0;
  return sizeof(float) * (tiles + merged);
}

class DilatedCpu final : public Execution {
 public:
  DilatedCpu(const Case& work, int threads)
      : work_(work),
        threads_(threads),
        floats_per_thread_(tile_workspace_floats(work.head_dim, tile_rows(work))),
        uncovered_(work) {
    allocate_workspaces();
    if (merges_in_workspace(work)) merged_ = allocate_floats(output_elements(work), work.pages);
  }

  // Pieces of a ring may have more tiles than this rank's own rows would.
  void load(const Index& index) override {
    std::int64_t rows = 1;
    for (const BranchIndex& branch : index.branches)
      for (const IndexTile& tile : branch.tiles) rows = std::max<std::int64_t>(rows, tile.query_count);
    const std::int64_t floats = tile_workspace_floats(work_.head_dim, rows);
    if (floats <= floats_per_thread_) return;
    floats_per_thread_ = floats;
    allocate_workspaces();
  }
  void run(const Operands& operands, const Index& index) override;

 private:
  void allocate_workspaces() {
    workspaces_.clear();
    for (int thread = 0; thread < threads_; ++thread)
      workspaces_.push_back(allocate_floats(floats_per_thread_, work_.pages));
  }
  Tile tile_of(const Operands& operands, const Index& index, const BranchIndex& branch,
               const IndexTile& tile) const;
  void round_collected(const Operands& operands) const;
  // Where O is collected before rounding; null if tiles write to o itself.
  float* collected(const Operands& operands) const {
    return operands.o_fp32 != nullptr ? operands.o_fp32 : merged_.get();
  }
  void* output(const Operands& operands) const {
    return collected(operands) != nullptr ? collected(operands) : operands.o;
  }
  Dtype output_dtype(const Operands& operands) const {
    return collected(operands) != nullptr ? Dtype::fp32 : work_.dtype;
  }

  Case work_;
  Bf16Products bf16_products_ = chosen_bf16_products().products;
  int threads_;
  std::int64_t floats_per_thread_;
  UncoveredRows uncovered_;
  std::vector<std::shared_ptr<float[]>> workspaces_;
  std::shared_ptr<float[]> merged_;  // O of several bf16 branches, fp32
};

Tile DilatedCpu::tile_of(const Operands& operands, const Index& index, const BranchIndex& branch,
                         const IndexTile& tile) const {
  Tile made = tile_operands(work_, operands, index, branch, tile);
  const std::int64_t first = (tile.batch * index.q_rows * work_.heads + tile.head) * work_.head_dim;
  made.bf16_products = bf16_products_;
  made.o = static_cast<std::byte*>(output(operands)) + first * dtype_bytes(output_dtype(operands));
  made.o_dtype = output_dtype(operands);
  made.combine = tile.merge ? Combine::merge : Combine::store;
  return made;
}

void DilatedCpu::round_collected(const Operands& operands) const {
  const float* from = collected(operands);
  const std::int64_t row = work_.heads * work_.head_dim;
#pragma omp parallel for schedule(static) num_threads(threads_)
  for (std::int64_t t = 0; t < work_.batch * work_.sequence_length; ++t)
    round_to_bf16(from + t * row, static_cast<std::uint16_t*>(operands.o) + t * row, row);
}

void DilatedCpu::run(const Operands& operands, const Index& index) {
  uncovered_.clear(output(operands), output_dtype(operands), operands.lse, threads_);
  for (const BranchIndex& branch : index.branches) {
    const std::vector<IndexTile>& tiles = branch.tiles;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads_)
    for (std::size_t i = 0; i < tiles.size(); ++i)
      run_tile(tile_of(operands, index, branch, tiles[i]),
               workspaces_[static_cast<std::size_t>(omp_get_thread_num())].get());
  }
  if (collected(operands) != nullptr && operands.o != nullptr) round_collected(operands);
}

std::unique_ptr<Execution> prepare(const Case& work, const KernelChoice&, int threads) {
  if (work.pass == Pass::backward) return dilated_cpu_backward(work, threads);
  return std::make_unique<DilatedCpu>(work, threads);
}

nlohmann::json library() {
  return {{"instructions", vector_instructions()},
          {"bf16_products", name_of(chosen_bf16_products().products)}};
}

const SectorStream kStream = {
    .since = [](const Case&) -> std::string_view { return "2026-11-30T00:00:00Z"; },
    .unit = {.name = "lines", .bytes = kLineBytes, .line_bytes = kLineBytes},
    .why_not = [](const Case& work, const StreamDevice&) { return why_not_case(work); },
    .tile_rows = [](const Case& work, const StreamDevice&) { return tile_rows(work); },
    .block_keys = [](const Case&, const StreamDevice&) { return static_cast<std::int64_t>(kKeyBlock); },
    .sectors = [](const Case& work, const KernelChoice&, const Index& index,
                  const StreamDevice&) { return tile_lines(work, index); },
};

}  // namespace

const Implementation kDilatedCpu = {
    .name = "dilated_cpu",
    .help = "fused attention of branches and windows, Highway and OpenMP; fp32 and bf16, any order",
    .kind = ImplementationKind::kernel,
    .device = DeviceKind::cpu,
    .windows = true,
    .dropout = true,
    .peak_unit = peak_unit,
    .tile_rows = tile_rows,
    .why_not = why_not,
    .workspace_bytes = workspace_bytes,
    .prepare = prepare,
    .stream = &kStream,
    .library = library,
};

}  // namespace hilbench
