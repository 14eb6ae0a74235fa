// Trying something foreign at arm's length.
#pragma once

#include <functional>
#include <string>

#include "kernels/base/library.hpp"

namespace hilbench {

struct Finding {
  bool works = false;
  std::string text;  // what was found, or why it does not work and what to do
};

// Runs `look` in a forked child and gives its finding. A child that crashes, throws or takes longer than
// `timeout_s` is a finding as well. `look` starts no thread.
Finding probe(const std::function<Finding()>& look, double timeout_s);

}  // namespace hilbench
