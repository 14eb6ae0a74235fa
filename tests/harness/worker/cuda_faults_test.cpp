// The whole path on a GPU with kernels that fault, hang, give wrong output, need too much memory, or share
// the GPU with another process. This program has its own table of implementations, cuda_spoiled_variants.cpp,
// instead of baselines/table.cpp. It is also the worker that the supervisor starts, and the other process on
// the GPU.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "harness/commands/run.hpp"
#include "harness/counters/counters.hpp"
#include "harness/worker/worker.hpp"
#include "kernels/machine/gpu.hpp"
#include "reports/records/store.hpp"
#include "reports/report.hpp"
#include "reports/view/results.hpp"
#include "tests/kernels/cuda/faults.hpp"

namespace hilbench {
namespace {

constexpr double kTimeout_s = 6;

// Starts this program as another process on the GPU; `part` says what it does there.
class OtherProcess {
 public:
  enum class Family { ours, foreign };

  OtherProcess(const char* part, Family family) {
    int ready[2];
    if (::pipe(ready) != 0) throw std::runtime_error("no pipe");
    // A run adopts orphans below this program; a foreign process must not be among them.
    if (family == Family::foreign) ::prctl(PR_SET_CHILD_SUBREAPER, 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::close(ready[0]);
      // A grandchild whose parent has ended is linked to this program by this pipe only.
      if (family == Family::foreign && (::setsid() < 0 || ::fork() != 0)) ::_exit(0);
      const pid_t self = ::getpid();
      const std::string end = std::to_string(ready[1]);
      if (::write(ready[1], &self, sizeof self) == sizeof self)
        ::execl("/proc/self/exe", "other", "other", part, end.c_str(), nullptr);
      ::_exit(127);
    }
    ::close(ready[1]);
    ready_ = ready[0];
    reaped_ = family == Family::foreign;
    if (reaped_) ::waitpid(child, nullptr, 0);
    char told = 0;
    if (::read(ready_, &pid_, sizeof pid_) != sizeof pid_ || ::read(ready_, &told, 1) != 1)
      throw std::runtime_error("the other process did not get ready");
  }
  ~OtherProcess() {
    ::kill(pid_, SIGKILL);
    if (!reaped_) ::waitpid(pid_, nullptr, 0);
    char more = 0;
    while (::read(ready_, &more, 1) > 0) continue;  // the pipe closes when the process ends
    ::close(ready_);
  }
  OtherProcess(const OtherProcess&) = delete;
  OtherProcess& operator=(const OtherProcess&) = delete;

