// Records of rings whose times follow a known model, with noise on request.
#pragma once

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <random>
#include <vector>

#include "harness/predict/fit.hpp"

namespace hilbench {

// About what an H200 and its links are: 500 TFLOP/s, 150 GB/s, tiles of 128 rows on 132 multiprocessors.
inline RingModel known_model() {
  //             launch  flop      row     tile  clear   start  latency byte     pack
  return {.ns = {4000, 0.002e-3, 0.3e-3, 1500, 0.4e-3, 9000, 20000, 0.0067, 0.0005}, .hidden = 0.9};
}

struct Noise {
  double relative = 0;
  std::mt19937_64 random{7};
  double factor() {
    if (relative == 0) return 1;
    return std::exp(std::normal_distribution<double>(0, relative)(random));
  }
};

inline Record ring_record(const Case& work, const Variant& variant, const RingModel& model, Noise& noise) {
  Record record;
  record.work = work;
  record.variant = variant;
  record.case_id = case_id(work);
  record.variant_id = variant_id(variant);
  record.kernel = "dilated_wgmma";
  record.environment = {{"device", {{"name", "NVIDIA Example"}, {"memory_bytes", std::int64_t{80} << 30}}}};
  const RingShape shape = ring_shape(work, variant, {});
  const double ns = model_time(shape, model).ns * noise.factor();
  record.time = Timing{.median_ns = ns, .ci_ns = {ns * 0.99, ns * 1.01}, .samples_ns = {ns}};
  if (work.ring_size == 1) return record;
  const auto measured = [&](RingPart part) {
    return Counter{
        .value = model_time(shape, model, part).ns * noise.factor(), .unit = "ns", .source = "measured"};
  };
  record.counters["ring_compute_ns"] = measured(RingPart::computation);
  if (shape.sent_bytes > 0) record.counters["ring_exchange_ns"] = measured(RingPart::exchange);
  record.comm_bytes = shape.sent_bytes;
  return record;
}

// Records of several lengths, patterns and numbers of heads on rings of these sizes. `more`, if given, is an
// order whose computation takes `factor` times that of linear order.
inline std::vector<Record> ring_records(const std::vector<std::int64_t>& rings, const RingModel& model,
                                        Noise noise, const std::string& more = "", double factor = 1) {
  RingModel other = model;
  for (const Coefficient of_computation :
       {Coefficient::launch, Coefficient::flop, Coefficient::row, Coefficient::tile, Coefficient::clear})
    other.ns[static_cast<std::size_t>(of_computation)] *= factor;
  std::vector<Record> records;
  for (const std::int64_t ranks : rings)
    for (const std::int64_t length : {4096, 16384, 65536, 262144})
      for (const std::int64_t dilation : {1, 8})
        for (const Mask mask : {Mask::full, Mask::causal}) {
          Case work{.sequence_length = length,
                    .pattern = {{length, dilation}},
                    .heads = dilation == 1 ? 16 : 4,
                    .kv_heads = dilation == 1 ? 16 : 4,
                    .head_dim = 128,
                    .dtype = Dtype::bf16,
                    .mask = mask,
                    .ring_size = ranks,
                    .device = DeviceKind::cuda};
          Variant variant{KernelChoice{.name = "dilated"}};
          for (const RingAlgorithm algorithm :
               {RingAlgorithm::automatic, RingAlgorithm::allgather, RingAlgorithm::ring_packed}) {
            variant.ring.algorithm = algorithm;
            records.push_back(ring_record(work, variant, model, noise));
          }
          variant.ring.algorithm = RingAlgorithm::automatic;
          if (more.empty()) continue;
          variant.change().order = more;
          records.push_back(ring_record(work, variant, other, noise));
        }
  return records;
}

}  // namespace hilbench
