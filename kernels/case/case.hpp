// A case: what to compute, independent of how it is computed (docs/definitions.md).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/text/field.hpp"
#include "kernels/case/dtype.hpp"

namespace hilbench {

enum class Mask { full, causal };
enum class Queries { dilated, dense };                       // which positions of a segment are queries
enum class HeadOffset { modulo, contiguous, none, branch };  // where a head's dilated stream starts
enum class BranchHeads { all, partition };                   // which branches a head runs
enum class Pass { forward, backward, both };                 // both: as one step of a training computes them
enum class DeviceKind { automatic, cpu, cuda };
// What the random inputs are like (docs/sweeps.md): harness/measure/inputs.hpp makes them.
enum class DataKind { normal, heavy_tails, dominating_key, equal_rows };
// The pages that hold a processor's buffers; standard: whatever the system gives.
enum class PageSize { standard, of_4k, of_2m };

std::string_view to_string(Dtype dtype);
std::string_view to_string(DeviceKind device);
std::string_view to_string(PageSize pages);  // "default", "4k", "2m", as in a sweep

// One branch of a pattern: segments of `segment_length` positions, every `dilation`-th of them selected.
struct Branch {
  std::int64_t segment_length = 0;
  std::int64_t dilation = 1;
  bool operator==(const Branch&) const = default;
};

enum class Edges {
  shift,
  cut
};  // of a window at an end of the grid: moved inwards, or without what is outside

// One dimension of a grid, and of the window that each position has there (docs/definitions.md).
struct WindowDimension {
  std::int64_t extent = 0;    // positions of the grid
  std::int64_t window = 0;    // keys
  std::int64_t dilation = 1;  // distance of neighbouring keys
  std::int64_t stride = 1;    // neighbouring queries that share a window
  bool causal = false;        // no key after the query
  bool operator==(const WindowDimension&) const = default;
};

class BlockBits;  // kernels/case/block_bits.hpp

// Which blocks of keys the queries of each block see (kernels/case/mask_blocks.hpp), in the place of windows.
struct MaskBlocks {
  std::int64_t block = 0;                      // positions of a block; 0: no mask
  std::int64_t blocks = 0;                     // along each side
  std::uint64_t hash = 0;                      // of the bits
  std::shared_ptr<const BlockBits> bits = {};  // null in a record that was read: it holds the hash alone
  bool operator==(const MaskBlocks& other) const {
    return block == other.block && blocks == other.blocks && hash == other.hash;
  }
};

// The pattern is one of branches, or one of windows: on a grid, or by a mask, which may have a grid too. With
// windows, `pattern` is the branch that they restrict: the whole sequence, {sequence_length, 1}.
struct Case {
  std::int64_t sequence_length = 4096;
  std::vector<Branch> pattern = {{2048, 1}};
  std::int64_t batch = 1;
  std::int64_t heads = 8;
  std::int64_t kv_heads = 0;  // 0: the same as `heads`; the cases of a sweep never have 0
  std::int64_t head_dim = 64;
  Dtype dtype = Dtype::fp32;
  bool dtype_by_device = false;  // `dtype: auto`: the plan sets dtype; no plan or record holds it
  Mask mask = Mask::full;
  Queries queries = Queries::dilated;
  HeadOffset head_offset = HeadOffset::modulo;
  BranchHeads branch_heads = BranchHeads::all;
  Pass pass = Pass::forward;
  std::int64_t ring_size = 1;
  DeviceKind device = DeviceKind::automatic;  // a plan holds cpu or cuda only
  std::int64_t threads = 0;                   // CPU threads; 0: OMP_NUM_THREADS if set, else all cores
  double score_scale = 1;                     // factor of Q; about the standard deviation of the scores
  DataKind data = DataKind::normal;
  PageSize pages = PageSize::standard;
  std::vector<WindowDimension> windows =
      {};                      // of each dimension of the grid, the slowest first; may be empty
  Edges edges = Edges::shift;  // of windows on a grid
  MaskBlocks mask_blocks = {};
  double dropout = 0;             // share of the pairs that are dropped, in steps of 1/256
  std::int64_t dropout_seed = 0;  // of which pairs they are
  bool operator==(const Case&) const = default;
};

inline bool has_mask_blocks(const Case& work) {
  return work.mask_blocks.block > 0;
}
inline bool has_grid(const Case& work) {
  return !work.windows.empty();
}
// Whether the pattern is one of windows, not of branches.
inline bool has_windows(const Case& work) {
  return has_grid(work) || has_mask_blocks(work);
}

// The longest sequence that can be computed: rows are numbered with 32 bits.
inline constexpr std::int64_t kMostPositions = 0x7fffffff;

// Every scalar parameter of a case, in the order in which records list them. `segments` and `dilations` are
// lists and are handled apart from this table; lists with a value for each dimension of a grid are in
// window_fields() (kernels/case/windows.hpp).
std::span<const Field<Case>> case_fields();

// `n8192-w2048.4096-r1.2-h8-d64-fp32-p1-cpu`, for windows `g32x48x80-win18x24x24-h8-...`, for a mask
// `n8192-m64.1a2b3c4d-h8-...` or `g64x128-m64.1a2b3c4d-h8-...`, then `-key.value` for every other parameter
// that is not at its default. kv_heads must not be 0 and device not `automatic`. `threads` appears only if
// the sweep sets it.
std::string case_id(const Case& work);

}  // namespace hilbench
