// Programs of one comparison, as shell scripts.
#include "harness/external/comparison_programs.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include "kernels/base/text/error.hpp"

namespace hilbench {
namespace {

const std::string kHello =
    R"(read line; echo '{"protocol": 1, "name": "x", "version": "1", "devices": ["cpu"]}'; )";
// Answers `load` with the request as its timer's neighbour: the paths of the inputs are in the description
// then.
const std::string kLoad = R"(read line; echo "{\"timer\": \"t\", \"asked\": $line}"; read line)";

Record record_of(const std::string& name) {
  Record record;
  record.work = {.sequence_length = 8,
                 .pattern = {{8, 1}},
                 .heads = 1,
                 .kv_heads = 1,
                 .head_dim = 8,
                 .device = DeviceKind::cpu};
  record.threads = 1;
  record.variant_id = record.kernel = name;
  record.variant = {BaselineName{name}};
  return record;
}

// A task with a program for each script, named a, b, c ...
ComparisonTask task_of(const std::vector<std::string>& scripts) {
  ComparisonTask task;
  for (const std::string& script : scripts) {
    const std::string name(1, static_cast<char>('a' + task.records.size()));
    task.externals[name] = {.command = {"sh", "-c", script}, .folder = "/"};
    task.records.push_back(record_of(name));
  }
  return task;
}

std::unique_ptr<ExternalProgram> load(ComparisonPrograms& programs, const Record& record) {
  static const InputTensors kInputs(record.work, {}, 1);
  programs.set_inputs([](InputSet) -> const InputTensors& { return kInputs; }, {});
  return programs.load(record);
}

std::string complaint_of(ComparisonPrograms& programs, const Record& record) {
  try {
    programs.greet(record);
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

TEST(ComparisonPrograms, HaveExternalBaselinesAndKernelsOnly) {
  ComparisonTask task = task_of({""});
  task.externals["mine"] = {.command = {"true"}, .folder = "/", .kind = ImplementationKind::kernel};
  const ComparisonPrograms programs(task);
  EXPECT_TRUE(programs.has(record_of("a")));
  EXPECT_TRUE(programs.has(record_of("a.fast")));
  EXPECT_FALSE(programs.has(record_of("gemm")));
  Record kernel = record_of("a");
  kernel.variant = {KernelChoice{.name = "a"}};
  EXPECT_FALSE(programs.has(kernel));
  Record mine = record_of("mine");
  EXPECT_FALSE(programs.has(mine));
  mine.variant = {KernelChoice{.name = "mine"}};
  EXPECT_TRUE(programs.has(mine));
}

TEST(ComparisonPrograms, StartAtTheSameTime) {
  const ComparisonTask task =
      task_of({"sleep 2; " + kHello + kLoad, "sleep 2; " + kHello + kLoad, "sleep 2; " + kHello + kLoad});
  ComparisonPrograms programs(task);
  const auto start = std::chrono::steady_clock::now();
  programs.start_all();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(1900)) << "nobody waits";
  for (const Record& record : task.records) programs.greet(record);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(3900));
}

TEST(ComparisonPrograms, ReadTheSameFilesUntilTheyAreReleased) {
  const ComparisonTask task = task_of({kHello + kLoad, kHello + kLoad});
  ComparisonPrograms programs(task);
  programs.start_all();
  const InputTensors inputs(task.records.front().work, {}, 1);
  programs.set_inputs([&inputs](InputSet) -> const InputTensors& { return inputs; }, {});
  const auto first = programs.load(task.records[0]), second = programs.load(task.records[1]);
  EXPECT_EQ(first->timer(), "external:t");
  const nlohmann::json asked = first->description().at("asked");
  for (const char* tensor : {"q", "k", "v"}) {
    EXPECT_EQ(asked.at(tensor), second->description().at("asked").at(tensor));
    EXPECT_TRUE(std::filesystem::exists(asked.at(tensor).get<std::string>()));
  }
  programs.files().release(InputSet::second);
  EXPECT_FALSE(std::filesystem::exists(asked.at("q").get<std::string>()));
}

TEST(ComparisonPrograms, FailEachForItself) {
  const ComparisonTask task = task_of({kHello + kLoad, "echo no beans >&2; exit 3", kHello + "exit 4"});
  ComparisonTask missing = task;
  missing.externals["b"].command = {"/no/such/program"};
  for (const auto& [each, complaint] :
       {std::pair(task, "'b' exited with status 3: no beans"),
        std::pair(missing, "cannot start '/no/such/program' for 'b' (/): No such file or directory")}) {
    ComparisonPrograms programs(each);
    programs.start_all();
    EXPECT_EQ(complaint_of(programs, each.records[1]), complaint);
    EXPECT_EQ(complaint_of(programs, each.records[2]), "") << "it dies only after hello";
    EXPECT_THROW(load(programs, each.records[2]), EnvironmentError);
    EXPECT_EQ(complaint_of(programs, each.records[0]), "");
    EXPECT_EQ(complaint_of(programs, each.records[0]), "") << "it is greeted once";
    EXPECT_NE(load(programs, each.records[0]), nullptr);
  }
}

TEST(ComparisonPrograms, StartWhenTheyAreLoadedAtTheLatest) {
  const ComparisonTask task = task_of({kHello + kLoad, "touch /no/such/file; exit 3"});
  ComparisonPrograms programs(task);
  EXPECT_EQ(load(programs, task.records[0])->description().at("name"), "x");
}

// Seconds of this many requests.
double answered_in_s(const std::string& before, int requests) {
  const ComparisonTask task = task_of({kHello + R"(read line; echo '{"timer": "t"}'; )" + before +
                                       R"( while read line; do echo '{"times_ns": [1000]}'; done)"});
  ComparisonPrograms programs(task);
  const auto program = load(programs, task.records[0]);
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < requests; ++i) program->run(1);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST(ComparisonPrograms, AreWaitedForOnlyWhileTheyCompute) {
  constexpr double kLongest_s = 2 * 0.02;  // before a request and after it
  EXPECT_LT(answered_in_s("", 25), 0.6 * 25 * kLongest_s);
  EXPECT_GE(answered_in_s("while :; do :; done & ", 5), 5 * kLongest_s) << "idle threads may spin";
}

TEST(ComparisonPrograms, EndWithTheirOwnerThoughNobodyGreetedThem) {
  const std::string file = testing::TempDir() + "hilbench_programs_" + std::to_string(::getpid());
  pid_t started = 0;
  {
    const ComparisonTask task = task_of({"echo $$ > " + file + "; exec sleep 60"});
    ComparisonPrograms programs(task);
    programs.start_all();
    while (!(std::ifstream(file) >> started)) ::usleep(1000);
    EXPECT_EQ(::kill(started, 0), 0);
  }
  EXPECT_EQ(::kill(started, 0), -1) << "it still runs";
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace hilbench
