#include "reports/check/check.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/reports/check/checked_results.hpp"

namespace hilbench {
namespace {

using namespace checked;
using nlohmann::json;

TEST(Check, GoodResultsMayBePublished) {
  EXPECT_TRUE(may_be_published(check_results(results(), kNames))) << text_of(results());
  EXPECT_EQ(texts(results(), CheckKind::ok).size(), 15u) << "every rule";
  const std::string text = text_of(results());
  EXPECT_TRUE(text.starts_with("ok      schema: 8 records of schema 3\n")) << text;
  EXPECT_TRUE(text.ends_with("\nresults/good may be published\n")) << text;
}

TEST(Check, TheLastLineCountsTheFaults) {
  ReportInput input = results();
  input.records[1].status = Status::failed;
  input.records[1].reason = "wrong output";
  input.records[0].injected = 0.1;
  const std::string text = text_of(input);
  EXPECT_NE(text.find("\nnot ok  failed: 1 of 8 records, the first n64-w64-r1-h1-d64-fp32-p1-cpu "
                      "dilated/hilbert: wrong output; "),
            std::string::npos)
      << text;
  EXPECT_TRUE(text.ends_with("\nresults/good may not be published: 2 faults\n")) << text;
}

TEST(Check, SaysWhatLimitsTheResultsInShort) {
  EXPECT_TRUE(limits_of(results().records).empty());
  ReportInput input = results();
  for (Record& record : input.records) {
    record.time->process_rounds = {1};
    (*record.environment)["processes"][0]["other_busy_cores"] = 2.0;
  }
  EXPECT_EQ(limits_of(input.records),
            (std::vector<std::string>{"1 process, where 10 show how much processes differ",
                                      "other programs kept 2.0 of 4 cores busy", "single rounds"}));
  std::erase_if(input.records,
                [](const Record& record) { return record.variant.kernel().order == "random"; });
  EXPECT_EQ(limits_of(input.records).back(), "orders without a control beside them");
}

TEST(Check, EveryProcessHadTheCoresOfItsThreads) {
  ReportInput input = results();
  json process = environment().at("processes").at(0);
  process["processor_share"] = 0.4;
  for (std::size_t i : {1u, 2u}) (*input.records[i].environment)["processes"].push_back(process);
  expect_only(input, "processors: a process had only 40 % of its cores in 2 of 8 records, the first " +
                         input.records[1].case_id + " dilated/hilbert; ");
  EXPECT_EQ(limits_of(input.records), std::vector<std::string>{"a process had only 40 % of its cores"});
  process["throttled_s"] = 0.6;
  process["quota_cores"] = 0.8;
  (*input.records[1].environment)["processes"][1] = process;
  expect_only(input, "processors: ", "only 40 % of its cores (a quota of 0.8 cores throttled it) in 2 of");
}

TEST(Check, AThrottledProcessIsNotOkAtAnyShare) {
  ReportInput input = results();
  json& process = (*input.records[1].environment)["processes"][0];
  process["throttled_s"] = 0.009;
  EXPECT_TRUE(texts(input, CheckKind::not_ok).empty()) << text_of(input);
  process["throttled_s"] = 0.02;
  expect_only(input, "processors: a process had only 97 % of its cores (a quota throttled it) in 1 of 8");
  process["processor_share"] = nullptr;
  expect_only(input, "processors: a quota throttled a process in 1 of 8 records");
  input.records[1].work.device = DeviceKind::cuda;
  name_anew(input.records[1]);
  for (const std::string& text : texts(input, CheckKind::not_ok))
    EXPECT_EQ(text.find("processors: "), std::string::npos) << "a GPU computes it: " << text;
}

TEST(Check, RecordsThatDoNotSayWhatTheyHadAreANote) {
  ReportInput input = results();
  (*input.records[1].environment)["processes"][0].erase("processor_share");
  EXPECT_TRUE(texts(input, CheckKind::note).empty()) << "it says that nothing throttled it";
  (*input.records[1].environment)["processes"][0].erase("throttled_s");
  ASSERT_EQ(texts(input, CheckKind::note).size(), 1u) << text_of(input);
  EXPECT_TRUE(texts(input, CheckKind::note)[0].starts_with("processors: ")) << text_of(input);
  EXPECT_TRUE(may_be_published(check_results(input, kNames)));
}

TEST(Check, OlderVersionsAreMeasuredAgain) {
  ReportInput input = results();
  for (const std::int64_t schema : {1, 2}) {
    input.records[2].schema = schema;
    expect_only(input, "schema: 1 of 8 records", "measured by an older version; measure again");
  }
}

TEST(Check, NothingFailedAndSomethingIsOk) {
  ReportInput input = results();
  input.records[1].status = Status::failed;
  expect_only(input, "failed: 1 of 8 records");
  for (Record& record : input.records) record.status = Status::skipped;
  expect_only(input, "failed: no record is ok");
}

TEST(Check, InvalidAndSkippedAreNotesWithTheCommonestReason) {
  ReportInput input = results();
  Record left_out = record_of(0, "moore");
  left_out.status = Status::skipped;
  for (const char* reason : {"needs 9 GiB", "no such kernel", "needs 9 GiB"}) {
    left_out.reason = reason;
    input.records.push_back(left_out);
  }
  EXPECT_EQ(texts(input, CheckKind::note),
            std::vector<std::string>{"skipped: 3 records, most often: needs 9 GiB"});
  input.records.back().status = Status::invalid;
  EXPECT_EQ(texts(input, CheckKind::note).front(), "invalid: 1 record, most often: needs 9 GiB");
  EXPECT_TRUE(texts(input, CheckKind::not_ok).empty()) << text_of(input);
}

TEST(Check, OutputsAndKeysWereLookedAt) {
  ReportInput input = results();
  input.records[1].verify->before.rows = 0;
  expect_only(input,
              "verification: ", "1 of 8 records, the first n64-w64-r1-h1-d64-fp32-p1-cpu dilated/hilbert");
  input = results();
  input.records[1].verify->probed_rows.reset();
  expect_only(input, "verification: ");
  input.records[1].kind = ImplementationKind::baseline;
  EXPECT_TRUE(texts(input, CheckKind::not_ok).empty()) << text_of(input);
  EXPECT_EQ(texts(input, CheckKind::note).size(), 1u) << "an external program is a note";
  input = results();
  input.records[1].verify->after.reset();
  expect_only(input, "verification: ");
  input = results();
  input.records[1].verify->once = true;
  ASSERT_EQ(texts(input, CheckKind::note).size(), 1u);
  EXPECT_NE(texts(input, CheckKind::note)[0].find("verified once"), std::string::npos);
  input = results();
  input.records[1].verify->probed_rows = 0;
  EXPECT_EQ(texts(input, CheckKind::note).size(), 1u) << "no row can tell";
  input.records[1].verify.reset();
  EXPECT_TRUE(texts(input, CheckKind::note).empty()) << "it has no output";
}

TEST(Check, ClocksOfProgramsAreHeldAgainstOthers) {
  ReportInput input = results();
  input.records[1].requests =
      Requests{.count = 10, .executions = 20, .reported_ns = 2e7, .wall_ns = 3e7, .empty_ns = 5e5};
  EXPECT_EQ(texts(input, CheckKind::ok).size(), 16u);
  EXPECT_NE(text_of(input).find("\nok      clocks: of 1 program; the times that "), std::string::npos);
  EXPECT_NE(text_of(input).find("are 80 % of what passed in its requests"), std::string::npos);
  input.records[1].requests->reported_ns = 1e7;
  expect_only(input, "clocks: ", "its clock leaves out more than half");
  const JsonValue environment = input.records[1].environment;
  (*input.records[1].environment)["library"] = {{"protocol", 2}, {"untimed", 1}};
  EXPECT_NE(text_of(input).find("are 60 % of what passed in its requests"), std::string::npos)
      << text_of(input);
  input.records[1].environment = environment;
  input.records[1].work.device = DeviceKind::cuda;
  name_anew(input.records[1]);
  input.records[1].requests->busy_ns = 4e7;
  input.records[1].requests->busy_reported_ns = 1e7;
  EXPECT_NE(text_of(input).find("are 25 % of what its GPU was busy"), std::string::npos) << text_of(input);
}

TEST(Check, EveryReferenceHasATwin) {
  ReportInput input = results();
  input.records.pop_back();
  expect_only(input,
              "twins: 1 of 2 references without one, the first n64-w64-r1-h2-d64-fp32-p1-cpu dilated/linear");
  for (Record& record : input.records)
    if (record.work.heads == 2) record.reference.clear();
  EXPECT_TRUE(texts(input, CheckKind::not_ok).empty()) << "no reference, no twin";
}

TEST(Check, OrdersHaveAControlBesideThem) {
  ReportInput input = results();
  input.records[6].status = Status::skipped;  // random of case1
  expect_only(input,
              "controls: 1 of 2 cases and kernels have none, the first n64-w64-r1-h2-d64-fp32-p1-cpu "
              "dilated/hilbert");
  input.records[6] = record_of(1, "linear");
  input.records[6].variant.change().rows = KeyRows::gathered;
  name_anew(input.records[6]);
  EXPECT_TRUE(texts(input, CheckKind::not_ok).empty()) << text_of(input);
  input.records[6].kernel = "another";
  expect_only(input, "controls: 1 of 2 cases and kernels have none");
  input.records[5].permute_ns.reset();
  EXPECT_TRUE(texts(input, CheckKind::not_ok).empty()) << "nothing is moved: " << text_of(input);
  input.records[5].variant.ring.order_span = OrderSpan::global;
  name_anew(input.records[5]);
  expect_only(input, "controls: 1 of 2 cases and kernels have none",
              "n64-w64-r1-h2-d64-fp32-p1-cpu dilated/hilbert");
}

TEST(Check, FewProcessesAreNotEnough) {
  ReportInput input = results();
  input.records[1].time->process_rounds.assign(9, 2);
  expect_only(input, "processes: too few in 1 of 8 records", "which has 9; `run` again with --processes 10");
  for (Record& record : input.records) {
    record.work.device = DeviceKind::cuda;
    name_anew(record);
  }
  input.records[1].time->process_rounds.assign(5, 2);
  EXPECT_TRUE(texts(input, CheckKind::not_ok).empty()) << text_of(input);
  input.records[1].time->process_rounds = {2, 2, 2, 2, 0};
  expect_only(input, "processes: ", "which has 4; `run` again with --processes 5");
}

TEST(Check, NamesAreThoseOfTheParameters) {
  ReportInput input = results();
  input.records[1].work.ring_size = 7;
  expect_only(
      input, "names: not those of the parameters in 1 of 8 records, the first n64-w64-r1-h1-d64-fp32-p1-cpu ",
      "which are those of n64-w64-r1-h1-d64-fp32-p7-cpu dilated/hilbert; measure again");
  input = results();
  input.records[1].variant_id = "x";
  expect_only(input, "names: ", "n64-w64-r1-h1-d64-fp32-p1-cpu x, which are those of");
  input.records[1].status = Status::skipped;
  EXPECT_TRUE(texts(input, CheckKind::not_ok).empty()) << text_of(input);
}

TEST(Check, NotesProcessesOfOneRound) {
  ReportInput input = results();
  input.records[1].time->process_rounds.back() = 1;
  const std::vector<std::string> notes = texts(input, CheckKind::note);
  ASSERT_EQ(notes.size(), 1u) << text_of(input);
  EXPECT_TRUE(notes.front().starts_with(
      "rounds: a process has only one in 1 of 8 records, the first n64-w64-r1-h1-d64-fp32-p1-cpu "))
      << notes.front();
  EXPECT_TRUE(texts(input, CheckKind::not_ok).empty()) << text_of(input);
  input.records[1].steady_s = 2;
  EXPECT_TRUE(texts(input, CheckKind::note).empty()) << text_of(input);
}

TEST(Check, NothingWasInjected) {
  ReportInput input = results();
  input.records[3].injected = 0.1;
  expect_only(input, "injected: work was added to 1 of 8 records");
}

TEST(Check, OneCleanBuildThatIsKnown) {
  const auto with_commit = [](std::size_t from, const char* commit) {
    ReportInput input = results();
    for (std::size_t i = from; i < input.records.size(); ++i)
      (*input.records[i].environment)["build"]["commit"] = commit;
    return input;
  };
  expect_only(with_commit(4, "def5678"), "build: several commits: abc1234, def5678");
  expect_only(with_commit(0, "abc1234-dirty"), "build: abc1234-dirty is no commit");
  expect_only(with_commit(0, "unknown"), "build: the commit is not known");
  ReportInput input = results();
  (*input.records[1].environment)["build"]["compiler"] = "clang 14";
  expect_only(input, "build: compilers");
}

TEST(Check, OneMachine) {
  for (const char* member : {"/host/cpu", "/host/cores", "/device/name", "/device_state/driver"}) {
    ReportInput input = results();
    for (Record& record : input.records) (*record.environment)["device"] = json::object();
    (*input.records[0].environment)[json::json_pointer(member)] = "one";
    for (std::size_t i = 1; i < 3; ++i) (*input.records[i].environment)[json::json_pointer(member)] = "two";
    const auto found = texts(input, CheckKind::not_ok);
    ASSERT_EQ(found.size(), 1u) << text_of(input);
    EXPECT_NE(found.front().find(std::string("environment") + member), std::string::npos) << found.front();
  }
  ReportInput input = results();
  for (Record& record : input.records) (*record.environment)["host"]["cpu"] = nullptr;
  expect_only(input, "machine: no record says which");
}

TEST(Check, NothingStoodInForAGpu) {
  const auto spoilt = [](auto spoil) {
    ReportInput input = results();
    spoil(input.records[1]);
    return input;
  };
  const std::string start =
      "fake: a stand-in for a GPU, its driver or CUPTI is in 1 of 8 records, the first ";
  expect_only(spoilt([](Record& record) {
                (*record.environment)["device"] = {{"name", "a fake GPU"}};
              }),
              start);
  expect_only(spoilt([](Record& record) {
                (*record.environment)["device_state"] = {{"driver", "580.1-fake"}};
              }),
              start);
  expect_only(spoilt([](Record& record) {
                record.counters["dram_read_bytes"] = {.value = 1, .source = "cupti_events, scaled, fake"};
              }),
              start);
  EXPECT_TRUE(texts(spoilt([](Record& record) {
                      record.counters["dram_read_bytes"] = {.value = 1, .source = "cupti_events, scaled"};
                      (*record.environment)["device"] = {{"name", "NVIDIA GeForce GTX 1080"}};
                    }),
                    CheckKind::not_ok)
                  .empty());
}

TEST(Check, AQuietMachine) {
  ReportInput input = results();
  for (Record& record : input.records) (*record.environment)["processes"][0]["other_busy_cores"] = 1;
  expect_only(input, "quiet: other programs kept 1.0 of 4 cores busy; stop other programs");
  input = results();
  (*input.records[0].environment)["device_state"] = {{"foreign_processes", 2}};
  expect_only(input, "quiet: another process used the GPU");
  (*input.records[0].environment)["device_state"] = {{"throttle", {"hardware thermal"}}};
  expect_only(input, "quiet: the GPU was throttled: hardware thermal");
  input = results();
  for (Record& record : input.records) record.environment->erase("processes");
  EXPECT_EQ(texts(input, CheckKind::note).front(), "quiet: no record says how busy the machine was");
}

TEST(Check, ATwinMayBeSkippedForWantOfMemory) {
  ReportInput input = results();
  for (Record& record : input.records)
    if (record.twin && record.work.heads == 2) {
      record.status = Status::skipped;
      record.reason = "does not fit";
      record.time.reset();
      record.speedup.reset();
    }
  EXPECT_TRUE(texts(input, CheckKind::not_ok).empty()) << text_of(input);
}

TEST(Check, TwinsThatDifferMoreThanByChance) {
  ReportInput input = results(40);
  const auto disturb = [&](int count) {
    for (Record& record : input.records)
      if (record.twin && count-- > 0) record.speedup->ci = {1.01, 1.02};
  };
  disturb(7);  // of 40 at 5 %: p = 0.0034
  EXPECT_TRUE(texts(input, CheckKind::not_ok).empty()) << text_of(input);
  disturb(9);  // p = 0.0002
  expect_only(input, "noise: the 95 % intervals of 9 of 40 twins exclude 1");
  for (Record& record : input.records)
    if (record.twin) record.speedup.reset();
  EXPECT_EQ(texts(input, CheckKind::note), std::vector<std::string>{"noise: no twin has an interval"});
}

TEST(Check, NoPathsAndNoNames) {
  const auto expect_command = [](const char* command) {
    ReportInput input = results();
    input.meta["command"] = command;
    expect_only(input, "private: command (");
  };
  expect_command("hilbench run /data/sweep.yaml");
  expect_command("hilbench run sweep.yaml -o '/data/my results'");
  expect_command("hilbench run sweep.yaml --output=/data");
  expect_command("hilbench run ~/sweep.yaml");
  expect_command("hilbench run ../users/mary/x.yaml -o marys-box");
  ReportInput input = results();
  input.meta["sweep_file"] = "/data/sweep.yaml";
  expect_only(input, "private: sweep_file (an absolute path)");
  input = results();
  (*input.records[5].environment)["library"]["python"] = "/users/mary/bin/python";
  expect_only(input, "private: environment.library.python (a path in a home folder)");
  input = results();
  (*input.records[5].environment)["host"]["hostname"] = "anything";
  expect_only(input, "private: environment.host.hostname (");
  input = results();
  (*input.records[5].environment)["host"]["kernel"] = "Linux marys-box 6.1 x86_64";
  expect_only(input, "private: environment.host.kernel (this machine's name)");
  input = results();
  input.records[5].variant.change().order_file = "/data/slots.npy";
  name_anew(input.records[5]);
  expect_only(input, "private: asked.order_file (an absolute path)");
  input = results();
  input.records[5].counters["llc_reads"] = {.reason = "cannot open /users/mary/events"};
  expect_only(input, "private: counters.llc_reads (a path in a home folder)");
}

}  // namespace
}  // namespace hilbench
