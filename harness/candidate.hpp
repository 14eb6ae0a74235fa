// A comparison's bench, and the candidates on it: variants made ready to run on shared inputs.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/device.hpp"
#include "harness/external.hpp"
#include "harness/inputs.hpp"
#include "harness/task.hpp"
#include "harness/verify.hpp"
#include "kernels/index.hpp"
#include "kernels/variant.hpp"

namespace hilbench {

// Bytes of one row of a tensor with `heads` heads.
std::int64_t row_bytes(const Case& work, std::int64_t heads);

struct StoredInputs {
  Buffer q, k, v;
};

// What all variants of a comparison share: device, inputs, output buffers, oracles.
class Bench {
 public:
  explicit Bench(const Task& task);

  // Oracle of the case's own function (no slots), or of what a `tokens` order makes of it; computed once a
  // `key`.
  const Oracle& oracle(const std::string& key, std::span<const std::int32_t> slots);

  const Case work;
  const int threads;
  const std::uint64_t seed;
  const std::unique_ptr<Device> device;
  const InputTensors inputs;
  const Externals externals;
  StoredInputs stored;  // position order
  Buffer o, lse;        // written by whichever variant runs

 private:
  Buffer allocate(Tensor which);
  void fill(Tensor which, Buffer& buffer);

  std::map<std::string, Oracle> oracles_;
};

// One variant made ready: its inputs in order, its index, its workspace.
class Candidate {
 public:
  // Throws Error where memory, order or kernel cannot be had, Unsupported where an external baseline says so.
  // `record.kernel` names the variant.
  Candidate(Bench& bench, const Record& record);

  // One execution: what is timed. Fresh buffers and a computed index are part of it.
  void run();

  // Of an external baseline, which times itself: durations of so many executions.
  std::vector<double> run_timed(std::int64_t executions) { return program_->run(executions); }
  bool times_itself() const { return program_ != nullptr; }
  std::string timer() const { return program_->timer(); }
  // Library, version and flags of a rival.
  nlohmann::json library() const;

  // The output of the last run; not to be read after the next.
  OutputReader output();

  const Variant& variant() const { return variant_; }
  const Index& index() const { return index_; }
  // Figures that the variant measures of itself (`peak`: copy bandwidth).
  std::map<std::string, Counter> measured() const;
  // Slots of a `tokens` variant, whose function differs; else empty.
  std::span<const std::int32_t> token_slots() const;
  // Putting the inputs into the order once (and a `tokens` output back); none for the linear order.
  std::optional<double> permute_ns() const { return permute_ns_; }

 private:
  Index build() const;
  std::unique_ptr<Execution> make_execution() const;
  Buffer permuted(const Buffer& from, std::int64_t heads);
  void permute_inputs();
  void unpermute_output();
  void read_elements(const Buffer& from, std::int64_t first, std::span<float> to) const;

  Bench& bench_;
  VariantSpec spec_;
  const Variant& variant_;
  StoredInputs inputs_;
  std::vector<std::int32_t> slots_;  // empty: linear
  Index index_;
  Buffer moved_o_, moved_lse_;  // `tokens` only
  std::unique_ptr<Execution> execution_;
  std::unique_ptr<ExternalProgram> program_;  // in place of an execution
  std::optional<double> permute_ns_;
};

}  // namespace hilbench
