// The inputs of a bench, for the programs of its comparison.
#pragma once

#include "harness/external/comparison_programs.hpp"
#include "harness/measure/bench.hpp"

namespace hilbench {

// `bench` must outlive the programs.
inline void set_inputs(Bench& bench, ComparisonPrograms& programs) {
  programs.set_inputs([&bench](InputSet set) -> const InputTensors& { return bench.tensors(set); },
                      [&bench](InputSet set, const InputFileSets::Put& o, const InputFileSets::Put& lse) {
                        bench.hold(set);
                        bench.tell_forward(o, lse);
                      },
                      bench.device->multiprocessors().value_or(bench.threads));
}

}  // namespace hilbench
