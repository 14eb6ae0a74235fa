#include "harness/sweep.hpp"

#include <gtest/gtest.h>

#include "harness/error.hpp"

namespace hilbench {
namespace {
KnownNames known() {
  return {.kernels = {"dilated", "dilated_cpu"},
          .baselines = {"gemm", "peak"},
          .orders = {{"linear"}, {"snake", NameParam::chunk}, {"hilbert", NameParam::chunk}, {"residue", NameParam::positive}, {"bitrev_residue", NameParam::power_of_two}, {"random", NameParam::seed}, {"file"}, {"auto"}},
          .traversals = {{"head_major"}, {"sawtooth"}, {"grouped", NameParam::positive}},
          .counters = {"default"}};
}
TEST(Sweep, Quick) {
  const Sweep sweep = load_sweep(SWEEPS "/quick.yaml", {}, known());
  for (const SweepCase& c : cases_of(sweep)) puts(case_id(c.work).c_str());
  for (const VariantSpec& v : sweep.variants) puts(variant_id(v).c_str());
  puts(sweep.reference.c_str());
}
}  // namespace
}  // namespace hilbench
