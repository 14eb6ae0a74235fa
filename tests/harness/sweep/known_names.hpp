// Names that the sweep tests use in place of the program's tables.
#pragma once

#include "harness/sweep/sweep.hpp"

namespace hilbench {

inline KnownNames test_names() {
  return {.kernels = {"dilated", "dilated_cpu"},
          .baselines = {"reference", "gemm", "peak", "torch_sdpa", "torch_sdpa.math"},
          .externals = {"torch_sdpa"},
          .orders = {{"linear"},
                     {"snake", NameParam::chunk},
                     {"hilbert", NameParam::chunk},
                     {"residue", NameParam::positive},
                     {"bitrev_residue", NameParam::power_of_two},
                     {"random", NameParam::seed},
                     {"file"},
                     {"auto"}},
          .traversals = {{"head_major"}, {"sawtooth"}, {"grouped", NameParam::positive}},
          .counters = {"default", "caches"}};
}

}  // namespace hilbench
