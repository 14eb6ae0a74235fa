// The chip that tests/fakes/cupti_events.cpp counts on: its domains, events and metrics.
#pragma once

#include <cupti_metrics.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string_view>
#include <vector>

namespace hilbench::fake {

inline std::uint64_t number(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::strtoull(text, nullptr, 0) : otherwise;
}

enum Domain : CUpti_EventDomainID { multiprocessors = 1, l2_slices, memory_channels };
struct Instances {
  std::uint32_t counted, total;
};
inline Instances instances_of(CUpti_EventDomainID domain) {
  if (domain == multiprocessors)
    return {static_cast<std::uint32_t>(number("HILBENCH_STUB_INSTANCES", 5)), 20};
  return domain == l2_slices ? Instances{8, 8} : Instances{2, 2};
}

enum Event : CUpti_EventID {
  loads = 101,
  requests,
  load_hits,
  l2_reads = 201,
  l2_hits,
  dram_reads = 301,
  dram_writes
};
struct EventInfo {
  Domain domain;
  std::uint64_t first;  // what the first instance counts
};
inline const std::map<CUpti_EventID, EventInfo> kEvents = {
    {loads, {multiprocessors, 100}},      {requests, {multiprocessors, 25}},
    {load_hits, {multiprocessors, 40}},   {l2_reads, {l2_slices, 50}},
    {l2_hits, {l2_slices, 30}},           {dram_reads, {memory_channels, 1000}},
    {dram_writes, {memory_channels, 500}}};

// The counts of a metric's events, in their sequence, and the time in ns.
using Evaluate = CUpti_MetricValue (*)(const std::vector<std::uint64_t>& counts, std::uint64_t time_ns);
struct Metric {
  std::string_view name;
  std::vector<CUpti_EventID> events;
  CUpti_MetricValueKind kind;
  Evaluate value;
};

inline CUpti_MetricValue of(std::uint64_t count) {
  CUpti_MetricValue value{};
  value.metricValueUint64 = count;
  return value;
}
inline CUpti_MetricValue of_real(double real) {
  CUpti_MetricValue value{};
  value.metricValueDouble = real;  // where a percentage stands too
  return value;
}
inline CUpti_MetricValue first(const std::vector<std::uint64_t>& counts, std::uint64_t) {
  return of(counts[0]);
}
inline CUpti_MetricValue bytes(const std::vector<std::uint64_t>& counts, std::uint64_t) {
  return of(32 * counts[0]);
}
inline CUpti_MetricValue ratio(const std::vector<std::uint64_t>& counts, std::uint64_t) {
  return of_real(static_cast<double>(counts[0]) / static_cast<double>(counts[1]));
}
inline CUpti_MetricValue percent(const std::vector<std::uint64_t>& counts, std::uint64_t) {
  return of_real(100 * static_cast<double>(counts[0]) / static_cast<double>(counts[1]));
}

// Metrics of the chip have the names that sets of counters use. Those that start with `fake` have kinds that
// no such metric has.
inline const std::vector<Metric>& metrics() {
  static const std::vector<Metric> all = {
      {"gld_transactions", {loads}, CUPTI_METRIC_VALUE_KIND_UINT64, first},
      {"gld_transactions_per_request", {loads, requests}, CUPTI_METRIC_VALUE_KIND_DOUBLE, ratio},
      {"global_hit_rate", {load_hits, loads}, CUPTI_METRIC_VALUE_KIND_PERCENT, percent},
      {"l2_tex_read_transactions", {l2_reads}, CUPTI_METRIC_VALUE_KIND_UINT64, first},
      {"l2_tex_read_hit_rate", {l2_hits, l2_reads}, CUPTI_METRIC_VALUE_KIND_PERCENT, percent},
      {"dram_read_bytes", {dram_reads}, CUPTI_METRIC_VALUE_KIND_UINT64, bytes},
      {"dram_write_bytes", {dram_writes}, CUPTI_METRIC_VALUE_KIND_UINT64, bytes},
      {"dram_read_throughput",
       {dram_reads},
       CUPTI_METRIC_VALUE_KIND_THROUGHPUT,
       [](const std::vector<std::uint64_t>& counts, std::uint64_t time_ns) {
         return of(32 * counts[0] * 1'000'000'000 / std::max<std::uint64_t>(time_ns, 1));
       }},
      {"dram_utilization",
       {dram_reads},
       CUPTI_METRIC_VALUE_KIND_UTILIZATION_LEVEL,
       [](const std::vector<std::uint64_t>&, std::uint64_t) {
         CUpti_MetricValue value{};
         value.metricValueUtilizationLevel = CUPTI_METRIC_VALUE_UTILIZATION_HIGH;
         return value;
       }},
      {"fake_int64",
       {dram_reads},
       CUPTI_METRIC_VALUE_KIND_INT64,
       [](const std::vector<std::uint64_t>& counts, std::uint64_t) {
         CUpti_MetricValue value{};
         value.metricValueInt64 = -static_cast<std::int64_t>(counts[0]);
         return value;
       }},
      {"fake_payload", {dram_reads}, CUPTI_METRIC_VALUE_KIND_FORCE_INT, first}};
  return all;
}
inline const Metric* metric_of(CUpti_MetricID id) {
  return id >= 1 && id <= metrics().size() ? &metrics()[id - 1] : nullptr;
}

}  // namespace hilbench::fake
