#include "kernels/cuda/shared/forward_implementation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "kernels/case/pattern.hpp"

namespace hilbench::cuda {
namespace {

// "32, 64, 96", or if all steps are 8 "32 to 256 in steps of 8".
std::string in_words(std::span<const int> dims) {
  const auto wider = [](int a, int b) { return b - a != 8; };
  if (dims.size() > 2 && std::adjacent_find(dims.begin(), dims.end(), wider) == dims.end())
    return fmt::format("{} to {} in steps of 8", dims.front(), dims.back());
  return fmt::format("{}", fmt::join(dims, ", "));
}

Refusal why_not_windows(const ForwardFacts& facts, std::int64_t head_dim) {
  const std::span<const int> dims = facts.window_head_dims;
  if (std::find(dims.begin(), dims.end(), head_dim) != dims.end()) return std::nullopt;
  return fmt::format("windows: {} has head_dim {}, not {}", facts.name, in_words(dims), head_dim);
}

Refusal why_not_head_dim(const ForwardFacts& facts, const Case& work) {
  if (has_windows(work)) return why_not_windows(facts, work.head_dim);
  const std::int64_t head_dim = work.head_dim;
  const std::span<const int> dims = facts.head_dims;
  if (dims.empty() && (head_dim < 8 || head_dim > 256 || head_dim % 8 != 0))
    return fmt::format("{} has head_dim 8 to 256 in steps of 8, not {}", facts.name, head_dim);
  if (!dims.empty() && std::find(dims.begin(), dims.end(), head_dim) == dims.end())
    return fmt::format("{} has head_dim {}, not {}", facts.name, in_words(dims), head_dim);
  return std::nullopt;
}

// Compiled code runs on GPUs of the same major version from its minor version up; with an `a`, on exactly its
// own version. PTX runs on every later GPU.
bool runs_on(const std::string& architecture, int compute_capability) {
  std::size_t digits = 0;
  const int number = std::stoi(architecture, &digits);
  const bool exact = architecture.compare(digits, 1, "a") == 0;
  const bool is_ptx = architecture.find("-real") == std::string::npos;
  if (exact) return compute_capability == number;
  return compute_capability >= number && (is_ptx || compute_capability / 10 == number / 10);
}

}  // namespace

std::int32_t rows_of_tile(const ForwardCode& code, const Case& work) {
  const ForwardShape shape = forward_shape(work);
  return work.pass == Pass::backward && code.gradient_rows != nullptr ? code.gradient_rows(shape)
                                                                      : code.tile_rows(shape);
}

Refusal why_not(const ForwardFacts& facts, const Case& work, const Variant& variant) {
  if (!facts.code.absence.empty()) return std::string(facts.code.absence);
  if (work.dtype == Dtype::fp32 && !facts.stores_fp32)
    return fmt::format("{} reads fp16 and bf16 only", facts.name);
  if (auto reason = why_not_head_dim(facts, work)) return reason;
  // Below compute capability 8.0 a block has 48 KiB of shared memory, too little for a tile of long rows.
  if (work.head_dim > 128 && rows_of_tile(facts.code, work) == 0)
    return fmt::format("{} has no tile of head_dim {} for this GPU", facts.name, work.head_dim);
  if (work.pass != Pass::forward && facts.code.make_gradients == nullptr)
    return fmt::format("{} has no backward pass yet", facts.name);
  if (drops(dropout_of(work)) && variant.kernel().key_visit == KeyVisit::slot)
    return fmt::format("{} computes dropout only if its tiles visit keys by position", facts.name);
  return std::nullopt;
}

Refusal why_not_on(const ForwardFacts& facts, const Gpu& gpu) {
  if (!facts.code.absence.empty()) return std::nullopt;  // why_not() says it for every case
  if (gpu.compute_capability < facts.first_capability || gpu.compute_capability > facts.last_capability)
    return fmt::format("{} needs compute capability {}.{}, this GPU has {}", facts.name,
                       facts.first_capability / 10, facts.first_capability % 10, gpu.capability_text());
  std::istringstream architectures{std::string(facts.code.architectures)};
  for (std::string each; architectures >> each;)
    if (runs_on(each, gpu.compute_capability)) return std::nullopt;
  return fmt::format(
      "this build has code for {}, which this GPU of compute capability {}.{} does not "
      "run; ./quickstart.sh --cuda builds its code",
      facts.code.architectures, gpu.compute_capability / 10, gpu.compute_capability % 10);
}

nlohmann::json no_library() {
  return nullptr;
}

}  // namespace hilbench::cuda
