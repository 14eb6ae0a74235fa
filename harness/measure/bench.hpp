// What all variants of a comparison share.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "harness/device/device.hpp"
#include "harness/measure/comparison_task.hpp"
#include "harness/measure/inputs.hpp"
#include "harness/measure/oracle.hpp"
#include "harness/measure/ring_host.hpp"
#include "kernels/ring/shards.hpp"

namespace hilbench {

// Bytes of one row of a tensor with `heads` heads.
std::int64_t row_bytes(const Case& work, std::int64_t heads);

struct StoredInputs {
  Buffer q, k, v;
};

// Device, inputs, output buffers, oracles.
class Bench {
 public:
  // `ring_host`: where ranks of rings run. `task` outlives the bench.
  Bench(const ComparisonTask& task, std::unique_ptr<RingHost> ring_host);

  // Oracle of the case's own function (no slots), or of what a `tokens` order makes of it; computed once a
  // `key`.
  const Oracle& oracle(const std::string& key, std::span<const std::int32_t> slots);
  // Of the rows that a rank of a ring owns; computed once for each sharding. Ranks may ask at the same time.
  const Oracle& oracle_of_shard(const Shards& shards, std::int64_t rank, int rank_threads);

  // Of all devices: clocks, temperature, power and other programs. A ring's record tells of those beside the
  // first under `further`, and counts the programs on all of them. Throws as RingRanks::ask().
  void observe();
  nlohmann::json device_state() const;
  bool lost() const;  // some device, as Device::lost()

  const Case work;
  const int threads;
  const std::uint64_t seed;
  const CacheState cache;
  // GPUs of a ring beside `device`: the next ones, as many as it has ranks and the machine has GPUs; none
  // if the ranks are processes.
  const std::vector<std::unique_ptr<Device>> further_devices;
  const std::unique_ptr<Device> device;  // current on a GPU
  const InputTensors inputs;
  const Externals externals;
  // Of one rank only; the ranks of a ring have their own.
  StoredInputs stored;  // position order
  Buffer o, lse;        // written by whichever variant runs
  const std::unique_ptr<RingHost> rings;

 private:
  Buffer allocate(Tensor which);
  void fill(Tensor which, Buffer& buffer);

  std::map<std::string, Oracle> oracles_;
  std::mutex oracles_mutex_;
};

}  // namespace hilbench
