#include "harness/plan/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "harness/measure/forward_pass.hpp"
#include "harness/measure/inputs.hpp"
#include "harness/measure/oracle.hpp"
#include "kernels/case/pattern.hpp"
#include "kernels/index/walk.hpp"
#include "kernels/ring/ring.hpp"
#include "kernels/windows/case_index.hpp"

namespace hilbench {
namespace {

// GPU memory that the driver, this process's context and code, CUPTI, and the offsets of buffers take.
constexpr double kReservedBytes = 0x1p30;
constexpr std::int64_t kOperands = 5;  // Q, K, V, O and LSE
constexpr std::int64_t kGradientOperands =
    11;  // dO, dQ, dK and dV too, and O and LSE twice if both are computed

double tensor_elements(const Case& work, std::int64_t heads) {
  return static_cast<double>(work.batch) * static_cast<double>(work.sequence_length) *
         static_cast<double>(heads) * static_cast<double>(work.head_dim);
}

std::int64_t operands_of(const Case& work) {
  return work.pass == Pass::forward ? kOperands : kGradientOperands;
}

// Bytes of O in the case's dtype, and of LSE.
double output_bytes(const Case& work) {
  const double q = tensor_elements(work, work.heads);
  return q * static_cast<double>(dtype_bytes(work.dtype)) + q / static_cast<double>(work.head_dim) * 4;
}

// Bytes of Q, K, V and O in the case's dtype, and of LSE; with gradients of dO, dQ, dK and dV too. What the
// gradients start from is not what a variant computes: O and LSE are there twice if it computes both.
double operand_bytes(const Case& work) {
  const auto element = static_cast<double>(dtype_bytes(work.dtype));
  const double q = tensor_elements(work, work.heads), kv = 2 * tensor_elements(work, work.kv_heads);
  const double forward = (q + kv) * element + output_bytes(work);
  if (work.pass == Pass::forward) return forward;
  return forward + (2 * q + kv) * element + (work.pass == Pass::both ? output_bytes(work) : 0);
}

// Bytes that `kernel` and its index take on the device and beside it, for each pass that it computes.
MemoryNeed kernel_need(const Case& work, const Variant& variant, const Implementation& implementation,
                       int threads, const std::optional<TileCounts>& tiles) {
  const bool gpu = work.device == DeviceKind::cuda;
  MemoryNeed need{implementation.workspace_bytes(work, threads), 0};
  if (implementation.tile_rows == nullptr) return need;
  const std::int64_t tile_rows = implementation.tile_rows(work);
  double index = case_index_bytes(work, variant.kernel(), tile_rows, tiles);
  if (gpu && has_windows(work)) {  // what goes to the GPU is put together in host memory, masks in parts
    std::optional<TileCounts> together = tiles;
    if (together) together->masks = std::min(together->masks, kMasksUnderway);
    index += case_device_index_bytes(work, variant.kernel(), tile_rows, together);
  }
  return need + (gpu ? MemoryNeed{case_device_index_bytes(work, variant.kernel(), tile_rows, tiles), index}
                     : MemoryNeed{index, 0});
}

// The kernel that computes what gradients start from (ForwardPass).
MemoryNeed forward_need(const Case& work, int threads) {
  const Variant variant = variant_named(ImplementationKind::kernel, "dilated");
  const Implementation* kernel = ForwardPass::kernel_of(work, nullptr);
  return kernel == nullptr ? MemoryNeed{} : kernel_need(forward_of(work), variant, *kernel, threads, {});
}

// Bytes in host memory that the oracle of gradients needs beside: L and D of all rows, and Q, K, V and dO of
// the heads that share one K/V head.
double gradient_oracle_bytes(const Case& work) {
  if (work.pass == Pass::forward) return 0;
  const double rows = tensor_elements(work, work.heads) / static_cast<double>(work.head_dim);
  const double head = static_cast<double>(work.sequence_length) * static_cast<double>(work.head_dim);
  const auto group = static_cast<double>((work.heads + work.kv_heads - 1) / work.kv_heads);
  return rows * (4 + 8 + 8) + 4 * head * (2 + 2 * group);
}

// Bytes in host memory: the tensors (whole if they come from files, else parts of them), and the keys and
// values of the rows that are compared.
double harness_bytes(const Case& work, const Inputs& inputs) {
  const double q = tensor_elements(work, work.heads), kv = 2 * tensor_elements(work, work.kv_heads);
  std::int64_t longest = 0;
  for (const Branch& branch : work.pattern) {
    const std::int64_t length = std::min(branch.segment_length, work.sequence_length);
    longest = std::max(longest, selected_count(length, 0, branch.dilation));
  }
  const double stretch = 2 * static_cast<double>(longest) * static_cast<double>(work.head_dim);
  const double held = std::min(kv, static_cast<double>(kHeldElements) + stretch);
  const double part = std::min(q, static_cast<double>(kPartElements));
  return gradient_oracle_bytes(work) + 4 * (held + 3 * part) +
         (inputs.source == InputSource::npy ? 4 * (q + kv) : 0);
}

// Bytes of a variant's permuted copies and, on a GPU, of the table that makes them.
double copy_bytes(const Case& work, const KernelChoice& kernel) {
  const bool tokens = kernel.order_scope == OrderScope::tokens;
  if (kernel.order == "linear" && kernel.order_scope == OrderScope::memory) return 0;
  const auto element = static_cast<double>(dtype_bytes(work.dtype));
  const double q = tensor_elements(work, work.heads);
  double bytes = 2 * tensor_elements(work, work.kv_heads) * element;
  if (work.device == DeviceKind::cuda) bytes += 4 * static_cast<double>(work.sequence_length);
  const bool stored = kernel.order_scope == OrderScope::memory;
  if (tokens || (stored && kernel.order_tensors == OrderTensors::qkv)) bytes += q * element;
  if (tokens) bytes += q * element + q / static_cast<double>(work.head_dim) * 4;
  if (work.pass == Pass::forward) return bytes;
  bytes += 2 * tensor_elements(work, work.kv_heads) * element;              // dK and dV in position order
  if (kernel.order_tensors == OrderTensors::qkv) bytes += 2 * q * element;  // dO, and dQ in position order
  return bytes;
}

// Bytes of all ranks of a ring on one host: shards, buffers, a copy while inputs are put into an order, and
// indices. A piece's index holds the keys of one shard, so the indices of a rank together hold all keys.
double ring_bytes(const Ring& ring, const Implementation& implementation, int threads) {
  const Case& work = ring.work();
  const KernelChoice& kernel = ring.variant().kernel();
  Case one = work;
  one.ring_size = 1;
  double bytes = kernel.order == "linear"
                     ? 0
                     : tensor_elements(work, work.kv_heads) * static_cast<double>(dtype_bytes(work.dtype));
  for (std::int64_t rank = 0; rank < ring.ranks(); ++rank) {
    bytes += ring.memory(rank).total();
    std::size_t pieces = 0;
    for (const RingStep& step : ring.steps(rank)) pieces += step.sources.size();
    std::vector<Branch> tiled = work.pattern;  // the branch with the largest tiles decides
    tiled.push_back({one.sequence_length, 1});
    double workspace = 0;
    for (const Branch& branch : tiled) {
      Case piece = one;
      piece.pattern = {branch};
      workspace = std::max(workspace, implementation.workspace_bytes(
                                          piece, std::max(1, threads / static_cast<int>(ring.ranks()))));
    }
    bytes += static_cast<double>(pieces) * workspace;
  }
  const auto indices = static_cast<double>(ring.algorithm() == RingAlgorithm::local ? 1 : ring.ranks());
  return bytes + indices * index_bytes(one, kernel, implementation.tile_rows(one));
}

// The same for ranks on GPUs. On the GPUs: shards, buffers, a copy and the table that makes it, and the
// part of the indices that the kernels read (counted with a table of keys, whatever the order). On the
// host: the indices. A launch that walks the keys of all ranks has a stretch for each of its tiles and each
// rank: for as many tiles as all ranks have together.
MemoryNeed gpu_ring_need(const Ring& ring, const Implementation& implementation, int gpus) {
  const KernelChoice& kernel = ring.variant().kernel();
  Case one = ring.work();
  one.ring_size = 1;
  KernelChoice by_table = kernel;  // needs as much as a shuffled order
  by_table.order = "random";
  by_table.key_visit = KeyVisit::slot;
  if (ring.splits_heads()) by_table.order_tensors = OrderTensors::qkv;  // rows of Q have a table too
  const auto ranks = static_cast<double>(ring.ranks());
  const double pieces = ring.algorithm() == RingAlgorithm::local ? 1 / ranks : 1;
  const std::int64_t tile_rows = implementation.tile_rows(one);
  const double copy = copy_bytes(one, kernel) / ranks;
  const double stretches = ring.persistent() ? index_tiles(one, tile_rows) : 0;  // of a rank
  const double index = pieces * device_index_bytes(one, by_table, tile_rows) +
                       stretches * static_cast<double>(kDeviceStretchBytes);
  std::vector<double> on_gpu(static_cast<std::size_t>(std::max(1, gpus)));
  for (std::int64_t rank = 0; rank < ring.ranks(); ++rank)
    on_gpu[static_cast<std::size_t>(rank) % on_gpu.size()] += ring.memory(rank).total() + copy + index;
  return {*std::max_element(on_gpu.begin(), on_gpu.end()),
          ranks * (pieces * index_bytes(one, by_table, tile_rows) +
                   stretches * static_cast<double>(sizeof(KeyStretch)))};
}

// Bytes in host memory, which is the device's for a case on the CPU.
MemoryNeed host_need(const Case& work, double bytes) {
  return work.device == DeviceKind::cuda ? MemoryNeed{0, bytes} : MemoryNeed{bytes, 0};
}

// On 2 MiB pages each buffer fills whole ones: up to one more for each.
double rounding_bytes(const Case& work, std::int64_t buffers) {
  return work.pages == PageSize::of_2m ? static_cast<double>(buffers) * 0x1p21 : 0;
}

std::string gib(double bytes) {
  return fmt::format("{:.2f} GiB", bytes / 0x1p30);
}

}  // namespace

double copies_of_keys(const Case& work) {
  return 2 * tensor_elements(work, work.kv_heads) * static_cast<double>(dtype_bytes(work.dtype));
}

MemoryNeed shared_need(const Case& work, const Inputs& inputs) {
  const double operands = work.ring_size > 1 ? 0 : operand_bytes(work);  // in a ring each rank has its own
  const double harness = harness_bytes(work, inputs);
  const MemoryNeed need =
      MemoryNeed{operands, 0} + host_need(work, harness + rounding_bytes(work, operands_of(work)));
  return work.pass == Pass::forward
             ? need
             : need + forward_need(work, static_cast<int>(std::max<std::int64_t>(1, work.threads)));
}

StepMemory step_memory(const Case& work, const Variant& variant, const Implementation& implementation,
                       int threads) {
  const auto element = static_cast<double>(dtype_bytes(work.dtype));
  const double q = tensor_elements(work, work.heads) * element;
  const double kv = 2 * tensor_elements(work, work.kv_heads) * element;
  const double output = output_bytes(work);
  StepMemory step{.held = q + kv + (variant.kernel().saved == Saved::statistics ? output : 0)};
  for (const Case& pass : passes_of(work, Saved::inputs)) {
    const double gradients = pass.pass == Pass::forward ? 0 : 2 * q + kv;
    step.peak = std::max(step.peak, q + kv + output + gradients +
                                        kernel_need(pass, variant, implementation, threads, {}).device);
  }
  return step;
}

MemoryNeed ring_need(const Ring& ring, const Implementation& implementation, int threads, int gpus) {
  const Case& work = ring.work();
  if (work.device == DeviceKind::cuda) return gpu_ring_need(ring, implementation, gpus);
  return {ring_bytes(ring, implementation, threads) +
              rounding_bytes(work, 2 * kOperands * work.ring_size + threads),
          0};
}

MemoryNeed own_need(const Case& work, const Variant& variant, const Implementation& implementation,
                    int threads, const std::optional<TileCounts>& tiles) {
  MemoryNeed need{(implementation.raster_storage ? 0 : copy_bytes(work, variant.kernel())) +
                      rounding_bytes(work, operands_of(work) + threads),
                  0};
  for (const Case& pass : passes_of(work, variant.kernel().saved))
    need = need + kernel_need(pass, variant, implementation, threads, tiles);
  if (work.pass == Pass::backward && variant.kernel().saved == Saved::inputs)
    need.device += output_bytes(work);  // of the forward pass that is computed again
  if (!implementation.external) return need;
  // An external program gets its inputs and leaves its output in files in memory.
  const double output = work.pass == Pass::forward
                            ? tensor_elements(work, work.heads)
                            : tensor_elements(work, work.heads) + 2 * tensor_elements(work, work.kv_heads);
  need = need + input_files_need(work) + host_need(work, 4 * output);
  if (variant.is_baseline() || variant.kernel().order == "linear") return need;
  // Files of K and V in the order: two sets of values, and V negated.
  constexpr double kSets = 2.5;
  return need + host_need(work, kSets * copies_of_keys(work));
}

MemoryNeed unplanned_need(const Case& work, const Variant& variant, const Implementation& implementation,
                          int threads, int gpus) {
  return work.ring_size > 1 && !implementation.external
             ? ring_need(Ring(work, variant), implementation, threads, gpus)
             : own_need(work, variant, implementation, threads);
}

MemoryNeed input_files_need(const Case& work) {
  const double q = tensor_elements(work, work.heads), kv = 2 * tensor_elements(work, work.kv_heads);
  const auto blocks = static_cast<double>(work.mask_blocks.blocks);
  const double gradients =
      work.pass == Pass::forward ? 0 : q + output_bytes(work) / static_cast<double>(dtype_bytes(work.dtype));
  return host_need(work,
                   (q + kv + gradients) * static_cast<double>(dtype_bytes(work.dtype)) + blocks * blocks);
}

MemoryNeed usable_memory(const Case& work, const Site& site) {
  constexpr double kUnknown = std::numeric_limits<double>::infinity();
  const auto usable = [](std::int64_t available) {  // 0 if unknown
    return available > 0 ? kUsableMemory * static_cast<double>(available) : kUnknown;
  };
  if (work.device != DeviceKind::cuda)
    return {usable(site.named_memory_bytes.value_or(site.host.available_memory_bytes)), kUnknown};
  const double beside = usable(site.host.available_memory_bytes);
  if (!site.gpu) return {kUnknown, beside};
  const auto whole = static_cast<double>(site.named_memory_bytes.value_or(site.gpu->memory_bytes));
  return {std::max(0.0, whole - kReservedBytes), beside};
}

Refusal why_not_fit(const MemoryNeed& need, const MemoryNeed& usable) {
  if (need.device > usable.device)
    return fmt::format("does not fit: the comparison would need {} of {} available", gib(need.device),
                       gib(usable.device));
  if (need.host > usable.host)
    return fmt::format("does not fit: the comparison would need {} of {} host memory", gib(need.host),
                       gib(usable.host));
  return std::nullopt;
}

std::int64_t longest_sequence(Case work, const Inputs& inputs, const Variant& variant,
                              const Implementation& implementation, int threads, const Site& site) {
  std::int64_t step = 1;
  for (const Branch& branch : work.pattern) step = std::max(step, branch.segment_length);
  const MemoryNeed usable = usable_memory(work, site);
  const auto fits = [&](std::int64_t steps) {
    work.sequence_length = steps * step;
    return !why_not_fit(
        shared_need(work, inputs) + unplanned_need(work, variant, implementation, threads, site.gpus),
        usable);
  };
  // The largest number of steps that fits; 0 if none does. `high` steps do not fit.
  const auto most = [&](std::int64_t high) {
    std::int64_t low = 0;
    while (high - low > 1) {
      const std::int64_t middle = low + (high - low) / 2;
      (fits(middle) ? low : high) = middle;
    }
    return low;
  };
  if (const std::int64_t segments = most(kMostPositions / step + 1); segments > 0) return segments * step;
  return most(std::exchange(step, 1));  // a sequence may be shorter than its segment
}

}  // namespace hilbench
