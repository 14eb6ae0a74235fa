#include "harness/run/resume.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>

#include "kernels/base/text/error.hpp"
#include "tests/harness/run/run_sweep.hpp"

namespace hilbench {
namespace {

namespace fs = std::filesystem;

Sweep base_sweep() {
  return parse(
      "cases:\n  - {sequence_length: 4096, segments: [2048]}\n"
      "variants: [{kernel: dilated, order: [linear, hilbert]}]\n");
}

std::string fingerprint_of(const Sweep& sweep) {
  return fingerprint(sweep, make_plan(sweep, test_site()).comparisons.at(0));
}

TEST(Fingerprint, IsTheSameForTheSameSettings) {
  EXPECT_EQ(fingerprint_of(base_sweep()), fingerprint_of(base_sweep()));
  EXPECT_EQ(fingerprint_of(base_sweep()).find(":{"), 16u + 1 + 3 * 16 + 2)
      << "settings, two variants and a twin";
}

TEST(Fingerprint, CoversWhatAsksForFewerVariants) {
  const Sweep sweep = base_sweep();
  Comparison comparison = make_plan(sweep, test_site()).comparisons.at(0);
  const std::string all = fingerprint(sweep, comparison);
  comparison.variants.erase(comparison.variants.begin());
  const std::string one = fingerprint(sweep, comparison);
  EXPECT_TRUE(covers(all, all));
  EXPECT_TRUE(covers(all, one));
  EXPECT_FALSE(covers(one, all));
  Sweep other = base_sweep();
  other.measure.seed = 2;
  EXPECT_FALSE(covers(fingerprint(other, make_plan(other, test_site()).comparisons.at(0)), one));
  EXPECT_FALSE(covers("0123456789abcdef", one)) << "of another version";
}

TEST(Fingerprint, DiffersWithEachSetting) {
  const std::vector<std::pair<std::string, std::function<void(Sweep&)>>> changes = {
      {"interval", [](Sweep& sweep) { sweep.measure.interval = 0.03; }},
      {"budget_s", [](Sweep& sweep) { sweep.measure.budget_s = 31; }},
      {"min_rounds", [](Sweep& sweep) { sweep.measure.min_rounds = 11; }},
      {"cache", [](Sweep& sweep) { sweep.measure.cache = CacheState::cold; }},
      {"steady", [](Sweep& sweep) { sweep.measure.steady = true; }},
      {"steady_s",
       [](Sweep& sweep) {
         sweep.measure.steady = true;
         sweep.measure.steady_s = 3;
       }},
      {"seed", [](Sweep& sweep) { sweep.measure.seed = 2; }},
      {"margin", [](Sweep& sweep) { sweep.measure.margin = 0.02; }},
      {"timeout_s", [](Sweep& sweep) { sweep.measure.timeout_s = 301; }},
      {"counters", [](Sweep& sweep) { sweep.counters = {"default"}; }},
      {"reference", [](Sweep& sweep) { sweep.reference = "dilated/hilbert"; }},
      {"fewer variants", [](Sweep& sweep) { sweep.variants.pop_back(); }},
      {"order_chunk", [](Sweep& sweep) { sweep.variants.back().change().order_chunk = 512; }},
      {"order_file", [](Sweep& sweep) { sweep.variants.back().change().order_file_hash = 7; }},
      {"buffers", [](Sweep& sweep) { sweep.variants.back().change().buffers = Buffers::fresh; }},
      {"rows", [](Sweep& sweep) { sweep.variants.back().change().rows = KeyRows::gathered; }},
      {"case", [](Sweep& sweep) { sweep.cases.at(0).work.batch = 2; }},
  };
  std::set<std::string> seen = {fingerprint_of(base_sweep())};
  for (const auto& [name, change] : changes) {
    Sweep sweep = base_sweep();
    change(sweep);
    EXPECT_TRUE(seen.insert(fingerprint_of(sweep)).second) << name;
  }
  Site other = test_site();
  other.host.cores = 1;
  if (::getenv("OMP_NUM_THREADS") == nullptr) {
    const Sweep sweep = base_sweep();
    EXPECT_TRUE(seen.insert(fingerprint(sweep, make_plan(sweep, other).comparisons.at(0))).second)
        << "threads";
  }
}

TEST(Fingerprint, IsTheSameForMoreProcesses) {
  Sweep more = base_sweep();
  more.measure.processes = 5;
  EXPECT_EQ(fingerprint_of(more), fingerprint_of(base_sweep()));
}

class FingerprintOfFiles : public testing::Test {
 protected:
  FingerprintOfFiles() { fs::create_directories(folder_); }
  ~FingerprintOfFiles() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  const fs::path folder_ = fs::path(testing::TempDir()) / ("resume_test_" + std::to_string(::getpid()));
};

TEST_F(FingerprintOfFiles, DiffersWithTheFilesOfInputs) {
  Sweep sweep = base_sweep();
  sweep.inputs.source = InputSource::npy;
  for (fs::path* file : {&sweep.inputs.q, &sweep.inputs.k, &sweep.inputs.v}) {
    *file = folder_ / "tensor.npy";
    std::ofstream(*file) << "one";
  }
  const std::string before = fingerprint_of(sweep);
  EXPECT_EQ(fingerprint_of(sweep), before);
  std::ofstream(sweep.inputs.q) << "three";
  EXPECT_NE(fingerprint_of(sweep), before);
  fs::remove(sweep.inputs.q);
  EXPECT_THROW(fingerprint_of(sweep), UsageError);
}

}  // namespace
}  // namespace hilbench
