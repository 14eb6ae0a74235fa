// Stored records as the model of model.hpp sees them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/predict/model.hpp"
#include "reports/records/record.hpp"

namespace hilbench {

// A record of one rank or more that ran alone and without a fault, as the model sees it.
struct RingSample {
  const Record* record = nullptr;
  RingShape shape;
  double ns = 0;                                  // median time
  double relative = 0;                            // half its 95 % interval, as a share of it
  std::optional<double> compute_ns, exchange_ns;  // of a ring: measured by themselves
};

// Records that one model holds for: one kernel on one machine.
struct RingGroup {
  std::string machine;  // name of the GPU or CPU
  std::string kernel;   // resolved
  Dtype dtype = Dtype::fp32;
  std::int64_t head_dim = 0;
  DeviceKind device = DeviceKind::cpu;
  auto operator<=>(const RingGroup&) const = default;
  std::string text() const;  // "dilated_cpu, fp32, head_dim 64, on AMD EPYC ..."
};

// Samples of each group: kernels of the forward pass, options that rings know. Others are left out.
std::map<RingGroup, std::vector<RingSample>> ring_samples(const std::vector<Record>& records);

}  // namespace hilbench
