#include "harness/predict/samples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "kernels/base/text/error.hpp"

namespace hilbench {
namespace {

std::optional<double> positive_counter(const Record& record, const char* name) {
  const std::optional<double> value = counter_value(record, name);
  return value && *value > 0 ? value : std::nullopt;
}

std::string machine_name(const Record& record) {
  const char* part = record.work.device == DeviceKind::cuda ? "device" : "host";
  const char* key = record.work.device == DeviceKind::cuda ? "name" : "cpu";
  return environment_text(record, part, key);
}

// Half of the interval of the time, as a share of it; 0 if one round says nothing of its noise.
double relative_reach(const Timing& time) {
  const double reach = (time.ci_ns.high - time.ci_ns.low) / 2 / time.median_ns;
  return std::isfinite(reach) ? reach : 0;
}

bool usable(const Record& record) {
  const Variant& variant = record.variant;
  return !record.twin && record.kind == ImplementationKind::kernel && record.status == Status::ok &&
         record.time && record.time->median_ns > 0 && foreign_processes(record) == 0 &&
         record.work.pass == Pass::forward && variant.kernel().order_scope == OrderScope::memory &&
         variant.kernel().buffers == Buffers::pooled && variant.kernel().index == IndexUse::cached &&
         !why_not_ring(record.work, variant_that_ran(record)) &&
         !why_not_modelled(record.work, variant_that_ran(record));
}

}  // namespace

RingMachine machine_of(const Record& record) {
  RingMachine machine{.threads = std::max<std::int64_t>(1, record.threads)};
  const auto device = record.environment->find("device");
  if (device != record.environment->end() && device->is_object())
    machine.multiprocessors =
        std::max<std::int64_t>(1, device->value("multiprocessors", machine.multiprocessors));
  const std::string& traversal =
      record.traversals.empty() ? record.variant.kernel().traversal : record.traversals.front();
  machine.longest_first = traversal.starts_with("longest_first");
  return machine;
}

std::string RingGroup::text() const {
  return fmt::format("{}, {}, head_dim {}, on {}", kernel, to_string(dtype), head_dim,
                     machine.empty() ? "an unnamed machine" : machine);
}

std::map<RingGroup, std::vector<RingSample>> ring_samples(const std::vector<Record>& records) {
  std::map<RingGroup, std::vector<RingSample>> groups;
  for (const Record& record : records) {
    if (!usable(record)) continue;
    const RingGroup group{machine_name(record), record.kernel, record.work.dtype, record.work.head_dim,
                          record.work.device};
    RingSample sample{.record = &record,
                      .shape = ring_shape(record.work, variant_that_ran(record), machine_of(record)),
                      .ns = record.time->median_ns,
                      .relative = relative_reach(*record.time)};
    if (record.work.ring_size > 1) {
      sample.compute_ns = positive_counter(record, "ring_compute_ns");
      sample.exchange_ns = positive_counter(record, "ring_exchange_ns");
    }
    groups[group].push_back(std::move(sample));
  }
  return groups;
}

}  // namespace hilbench
