// What external programs compute with, as they read it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harness/measure/inputs.hpp"
#include "kernels/base/process/shared_file.hpp"

namespace hilbench {

// Files of raw elements in the case's dtype, in position order, BSHD. The programs of a comparison share
// them, so no program can change them.
struct InputFiles {
  std::shared_ptr<const SharedFile> q, k, v;
  // With gradients: dO and O like Q, and LSE in fp32; otherwise null.
  std::shared_ptr<const SharedFile> d_o, o, lse;
  // A byte of 0 or 1 for each block of queries and block of keys; null without a mask.
  std::shared_ptr<const SharedFile> mask;
};

// How K and V of a kernel lie in memory.
struct StoredOrder {
  std::string key = {};                  // the same for equal orders of a case
  std::vector<std::int32_t> slots = {};  // of each position; empty: in position order
};

// The files of each set, written when they are first asked for.
class InputFileSets {
 public:
  // The tensors of `tensors(set)` are made for `work`, and read with `threads` threads.
  using Tensors = std::function<const InputTensors&(InputSet set)>;
  // Calls put(bytes, count) for what the forward pass gives on a set: of O as it is stored, then of LSE. Not
  // called without gradients.
  using Put = std::function<void(const std::byte* bytes, std::size_t count)>;
  using Forward = std::function<void(InputSet set, const Put& o, const Put& lse)>;
  InputFileSets(Tensors tensors, Forward forward, Case work, int threads);

  // Throws EnvironmentError. With gradients every tensor is in position order.
  InputFiles of(InputSet set, const StoredOrder& order = {});
  // Programs that need the files of this set again get new ones.
  void release(InputSet set);

 private:
  using File = std::shared_ptr<const SharedFile>;
  File write(InputSet set, Tensor which, const StoredOrder& order = {}) const;
  void write_in_order(InputSet set, Tensor which, const StoredOrder& order, SharedFile& file) const;
  void negate_if_asked(InputSet set, Tensor which, std::vector<std::byte>& part) const;
  File forward_file(InputSet set, Tensor which, const StoredOrder& order);
  void add_gradient_files(InputSet set, InputFiles& files);

  const Tensors tensors_;
  const Forward forward_;
  const Case work_;
  const int threads_;
  std::map<InputSet, std::map<std::pair<Tensor, std::string>, File>> tensors_of_;  // by tensor and order
  std::map<InputSet, InputFiles> sets_;                                            // with gradients
  File mask_;
};

// Names of what differs in two sets: "q", "k", "v", with gradients "d_o", "o", "lse" too.
std::vector<std::string> changed_inputs(const Case& work, InputSet from, InputSet to);

}  // namespace hilbench
