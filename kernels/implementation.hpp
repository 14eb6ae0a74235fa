// How the harness sees a kernel or a baseline. Each has a file that fills an `Implementation`;
// baselines/table.cpp lists them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "kernels/base/text/counter.hpp"
#include "kernels/base/text/refusal.hpp"
#include "kernels/case/case.hpp"
#include "kernels/case/variant.hpp"
#include "kernels/index/index.hpp"
#include "kernels/index/sectors.hpp"
#include "kernels/index/walk.hpp"
#include "kernels/machine/gpu.hpp"
#include "kernels/traversals/fastest.hpp"

namespace hilbench {

// Tensors of one execution, contiguous, in the device's memory and 64-byte aligned.
// q, o: [batch, sequence, heads, head_dim]; k, v: [batch, sequence, kv_heads, head_dim]; all of work.dtype.
// lse: [batch, sequence, heads], fp32. k and v (and q, with order_tensors qkv) are stored at the slots of the
// index, o and lse in position order. Every run of the forward pass writes every element of o and lse.
// The backward pass reads them, and d_o, which lies like q; it writes every element of d_q, d_k and d_v, each
// of the shape, dtype and slots of its tensor.
struct Operands {
  const void* q = nullptr;
  const void* k = nullptr;
  const void* v = nullptr;
  void* o = nullptr;
  float* lse = nullptr;
  // If several runs make one result (a ring): O in fp32, into which they merge. A run writes o only if it is
  // not null: at its end, rounded from o_fp32.
  float* o_fp32 = nullptr;
  const void* d_o = nullptr;
  void* d_q = nullptr;
  void* d_k = nullptr;
  void* d_v = nullptr;
};

// A variant made ready for one case and pass. Owns its workspace. run() computes o and lse, or the gradients,
// and is what is timed.
class Execution {
 public:
  virtual ~Execution() = default;
  // Brings the index to the memory of the device: called once for a cached index, before each run for a
  // computed one. `index` outlives the runs that follow.
  virtual void load(const Index&) {}
  // Chooses, by time, among ways to compute; called once, before anything is measured. Overwrites o and lse.
  // run() computes without it too.
  virtual void tune(const Operands&) {}
  // What tune() chose, kept with the library in every record.
  virtual std::map<std::string, std::string> choices() const { return {}; }
  // On a GPU the work is only enqueued when this returns.
  virtual void run(const Operands& operands, const Index& index) = 0;
  // What the variant measures itself, apart from its time.
  virtual std::map<std::string, Counter> measured() { return {}; }
};

// A variant made ready for a launch that computes with keys of several sources (kernels/index/walk.hpp).
class WalkExecution {
 public:
  virtual ~WalkExecution() = default;
  // Brings the walk to the memory of the device. `walk` outlives the runs that follow.
  virtual void load(const Walk& walk) = 0;
  // Like Execution::run(). It may wait for chunks whose arrival is enqueued already.
  // There is a tile in the walk.
  virtual void run(const Operands& operands, const ReceivedShards& received) = 0;
};

struct WalkLimits {
  double timeout_s = 0;            // a run waits no longer for a chunk
  int spared_multiprocessors = 0;  // which it must leave to others
};

struct Implementation {
  std::string_view name;
  std::string_view help;
  ImplementationKind kind = ImplementationKind::kernel;
  DeviceKind device = DeviceKind::cpu;
  bool windows = false;  // computes windows on grids too; else it is skipped for them
  bool dropout = false;  // computes dropout in the passes that it has; else it is skipped for it
  // Reads Q, K and V in position order whatever the variant's order, which then says only which positions
  // are a tile; Operands are not permuted.
  bool raster_storage = false;
  bool has_output = true;      // false: `peak`, which computes no attention and is not verified
  bool stores_scores = false;  // rounds scores to the case's dtype before the softmax, and so its LSE
  // A separate program (docs/external.md), for any device; `prepare` and `library` are null.
  bool external = false;
  std::span<const std::string_view> options = {};  // of an external: a sweep may write NAME.OPTION
  // Set if the baseline is a way of exchanging keys in a ring. The best kernel of the device computes, and
  // the functions below mean nothing.
  std::optional<RingAlgorithm> ring_algorithm = {};
  // The unit whose peak bounds this variant's FLOP rate: a key of the peak measurement ("fp32_fma"), or "" if
  // no measured unit does.
  std::string_view (*peak_unit)(const Case&) = nullptr;
  // Query rows of a tile, for the index; null if the baseline reads no index.
  std::int64_t (*tile_rows)(const Case&) = nullptr;
  // What traversal `auto` means for it under a causal mask.
  CausalTraversal causal_traversal = CausalTraversal::head_major;
  // What `tiles: auto` means for it; automatic: what the counts of both say (faster_tiles()).
  KeyTiles automatic_tiles = KeyTiles::united;
  // Why this build cannot compute the case; nothing if it can.
  Refusal (*why_not)(const Case&, const Variant&) = nullptr;
  // Why it cannot run on this GPU; nothing if it can. Null: it runs on every device of its kind.
  Refusal (*why_not_on)(const Gpu&) = nullptr;
  // Bytes that prepare() allocates.
  double (*workspace_bytes)(const Case&, int threads) = nullptr;
  // FLOPs of one run if they differ from those of the case (`peak`); else null.
  double (*own_flops)(const Case&, int threads) = nullptr;
  // `threads`: number of CPU threads to use, at least 1.
  std::unique_ptr<Execution> (*prepare)(const Case&, const KernelChoice&, int threads) = nullptr;
  // Null: it has no launch for keys of several sources.
  std::unique_ptr<WalkExecution> (*prepare_walk)(const Case&, const KernelChoice&,
                                                 const WalkLimits&) = nullptr;
  // From which its sectors are derived (kernels/index/sectors.hpp); null: they are not known.
  const SectorStream* stream = nullptr;
  // Library, version and flags of a rival; a null object for this project's kernels.
  nlohmann::json (*library)() = nullptr;
};

// A `peak_unit`: the unit of a GPU that multiplies elements of the case's dtype.
inline std::string_view gpu_product_unit(const Case& work) {
  if (work.dtype == Dtype::fp32) return "fp32_fma";
  return work.dtype == Dtype::bf16 ? "bf16_tensor" : "fp16_tensor";
}

}  // namespace hilbench
