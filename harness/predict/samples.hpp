// Stored records in the form that the model of model.hpp reads.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/predict/model.hpp"
#include "reports/records/record.hpp"

namespace hilbench {

// What executed a record.
RingMachine machine_of(const Record& record);

// A record, of any number of ranks, that is ok and had the machine to itself.
struct RingSample {
  const Record* record = nullptr;
  RingShape shape;
  double ns = 0;                                  // median time
  double relative = 0;                            // half-width of its 95 % interval, relative to it
  std::optional<double> compute_ns, exchange_ns;  // for a ring: each measured by itself
};

// The records that one model describes: one kernel on one machine.
struct RingGroup {
  std::string machine;  // name of the GPU or CPU
  std::string kernel;   // resolved
  Dtype dtype = Dtype::fp32;
  std::int64_t head_dim = 0;
  DeviceKind device = DeviceKind::cpu;
  auto operator<=>(const RingGroup&) const = default;
  std::string text() const;  // "dilated_cpu, fp32, head_dim 64, on AMD EPYC ..."
};

// The samples of each group. Records are left out if they are no kernel, not the forward pass, or have
// options that rings do not have.
std::map<RingGroup, std::vector<RingSample>> ring_samples(const std::vector<Record>& records);

}  // namespace hilbench
