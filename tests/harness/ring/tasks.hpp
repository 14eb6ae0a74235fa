// Comparisons on rings of GPUs, measured in the way of a worker.
#pragma once

#include <gtest/gtest.h>

#include <stdexcept>

#include "harness/counters/backends.hpp"
#include "harness/worker/worker.hpp"
#include "kernels/ring/ring.hpp"

namespace hilbench {

struct RingTaskShape {
  std::int64_t ranks = 2;
  std::int64_t sequence_length = 8192;
  std::vector<Branch> pattern = {{8192, 4}};
  TransportKind transport = TransportKind::peer;
  CacheState cache = CacheState::warm;
};

inline Record ring_record(const RingTaskShape& shape, RingAlgorithm algorithm) {
  Record record;
  record.sweep = "ring";
  record.work = {.sequence_length = shape.sequence_length,
                 .pattern = shape.pattern,
                 .heads = 8,
                 .kv_heads = 8,
                 .head_dim = 128,
                 .dtype = Dtype::bf16};
  record.work.ring_size = shape.ranks;
  record.work.device = DeviceKind::cuda;
  record.variant.change().name = "dilated_mma";
  record.variant.ring.algorithm = algorithm;
  record.variant.ring.transport = shape.transport;
  record.kernel = record.variant.name();
  record.variant_id = variant_id(record.variant);
  record.case_id = case_id(record.work);
  record.threads = 1;
  record.flops = 1e9;
  if (shape.ranks > 1) record.comm_bytes = Ring(record.work, record.variant).sent_bytes();
  return record;
}

// Measures them as a worker does. Returns the records by variant.
inline std::map<std::string, Record> measure_rings(const RingTaskShape& shape,
                                                   const std::vector<RingAlgorithm>& algorithms,
                                                   const std::vector<std::string>& counters) {
  ComparisonTask task;
  for (const RingAlgorithm algorithm : algorithms) task.records.push_back(ring_record(shape, algorithm));
  task.reference = 0;
  task.measure = {.budget_s = 0.05, .min_rounds = 3, .timeout_s = 60};
  task.measure.cache = shape.cache;
  task.counters = counters;
  std::map<std::string, Record> records;
  run_task(task, [&](const TaskEvent& event) {
    if (event.record) records[event.record->variant_id] = *event.record;
  });
  return records;
}

inline double counted(const Record& record, const std::string& name) {
  const auto found = record.counters.find(name);
  if (found == record.counters.end() || !found->second.value) {
    ADD_FAILURE() << record.variant_id << ": " << name << ": "
                  << (found == record.counters.end() ? "not counted" : found->second.reason);
    return -1;
  }
  return *found->second.value;
}

}  // namespace hilbench
