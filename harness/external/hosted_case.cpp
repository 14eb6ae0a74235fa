#include "harness/external/hosted_case.hpp"

#include <cmath>

namespace hilbench {
namespace {

std::int32_t dtype_number(const std::string& name) {
  return name == "fp32" ? HILBENCH_FP32 : name == "bf16" ? HILBENCH_BF16 : HILBENCH_FP16;
}
static_assert(HILBENCH_FP32 == static_cast<int>(Dtype::fp32) &&
              HILBENCH_BF16 == static_cast<int>(Dtype::bf16) &&
              HILBENCH_FP16 == static_cast<int>(Dtype::fp16));

}  // namespace

HostedCase::HostedCase(const nlohmann::json& fields, const nlohmann::json& kernel)
    : order_(kernel.at("order")),
      traversal_(kernel.at("traversal")),
      json_(fields.dump()),
      segments_(fields.at("segments").get<std::vector<std::int64_t>>()),
      dilations_(fields.at("dilations").get<std::vector<std::int64_t>>()) {
  case_ = {.batch = fields.at("batch"),
           .sequence_length = fields.at("sequence_length"),
           .heads = fields.at("heads"),
           .kv_heads = fields.at("kv_heads"),
           .head_dim = fields.at("head_dim"),
           .dtype = dtype_number(fields.at("dtype")),
           .on_cuda = fields.at("device") == "cuda" ? 1 : 0,
           .causal = fields.at("causal").get<bool>() ? 1 : 0,
           .threads = fields.at("threads"),
           .scale = 1 / std::sqrt(fields.at("head_dim").get<float>()),
           .branches = static_cast<std::int32_t>(segments_.size()),
           .segments = segments_.data(),
           .dilations = dilations_.data(),
           .order = order_.c_str(),
           .traversal = traversal_.c_str(),
           .json = json_.c_str()};
}

}  // namespace hilbench
