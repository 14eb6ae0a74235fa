// A case: one piece of work, independent of the way in which it is computed (README, Definitions).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/field.hpp"
#include "kernels/case/dtype.hpp"

namespace hilbench {

enum class Mask { full, causal };
enum class Queries { dilated, dense };               // which queries a segment has
enum class HeadOffset { modulo, contiguous, none };  // where a head's dilated stream starts
enum class BranchHeads { all, partition };           // which branches a head runs
enum class Pass { forward, backward };
enum class DeviceKind { automatic, cpu, cuda };

std::string_view to_string(Dtype dtype);
std::string_view to_string(DeviceKind device);

// One branch of a pattern: segments of `segment_length` positions, every `dilation`-th of them selected.
struct Branch {
  std::int64_t segment_length = 0;
  std::int64_t dilation = 1;
  bool operator==(const Branch&) const = default;
};

struct Case {
  std::int64_t sequence_length = 4096;
  std::vector<Branch> pattern = {{2048, 1}};
  std::int64_t batch = 1;
  std::int64_t heads = 8;
  std::int64_t kv_heads = 0;  // 0: as many as `heads` (a sweep's cases have it filled in)
  std::int64_t head_dim = 64;
  Dtype dtype = Dtype::fp32;
  Mask mask = Mask::full;
  Queries queries = Queries::dilated;
  HeadOffset head_offset = HeadOffset::modulo;
  BranchHeads branch_heads = BranchHeads::all;
  Pass pass = Pass::forward;
  std::int64_t ring_size = 1;
  DeviceKind device = DeviceKind::automatic;  // resolved before a plan is made
  std::int64_t threads = 0;                   // CPU threads; 0: OMP_NUM_THREADS, else all cores
  bool operator==(const Case&) const = default;
};

// The longest sequence that anything here computes: rows are numbered with 32 bits.
inline constexpr std::int64_t kMostPositions = 0x7fffffff;

// Every scalar parameter of a case, in the order of the contract. `segments` and `dilations` are not scalars
// and stand beside this table.
std::span<const Field<Case>> case_fields();

// `n8192-w2048.4096-r1.2-h8-d64-fp32-p1-cpu`, then `-key.value` for every other parameter that is not at its
// default. Expects kv_heads and device resolved; `threads` is written only where the sweep gave it.
std::string case_id(const Case& work);

}  // namespace hilbench
