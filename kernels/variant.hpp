// What a kernel or a baseline is to the harness. One file fills one `Variant`; kernels/table.cpp lists them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "harness/case.hpp"
#include "harness/record.hpp"
#include "harness/variant_spec.hpp"
#include "kernels/index.hpp"

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
};

// A variant made ready for one case: owns its workspace. run() computes o and lse; it is what is timed.
class Execution {
 public:
  virtual ~Execution() = default;
  virtual void run(const Operands& operands, const Index& index) = 0;
  // Figures that the variant measures of itself, beside its time.
  virtual std::map<std::string, Counter> measured() { return {}; }
};

struct Variant {
  std::string_view name;
  std::string_view help;
  RecordKind kind = RecordKind::kernel;
  DeviceKind device = DeviceKind::cpu;
  bool has_output = true;  // false: `peak`, which computes no attention and is not verified
  // A program of its own (README, External baselines) on any device: `prepare` and `library` are null.
  bool external = false;
  std::span<const std::string_view> options = {};  // of an external: a sweep may write NAME.OPTION
  // Unit whose peak bounds this variant's FLOP rate: a key of the peak measurement ("fp32_fma"), or "" where
  // none does.
  std::string_view (*peak_unit)(const Case&) = nullptr;
  // Query rows of a tile, for the index; null for a baseline that reads no index.
  std::int64_t (*tile_rows)(const Case&) = nullptr;
  // The reason why this variant cannot compute the case here, or nothing.
  std::optional<std::string> (*unsupported)(const Case&, const VariantSpec&) = nullptr;
  // Bytes that prepare() allocates.
  double (*workspace_bytes)(const Case&, int threads) = nullptr;
  // FLOPs of one run where they are not those of the case (`peak`); else null.
  double (*own_flops)(const Case&, int threads) = nullptr;
  // `threads`: CPU threads to use, at least 1.
  std::unique_ptr<Execution> (*prepare)(const Case&, const VariantSpec&, int threads) = nullptr;
  // Library, version and flags of a rival; null object for our own kernels.
  nlohmann::json (*library)() = nullptr;
};

// Every kernel and baseline of this build.
std::span<const Variant* const> variant_table();
const Variant* find_variant(std::string_view name);
// The variant that computes `spec` on `device`: alias `dilated` gives the best kernel for the device.
// Null where the name is known but nothing of this build runs it on that device.
const Variant* resolve_variant(const VariantSpec& spec, DeviceKind device);
// Names that a sweep may write as kernel or baseline, aliases included.
bool known_kernel(std::string_view name);
bool known_baseline(std::string_view name);

}  // namespace hilbench
