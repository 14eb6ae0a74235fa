// A comparison's bench, and the candidates on it: variants made ready to run on shared inputs.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/device/device.hpp"
#include "harness/measure/comparison_task.hpp"
#include "harness/measure/inputs.hpp"
#include "harness/measure/verify.hpp"
#include "kernels/implementation.hpp"
#include "kernels/index/index.hpp"
#include "kernels/ring/shards.hpp"

namespace hilbench {

struct CounterSet;
class LaunchedProcesses;
class LaunchedRings;

// Bytes of one row of a tensor with `heads` heads.
std::int64_t row_bytes(const Case& work, std::int64_t heads);

struct StoredInputs {
  Buffer q, k, v;
};

// What all variants of a comparison share: device, inputs, output buffers, oracles.
class Bench {
 public:
  // `processes`: those of an MPI program that this one is of. `task` outlives the bench.
  explicit Bench(const ComparisonTask& task, LaunchedProcesses* processes = nullptr);
  ~Bench();

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
  // GPUs of a ring beside `device`: the next ones, as many as it has ranks and the machine has GPUs; of
  // `processes` each has its own.
  const std::vector<std::unique_ptr<Device>> further_devices;
  const std::unique_ptr<Device> device;  // current on a GPU
  const InputTensors inputs;
  const Externals externals;
  // Of one rank only; the ranks of a ring have their own.
  StoredInputs stored;                         // position order
  Buffer o, lse;                               // written by whichever variant runs
  const std::unique_ptr<LaunchedRings> rings;  // of `processes`; else null

 private:
  Buffer allocate(Tensor which);
  void fill(Tensor which, Buffer& buffer);

  std::map<std::string, Oracle> oracles_;
  std::mutex oracles_mutex_;
};

// One variant made ready: its inputs in order, its index, its workspace.
class PreparedVariant {
 public:
  virtual ~PreparedVariant() = default;

  // One execution: what is timed. Fresh buffers and a computed index are part of it.
  virtual void run() = 0;

  // Of an external baseline and of a ring, which time themselves: durations of so many executions.
  virtual std::vector<double> run_timed(std::int64_t /*executions*/) { return {}; }
  virtual bool times_itself() const { return false; }
  virtual std::string timer() const { return ""; }
  // Devices like the bench's that it runs on together.
  virtual int devices() const { return 1; }
  // Why hardware counters do not see its work; empty: they do.
  virtual std::string why_not_counted() const { return ""; }
  // Of a ring, whose ranks count: what they do in an execution. Nothing: run() may be counted as it is.
  virtual std::optional<std::map<std::string, Counter>> count(const CounterSet&) { return std::nullopt; }
  // Library, version and flags of a rival.
  virtual nlohmann::json library() const { return nullptr; }
  // Of a ring: how its ranks exchange data.
  virtual nlohmann::json transport() const { return nullptr; }

  // Sets every byte of the output.
  virtual void fill_output(std::byte value) = 0;
  // The output of the last run against the oracle.
  virtual VerifyResult verify() = 0;
  // The output of the last run; not to be read after the next.
  virtual OutputReader output() = 0;

  const Implementation& implementation() const { return implementation_; }
  // Null where one index does not tell all that is read.
  virtual const Index* index() const { return nullptr; }
  // Figures that the variant measures of itself (`peak`: copy bandwidth). The output is lost.
  virtual std::map<std::string, Counter> measured() = 0;
  // Slots of a `tokens` variant, whose function differs; else empty.
  virtual std::span<const std::int32_t> token_slots() const { return {}; }
  // Putting the inputs into the order once (and a `tokens` output back); none for the linear order.
  virtual std::optional<double> permute_ns() const = 0;

 protected:
  explicit PreparedVariant(const Implementation& implementation) : implementation_(implementation) {}

 private:
  const Implementation& implementation_;
};

// Throws Error where memory, order or kernel cannot be had, Unsupported where an external baseline says so.
// `record.kernel` names the variant.
std::unique_ptr<PreparedVariant> make_variant(Bench& bench, const Record& record);

}  // namespace hilbench
