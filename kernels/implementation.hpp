// What a kernel or a baseline is to the harness. One file fills one `Implementation`; baselines/table.cpp
// lists them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "kernels/base/counter.hpp"
#include "kernels/case/case.hpp"
#include "kernels/case/variant.hpp"
#include "kernels/index/index.hpp"
#include "kernels/machine/gpu.hpp"

namespace hilbench {

// Tensors of one execution, contiguous, in the device's memory and 64-byte aligned.
// q, o: [batch, sequence, heads, head_dim]; k, v: [batch, sequence, kv_heads, head_dim], elements of
// work.dtype, k and v (and q, with order_tensors qkv) at the slots of the index; o and lse [batch, sequence,
// heads] fp32 in position order. Every element of o and lse is written by every run.
struct Operands {
  const void* q = nullptr;
  const void* k = nullptr;
  const void* v = nullptr;
  void* o = nullptr;
  float* lse = nullptr;
  // Where several runs make one result (a ring): O in fp32, in which they meet. Then o is written only where
  // it is not null, rounded once from what stands here at the end of the run.
  float* o_fp32 = nullptr;
};

// A variant made ready for one case: owns its workspace. run() computes o and lse; it is what is timed.
class Execution {
 public:
  virtual ~Execution() = default;
  // Makes the index resident where the variant runs: once for a cached index, before each run for a computed
  // one. `index` outlives the runs that follow.
  virtual void load(const Index&) {}
  // On a GPU: enqueued, not complete when it returns.
  virtual void run(const Operands& operands, const Index& index) = 0;
  // Figures that the variant measures of itself, beside its time.
  virtual std::map<std::string, Counter> measured() { return {}; }
};

struct Implementation {
  std::string_view name;
  std::string_view help;
  ImplementationKind kind = ImplementationKind::kernel;
  DeviceKind device = DeviceKind::cpu;
  bool has_output = true;  // false: `peak`, which computes no attention and is not verified
  // A program of its own (README, External baselines) on any device: `prepare` and `library` are null.
  bool external = false;
  std::span<const std::string_view> options = {};  // of an external: a sweep may write NAME.OPTION
  // Of a baseline that is a way of exchanging keys in a ring: what computes with it is the best kernel of the
  // device, and the functions below say nothing.
  std::optional<RingAlgorithm> ring_algorithm = {};
  // Unit whose peak bounds this variant's FLOP rate: a key of the peak measurement ("fp32_fma"), or "" where
  // none does.
  std::string_view (*peak_unit)(const Case&) = nullptr;
  // Query rows of a tile, for the index; null for a baseline that reads no index.
  std::int64_t (*tile_rows)(const Case&) = nullptr;
  // The reason why this variant cannot compute the case here, or nothing.
  std::optional<std::string> (*why_not)(const Case&, const Variant&) = nullptr;
  // The reason why this variant cannot run on the GPU, or nothing; null: runs on any device of its kind.
  std::optional<std::string> (*why_not_on)(const Gpu&) = nullptr;
  // Bytes that prepare() allocates.
  double (*workspace_bytes)(const Case&, int threads) = nullptr;
  // FLOPs of one run where they are not those of the case (`peak`); else null.
  double (*own_flops)(const Case&, int threads) = nullptr;
  // `threads`: CPU threads to use, at least 1.
  std::unique_ptr<Execution> (*prepare)(const Case&, const Variant&, int threads) = nullptr;
  // Library, version and flags of a rival; null object for our own kernels.
  nlohmann::json (*library)() = nullptr;
};

// The unit made for products of the case's elements on a GPU, as a `peak_unit`.
inline std::string_view gpu_product_unit(const Case& work) {
  if (work.dtype == Dtype::fp32) return "fp32_fma";
  return work.dtype == Dtype::bf16 ? "bf16_tensor" : "fp16_tensor";
}

}  // namespace hilbench
