// `hilbench join`: the results of several runs in one folder, such as those of the GPUs of a node.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harness/command_line/command_line.hpp"
#include "kernels/base/text/error.hpp"
#include "kernels/base/text/text.hpp"
#include "reports/gate/unlike_runs.hpp"
#include "reports/records/store.hpp"
#include "reports/view/chain.hpp"
#include "reports/view/compared_runs.hpp"
#include "reports/view/format.hpp"
#include "reports/view/results.hpp"

namespace hilbench {
namespace {

namespace fs = std::filesystem;

struct JoinArguments {
  std::vector<std::string> folders;
  fs::path output;
  bool allow_unlike = false;
};

// A run, as its folder holds it.
struct JoinedRun {
  fs::path folder;
  Store store;
  std::map<std::string, std::string> meta;
  ReportInput input;
  std::vector<std::string> cases;  // as they were measured

  std::string meta_of(const std::string& key) const {
    const auto found = meta.find(key);
    return found == meta.end() ? "" : found->second;
  }
};

JoinedRun run_in(const fs::path& folder) {
  if (holds_export(folder))
    throw UsageError({.what = "no store of a run here",
                      .where = folder.string(),
                      .why = "exported records do not say how far their run has come",
                      .remedy = "join the folders that `hilbench run` wrote"});
  JoinedRun run{.folder = folder,
                .store = Store::open_for_reading(folder),
                .meta = {},
                .input = read_results(folder),
                .cases = {}};
  run.meta = run.store.meta();
  std::set<std::string> seen;
  for (const Record& record : run.input.records)
    if (seen.insert(record.case_id).second) run.cases.push_back(record.case_id);
  return run;
}

// The sweep, the program and the processor; then what environments say of machine, GPU and build.
void expect_alike(const JoinedRun& first, const JoinedRun& other, const JoinArguments& arguments) {
  const auto refuse = [&](const std::string& what, const std::string& why, const std::string& remedy) {
    throw UsageError({.what = what,
                      .where = fmt::format("{}, {}", first.folder.string(), other.folder.string()),
                      .why = why,
                      .remedy = remedy});
  };
  if (first.meta_of("sweep") != other.meta_of("sweep"))
    refuse("the runs are of different sweeps",
           fmt::format("'{}' and '{}'", one_line(first.meta_of("sweep"), 60),
                       one_line(other.meta_of("sweep"), 60)),
           "join the parts of one sweep");
  if (arguments.allow_unlike) return;
  const char* remedy = "`hilbench compare` shows runs side by side; --allow-unlike joins them all the same";
  GateResult found;
  note_unlike(compare_runs(first.input, other.input), Unlike::refused, found);
  if (found.unlike) refuse("the runs are of unlike machines or builds", found.disturbances.front(), remedy);
  if (first.meta_of("maker") != other.meta_of("maker"))
    refuse("the runs are by different programs or processors", "", remedy);
}

// Ratios are of one run: two measurements of a case are compared, not joined.
void expect_apart(const std::vector<JoinedRun>& runs) {
  std::map<std::string, const JoinedRun*> measured;
  for (const JoinedRun& run : runs)
    for (const std::string& case_id : run.cases) {
      const auto [at, fresh] = measured.try_emplace(case_id, &run);
      if (!fresh)
        throw UsageError(
            {.what = fmt::format("two runs hold the case {}", one_line(case_id)),
             .where = fmt::format("{}, {}", at->second->folder.string(), run.folder.string()),
             .why = "variants are compared within one run",
             .remedy = "measure each case in one run (`run --part 1/4`), or use `hilbench compare`"});
    }
}

// That of the first run, and what the others add to it.
std::map<std::string, std::string> joined_meta(const std::vector<JoinedRun>& runs) {
  std::map<std::string, std::string> meta = runs.front().meta;
  std::set<std::string> hosts;
  Chain chain;
  for (const JoinedRun& run : runs) {
    meta.insert(run.meta.begin(), run.meta.end());  // masks of other cases
    if (!run.meta_of("hostname").empty()) hosts.insert(run.meta_of("hostname"));
    if (run.meta_of("chain").empty()) continue;
    const Chain of_run = chain_from_text(run.meta_of("chain"));
    if (chain.steps.empty()) chain = of_run;
    chain.claimed.insert(of_run.claimed.begin(), of_run.claimed.end());
  }
  if (!hosts.empty()) meta["hostname"] = fmt::format("{}", fmt::join(hosts, ", "));
  if (!chain.steps.empty()) meta["chain"] = chain_text(chain);
  meta.erase("schema");  // the new store has its own
  return meta;
}

void expect_no_results(const fs::path& folder) {
  std::error_code ignored;
  if (fs::exists(folder / "results.sqlite", ignored) || holds_export(folder))
    throw UsageError({.what = "the folder holds results",
                      .where = fmt::format("-o {}", folder.string()),
                      .remedy = "give another one: they are not replaced"});
}

ExitCode join_command(const JoinArguments& arguments) {
  if (arguments.folders.size() < 2)
    throw UsageError({.what = "one run needs no joining", .remedy = "give two folders or more"});
  expect_no_results(arguments.output);
  std::vector<JoinedRun> runs;
  for (const std::string& folder : arguments.folders) runs.push_back(run_in(folder));
  for (const JoinedRun& run : runs) expect_alike(runs.front(), run, arguments);
  expect_apart(runs);
  Store joined = Store::open_for_writing(arguments.output);
  for (const auto& [key, value] : joined_meta(runs)) joined.set_meta(key, value);
  std::size_t cases = 0, records = 0;
  for (const JoinedRun& run : runs)
    for (const std::string& case_id : run.cases) {
      const std::vector<Record> of_case = run.store.records_of(case_id);
      joined.commit(case_id, run.store.comparison(case_id).value_or(StoredComparison{}), of_case);
      ++cases;
      records += static_cast<std::size_t>(std::ranges::count(of_case, false, &Record::twin));
    }
  joined.finish();
  fmt::print(stderr, "{}, {} of {}\n", plural(cases, "case", "cases"), plural(records, "record", "records"),
             plural(runs.size(), "run", "runs"));
  fmt::print("{}\n", (arguments.output / "results.sqlite").string());
  return ExitCode::done;
}

}  // namespace

void add_join(Commands& commands) {
  auto arguments = std::make_shared<JoinArguments>();
  Options options =
      commands.add("join", "join runs that measured different cases of one sweep, such as one on each GPU",
                   [arguments] { return join_command(*arguments); });
  options.arguments("DIR", arguments->folders, "folders with the results of the runs, two or more");
  options.path("-o", arguments->output, "folder to write; it must not hold results");
  options.require("-o");
  options.flag("--allow-unlike", arguments->allow_unlike,
               "join although machines, GPUs or builds differ; the report then names the first machine");
  options.examples(
      {{"hilbench run SWEEP --device cuda:0 --part 1/2 -o results/0", "half of the cases, on the first GPU"},
       {"hilbench join results/0 results/1 -o results/all", "both halves"}});
}

}  // namespace hilbench
