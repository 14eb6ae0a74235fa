// What all variants of a comparison share: device, inputs, output buffers and oracles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/device/device.hpp"
#include "harness/measure/comparison_task.hpp"
#include "harness/measure/forward_pass.hpp"
#include "harness/measure/gradient_probe.hpp"
#include "harness/measure/inputs.hpp"
#include "harness/measure/key_probe.hpp"
#include "harness/measure/oracle.hpp"
#include "harness/measure/ring_host.hpp"
#include "kernels/ring/shards.hpp"

namespace hilbench {

// Bytes of one row of a tensor with `heads` heads.
std::int64_t row_bytes(const Case& work, std::int64_t heads);

struct StoredInputs {
  Buffer q, k, v;
  Buffer d_o = {};  // if there are gradients
};

// Made once for each comparison.
class Bench {
 public:
  // `ring_host` runs the ranks of rings. `task` must outlive the bench.
  Bench(const ComparisonTask& task, std::unique_ptr<RingHost> ring_host);

  // The oracle of `rows` on these inputs; of the negated ones it is that of the second. It is computed once
  // for each function, set and entropy by which the rows were drawn.
  // If there are gradients, the bench must hold this set. Throws EnvironmentError if the forward pass that
  // they start from is wrong.
  const Oracle& oracle(const ComputedFunction& function, InputSet set, const DrawnRows& rows);

  // What the output of the key probe must be in rows that `entropy` draws.
  const KeyProbe& key_probe(const ComputedFunction& function, std::uint64_t entropy);
  // The same for gradients.
  const GradientProbe& gradient_probe(std::uint64_t entropy);
  // The same for the rows that `rank` owns, computed once for each sharding and rank. Several ranks may call
  // this at the same time.
  const KeyProbe& key_probe_of_shard(const Shards& shards, std::int64_t rank, int rank_threads,
                                     std::uint64_t entropy);

  const InputTensors& tensors(InputSet set) const;
  // Fills the stored inputs with this set, unless they hold it. Rings have their own.
  void hold(InputSet set);

  // Calls put(bytes, count) for parts of what the forward pass gave on the inputs that are held: of O as it
  // is stored, and of LSE.
  using Put = std::function<void(const std::byte* bytes, std::size_t count)>;
  void tell_forward(const Put& put_o, const Put& put_lse);

  // Reads elements of a tensor on the device from `first` on, widened to fp32.
  void read_elements(const Buffer& from, Dtype dtype, std::int64_t first, std::span<float> to);

  // Host memory of at least `bytes` for data on its way to or from the device. The next call may move it.
  std::byte* staging(std::size_t bytes);

  // observe() notes clocks, temperature, power and other programs of every device; device_state() sums them
  // up. With several devices, `further` lists all but the first, and `foreign_processes` counts the programs
  // on all of them. used_by_others() observes, and says whether there are any, now or before. All throw like
  // RingRanks::ask().
  void observe();
  nlohmann::json device_state() const;
  bool used_by_others();
  bool lost() const;  // true if any device is, see Device::lost()

  const Case work;
  const int threads;
  const std::uint64_t seed;
  const CacheState cache;
  // The GPUs after `device`, one for each further rank of a ring, as far as the machine has them. Empty if
  // the ranks are processes.
  const std::vector<std::unique_ptr<Device>> further_devices;
  const std::unique_ptr<Device> device;  // a GPU is the current one of this thread
  const InputTensors inputs, second_inputs, probe_inputs;
  const Externals externals;
  // Set if the case has one rank; the ranks of a ring have their own.
  StoredInputs stored;   // in position order
  Buffer o, lse;         // every variant writes these, unless the pass gives gradients alone
  Buffer d_q, d_k, d_v;  // every variant writes these if there are gradients
  const std::unique_ptr<ForwardPass> forward;  // of the inputs that are held; null if there are no gradients
  const std::unique_ptr<RingHost> rings;

 private:
  Buffer allocate(Tensor which);
  void fill(InputSet set, Tensor which, Buffer& buffer);
  void fill_all(InputSet set);
  ForwardRows forward_rows(InputSet set);
  const ForwardRows& right_forward_rows(InputSet set, const DrawnRows& rows);

  // The value of a key, made if it is not there. Other threads may ask for other keys at the same time.
  template <class Value, class Make>
  const Value& once(std::map<std::string, Value>& values, const std::string& key, const Make& make);

  std::map<std::string, Oracle> oracles_;
  std::map<std::string, KeyProbe> key_probes_;
  std::map<std::string, GradientProbe> gradient_probes_;
  std::map<std::string, ForwardRows> forward_rows_;
  std::mutex mutex_;  // of the maps
  std::optional<InputSet> held_ = InputSet::first;
  Buffer staging_;
};

}  // namespace hilbench
