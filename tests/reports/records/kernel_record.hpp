// A record of a kernel that has all that a record may have, and the check that JSON keeps a record.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "reports/records/record.hpp"

namespace hilbench {

inline Record kernel_record() {
  Record record{{.work = {.sequence_length = 8192,
                          .pattern = {{2048, 1}, {4096, 2}},
                          .kv_heads = 4,
                          .mask = Mask::causal,
                          .device = DeviceKind::cpu},
                 .variant = {KernelChoice{.name = "dilated",
                                          .order = "hilbert",
                                          .order_param = 512,
                                          .order_chunk = 4096,
                                          .chunk_in_id = true,
                                          .order_file = "a/b.npy",
                                          .order_file_hash = 0xfedcba98,
                                          .order_tensors = OrderTensors::qkv,
                                          .traversal = "grouped",
                                          .traversal_param = 8,
                                          .rows = KeyRows::gathered,
                                          .index = IndexUse::computed}},
                 .case_id = "n8192",
                 .kernel = "dilated_cpu",
                 .order_chunk = 512,
                 .threads = 2,
                 .traversals = {"longest_first.4", "head_major"}}};
  record.sweep = "quick";
  record.cache = "cold";
  record.variant_id = variant_id(record.variant);
  record.verify = {1e-6, 1.0 / 3, 2e-7, 256, 1e-4};
  record.time = {.median_ns = 1e6 / 3,
                 .ci_ns = {3e5, 4e5},
                 .samples_ns = {3e5, 1e6 / 3, 4e5},
                 .process_rounds = {2, 1},
                 .timer = "steady_clock"};
  record.permute_ns = 1234.5;
  record.flops = 3.5e10;
  record.min_bytes = 1e7;
  record.tflops = 0.1;
  record.memory_bytes = 2e7;
  record.comm_bytes = 0;
  record.counters["page_faults"] = {.value = 3, .unit = "count", .source = "perf", .passes = 1};
  record.counters["task_clock"] = {.value = 5, .unit = "ns", .source = "perf", .passes = 1, .ranks = {2, 3}};
  record.counters["l1d_read_misses"] = {.unit = "count", .source = "perf", .reason = "no such event"};
  record.speedup = {1.01, {0.99, 1.03}, 2, Verdict::inconclusive, 0.01, "dilated/linear"};
  record.reference = "dilated/linear";
  record.margin = 0.02;
  record.environment = {{"host", {{"cpu", "x"}}}, {"device", nullptr}, {"build", {}}, {"time", "now"}};
  return record;
}

// Compares the members of a record that its JSON form does not hold.
inline void expect_round_trip(const Record& record) {
  nlohmann::json once = nlohmann::json::parse(to_json(record).dump());
  const Record back = record_from_json(once);
  once["speedup"] = nullptr;  // found anew from the samples
  EXPECT_EQ(to_json(back), once);
  EXPECT_EQ(back.reference, record.reference);
  EXPECT_EQ(back.twin, record.twin);
  EXPECT_EQ(back.work, record.work);
  EXPECT_EQ(back.variant, record.variant);
  EXPECT_EQ(back.threads, record.threads);
  EXPECT_EQ(back.order_chunk, record.order_chunk);
  EXPECT_EQ(back.reason, record.reason);
}

}  // namespace hilbench