 private:
  pid_t pid_ = -1;
  int ready_ = -1;
  bool reaped_ = false;
};

int play_other(const std::string& part, int ready) {
  constexpr std::size_t kLeft = std::size_t{1200} << 20;  // a context needs about 600 MiB of it
  if (part == "greedy") cuda::fill_memory_but(kLeft);
  cuda::keep_busy(0.01);
  std::unique_ptr<CounterBackend> counters;
  if (part == "counting") {
    counters = open_counters(counter_set("default", counter_target(DeviceKind::cuda)), 1);
    counters->begin(0);
  }
  if (::write(ready, "r", 1) != 1) return 1;
  while (part == "busy") cuda::keep_busy(1);
  for (;;) ::pause();
}

class CudaFaults : public testing::Test {
 protected:
  CudaFaults() {
    std::string pattern = testing::TempDir() + "hilbench-faults-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  ~CudaFaults() override { std::filesystem::remove_all(folder_); }

  // Measures two comparisons: `dilated_simt` in two orders, the twin of its linear order, and `more` in one,
  // on this many ranks, which may share a GPU.
  std::vector<Record> measure(const std::vector<std::string>& more, ExitCode expected,
                              const std::string& counters = "", int ranks = 1) {
    std::ofstream sweep(folder_ / "sweep.yaml");
    sweep << "name: faults\naxes: {sequence_length: [256, 512], segments: [[" << (ranks == 1 ? 64 : 512)
          << "]], dilations: [[2]], heads: 2,\n       head_dim: 32, ring_size: " << ranks
          << "}\nvariants:\n"
             "  - {kernel: dilated_simt, order: [linear, random]}\n";
    for (const std::string& kernel : more) sweep << "  - {kernel: " << kernel << ", order: linear}\n";
    sweep << "reference: dilated_simt/linear\nmeasure: {budget_s: 0.2, min_rounds: 5, oversubscribe: true, "
          << "timeout_s: " << kTimeout_s << "}\n"
          << counters;
    sweep.close();
    EXPECT_EQ(run_command({.sweep = {.file = folder_ / "sweep.yaml", .device = "cuda"},
                           .folder = folder_ / "out",
                           .fresh = true,
                           .command = "test"}),
              expected);
    return Store::open_for_reading(folder_ / "out").records();
  }

  // In both comparisons, all variants but the spoiled one must be measured as if it were not there.
  static void expect_others_ok(const std::vector<Record>& records, const std::string& spoiled) {
    ASSERT_EQ(records.size(), 8u);
    for (const Record& record : records) {
      if (record.kernel == spoiled) continue;
      EXPECT_EQ(record.status, Status::ok)
          << record.case_id << " " << record.variant_id << ": " << record.reason;
      EXPECT_TRUE(record.time);
      EXPECT_TRUE(record.verify);
    }
  }

  std::filesystem::path folder_;
};

class FaultyKernel : public CudaFaults, public testing::WithParamInterface<std::array<const char*, 3>> {};

TEST_P(FaultyKernel, CostsItsOwnRecordsAndNothingElse) {
  const auto [kernel, phase, error] = GetParam();
  const auto start = std::chrono::steady_clock::now();
  const auto records = measure({kernel}, ExitCode::failed, "counters: [default]\n");
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  expect_others_ok(records, kernel);
  for (const Record& record : records) {
    if (record.kernel != kernel) continue;
    std::printf("%s: %s\n", kernel, record.reason.c_str());
    EXPECT_EQ(record.status, Status::failed);
    EXPECT_EQ(record.reason.find(phase), 0u) << record.reason;
    EXPECT_NE(record.reason.find(error), std::string::npos) << record.reason;
    EXPECT_EQ(record.reason.find('\n'), std::string::npos) << record.reason;
    EXPECT_FALSE(record.time);
  }
  // Each hang costs one timeout per comparison; everything else is quick.
  EXPECT_LT(spent.count(), 2 * kTimeout_s + 40);
}

constexpr const char* kIllegal = "an illegal memory access was encountered (cudaErrorIllegalAddress)";
constexpr const char* kHung = "no progress for 6 s: the worker counts as hung and was stopped";
constexpr const char* kTooMuch = "no 1024.00 GiB of GPU memory: ";
INSTANTIATE_TEST_SUITE_P(
    Kinds, FaultyKernel,
    testing::Values(std::array{"fault", "", kIllegal}, std::array{"fault_when_timed", "time: ", kIllegal},
                    std::array{"fault_when_counted", "count: ", kIllegal},
                    std::array{"hang", "verify: ", kHung}, std::array{"hang_when_timed", "time: ", kHung},
                    std::array{"poison", "", " output values are NaN, infinite or were never written"},
                    std::array{"greedy", "", kTooMuch}, std::array{"ask_too_much", "", kTooMuch}),
    [](const auto& faulty) { return std::string(faulty.param[0]); });

class FaultyRing : public CudaFaults, public testing::WithParamInterface<std::array<const char*, 3>> {};

TEST_P(FaultyRing, CostsItsOwnRecordsAndNothingElse) {
  const auto [kernel, phase, error] = GetParam();
  const auto start = std::chrono::steady_clock::now();
  const auto records = measure({kernel}, ExitCode::failed, "", 3);
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  expect_others_ok(records, kernel);
  for (const Record& record : records) {
    if (record.kernel != kernel) continue;
    std::printf("%s: %s\n", kernel, record.reason.c_str());
    EXPECT_EQ(record.status, Status::failed);
    EXPECT_EQ(record.reason.find(phase), 0u) << record.reason;
    EXPECT_NE(record.reason.find(error), std::string::npos) << record.reason;
    EXPECT_EQ(record.reason.find('\n'), std::string::npos) << record.reason;
  }
  EXPECT_LT(spent.count(), 2 * kTimeout_s + 40);
}
INSTANTIATE_TEST_SUITE_P(
    Kinds, FaultyRing,
    testing::Values(std::array{"fault", "", kIllegal}, std::array{"hang", "verify: ", kHung},
                    std::array{"poison", "", " output values are NaN, infinite or were never written"},
                    std::array{"greedy", "rank ", kTooMuch}),
    [](const auto& faulty) { return std::string(faulty.param[0]); });

TEST_F(CudaFaults, OutOfMemorySaysWhatWasAskedForWhatIsFreeAndWhatToDo) {
  const auto records = measure({"greedy"}, ExitCode::failed);
  const std::regex wanted(
      R"(no 1024\.00 GiB of GPU memory: [0-9.]+ GiB of [0-9.]+ GiB are free \(cudaErrorMemoryAllocation\); end .*)");
  for (const Record& record : records) {
    if (record.kernel != "greedy") continue;
    EXPECT_TRUE(std::regex_match(record.reason, wanted)) << record.reason;
  }
}

TEST_F(CudaFaults, ThePlanRefusesWhatCannotFit) {
  const auto records = measure({"large"}, ExitCode::done);
  expect_others_ok(records, "large");
  for (const Record& record : records) {
    if (record.kernel != "large") continue;
    EXPECT_EQ(record.status, Status::skipped);
    EXPECT_EQ(record.reason.find("does not fit: the comparison would need 1024.00 GiB of "), 0u)
        << record.reason;
  }
}

// Long inputs do not fit next to the other process, short ones do.
TEST_F(CudaFaults, AFullDeviceFailsWhatDoesNotFitAndMeasuresTheRest) {
  std::vector<Record> records;
  {
    const OtherProcess other("greedy", OtherProcess::Family::ours);
    std::ofstream(folder_ / "sweep.yaml") << "name: full\n"
                                             "axes: {sequence_length: [1048576, 256], segments: [[64]], "
                                             "dilations: [[64]], heads: 2, head_dim: 64}\n"
                                             "variants: [{kernel: dilated_simt, order: linear}]\n"
                                             "measure: {budget_s: 0.1, min_rounds: 3, timeout_s: 60}\n";
    EXPECT_EQ(
        run_command({.sweep = {.file = folder_ / "sweep.yaml", .device = "cuda"}, .folder = folder_ / "out"}),
        ExitCode::failed);
    records = Store::open_for_reading(folder_ / "out").records();
  }
  ASSERT_EQ(records.size(), 4u);  // each variant has a twin
  const std::regex wanted(R"(GPU memory: [0-9.]+ GiB of [0-9.]+ GiB are free)");
  for (const Record& record : records) {
    std::printf("%s\n", record.reason.c_str());
    if (record.case_id.starts_with("n256-"))
      EXPECT_EQ(record.status, Status::ok) << record.reason;
    else
      EXPECT_TRUE(record.status == Status::failed && std::regex_search(record.reason, wanted))
          << record.reason;
  }
}

TEST_F(CudaFaults, NoVerdictWhereAnotherProcessUsesTheGpu) {
  std::vector<Record> records;
  {
    const OtherProcess other("busy", OtherProcess::Family::foreign);
    measure({}, ExitCode::done);
    records = read_results(folder_ / "out").records;
  }
  ASSERT_EQ(records.size(), 6u);
  std::printf("device_state %s\n", (*records[0].environment)["device_state"].dump().c_str());
  for (const Record& record : records) {
    EXPECT_EQ(record.status, Status::ok) << record.reason;
    EXPECT_TRUE(record.time);
    EXPECT_GE(foreign_processes(record), 1);
    EXPECT_FALSE(record.speedup);
  }
  write_report(read_results(folder_ / "out"), folder_ / "report");
  std::stringstream text;
  text << std::ifstream(folder_ / "report" / "report.md").rdbuf();
  EXPECT_NE(text.str().find("withheld: another process used the GPU"), std::string::npos);

  // Without the other process there is a verdict.
  measure({}, ExitCode::done);
  for (const Record& record : read_results(folder_ / "out").records) {
    EXPECT_EQ(foreign_processes(record), 0);
    EXPECT_EQ(record.speedup.has_value(), record.variant_id != "dilated_simt/linear");
  }
}

TEST_F(CudaFaults, AnotherProcessOfThisRunIsNotForeign) {
  const OtherProcess other("busy", OtherProcess::Family::ours);
  for (const Record& record : measure({}, ExitCode::done)) EXPECT_EQ(foreign_processes(record), 0);
}

// CUPTI of CUDA 12.4 lets both count on an H200 (driver 580): then the record says who else used the GPU.
TEST_F(CudaFaults, AnotherProcessThatCountsTakesTheCountersAndNotTheTimes) {
  const OtherProcess other("counting", OtherProcess::Family::foreign);
  const auto records = measure({}, ExitCode::done, "counters: [default]\n");
  for (const Record& record : records) {
    EXPECT_EQ(record.status, Status::ok) << record.reason;
    EXPECT_TRUE(record.time);
    const Counter& counter = record.counters.at("dram_read_bytes");
    std::printf("dram_read_bytes: %s\n", counter.value ? "counted" : counter.reason.c_str());
    if (counter.value) {
      EXPECT_GE(foreign_processes(record), 1);
    } else {
      EXPECT_NE(counter.reason.find("another profiler holds the counting hardware"), std::string::npos)
          << counter.reason;
    }
  }
}

TEST_F(CudaFaults, ADeviceThatIsNotThereIsSaidAtOnce) {
  std::ofstream(folder_ / "sweep.yaml")
      << "name: absent\n"
         "axes: {sequence_length: 256, segments: [[64]], dilations: [[2]]}\n"
         "variants: [{kernel: dilated_simt, order: linear}]\n";
  try {
    run_command({.sweep = {.file = folder_ / "sweep.yaml", .device = "cuda:99"}, .folder = folder_ / "out"});
    FAIL() << "it ran";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::environment);
    EXPECT_NE(std::string(error.what()).find("no device cuda:99 (--device): GPUs here: "), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace hilbench

int main(int argc, char** argv) {
  if (argc == 4 && std::strcmp(argv[1], "worker") == 0)
    return hilbench::worker_main(std::atoi(argv[2]), std::atoi(argv[3]));
  if (argc == 4 && std::strcmp(argv[1], "other") == 0)
    return hilbench::play_other(argv[2], std::atoi(argv[3]));
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
