// Q, K and V as external programs read them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "harness/measure/inputs.hpp"
#include "kernels/base/process/shared_file.hpp"

namespace hilbench {

// Files of raw elements in the case's dtype, in position order, BSHD. The programs of a comparison share
// them, so no program can change them.
struct InputFiles {
  std::shared_ptr<const SharedFile> q, k, v;
  // A byte of 0 or 1 for each block of queries and block of keys; null without a mask.
  std::shared_ptr<const SharedFile> mask;
};

// The files of each set, written when they are first asked for.
class InputFileSets {
 public:
  // The tensors of `tensors(set)` are made for `work`, and read with `threads` threads.
  using Tensors = std::function<const InputTensors&(InputSet set)>;
  InputFileSets(Tensors tensors, Case work, int threads);

  // Throws EnvironmentError.
  InputFiles of(InputSet set);
  // Programs that need the files of this set again get new ones.
  void release(InputSet set);

 private:
  std::shared_ptr<const SharedFile> write(InputSet set, Tensor which) const;

  const Tensors tensors_;
  const Case work_;
  const int threads_;
  std::map<InputSet, InputFiles> sets_;
  std::shared_ptr<const SharedFile> mask_;
};

// Tensors in which two sets differ.
std::vector<Tensor> changed_tensors(InputSet from, InputSet to);

}  // namespace hilbench
