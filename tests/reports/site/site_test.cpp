#include "reports/site/site.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kernels/base/text/error.hpp"
#include "reports/site/claim_matrix.hpp"
#include "reports/site/markdown_html.hpp"
#include "reports/site/new_folder.hpp"
#include "reports/site/results_folders.hpp"
#include "reports/view/results.hpp"
#include "tests/reports/rendered.hpp"
#include "tests/reports/sample_records.hpp"

namespace hilbench {
namespace {

void write_results(const fs::path& folder) {
  fs::create_directories(folder);
  std::ofstream file(folder / "records.jsonl");
  for (const Record& record : sample::input().records) file << to_json(record).dump() << '\n';
}

SiteInput site_input(const fs::path& folder, const fs::path& output) {
  return {.folder = folder,
          .output = output,
          .url = "",
          .charts = find_chart_library("none"),
          .read = read_results};
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

std::size_t entries_in(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST(ResultsFolders, StandUnderTheirMachines) {
  Folder folder;
  for (const char* name : {"b/two", "b/one", "a/one", "a/nested/deep", ".hidden/sweep"})
    write_results(folder.path() / name);
  std::ofstream(folder.path() / "b/notes.md") << "# Notes\n";
  std::ofstream(folder.path() / "b/README.md") << "# Findings\n";
  fs::create_directory_symlink(folder.path(), folder.path() / "b/loop");
  const std::vector<MachineFolder> machines = machine_folders(folder.path());
  ASSERT_EQ(machines.size(), 3u);
  EXPECT_EQ(machines[0].name, "a");
  EXPECT_EQ(machines[1].name, "a/nested");
  EXPECT_EQ(machines[2].name, "b");
  ASSERT_EQ(machines[2].sweeps.size(), 2u);
  EXPECT_EQ(machines[2].sweeps[0].name, "one");
  ASSERT_EQ(machines[2].findings.size(), 2u);
  EXPECT_EQ(machines[2].findings[0].filename(), "README.md");
}

TEST(ResultsFolders, WithoutAMachineAreNamedAfterTheFolderAbove) {
  Folder folder;
  write_results(folder.path() / "results/quick");
  for (const char* searched : {"results", "results/quick"}) {
    const std::vector<MachineFolder> machines = machine_folders(folder.path() / searched);
    ASSERT_EQ(machines.size(), 1u);
    EXPECT_EQ(machines[0].name, "results");
    EXPECT_EQ(machines[0].sweeps.at(0).name, "quick");
  }
  write_results(folder.path() / "results/results/quick");
  const std::string said = message_of([&] { machine_folders(folder.path() / "results"); });
  EXPECT_NE(said.find("two folders would have the page of 'quick'"), std::string::npos) << said;
}

TEST(ResultsFolders, AreRefusedIfThereAreNone) {
  Folder folder;
  EXPECT_NE(message_of([&] { machine_folders(folder.path()); }).find("no results"), std::string::npos);
  EXPECT_THROW(machine_folders(folder.path() / "absent"), UsageError);
}

TEST(ResultsFolders, ALinkLeadsToPagesOfEveryMachine) {
  Folder folder;
  for (const char* name : {"a/one", "b/one", "b/two"}) write_results(folder.path() / name);
  for (const char* name : {"a/README.md", "b/README.md", "b/notes.md"})
    std::ofstream(folder.path() / name) << "# Findings\n";
  const std::vector<MachineFolder> machines = machine_folders(folder.path());
  const auto page = [&](const char* link) {
    return page_of_link(machines, machines.at(0), link).value_or("none").string();
  };
  EXPECT_EQ(page("one/"), "a/one/index.html");
  EXPECT_EQ(page("README.md#x"), "a/index.html");
  EXPECT_EQ(page("../b"), "b/index.html");
  EXPECT_EQ(page("../b/"), "b/index.html");
  EXPECT_EQ(page("../b/README.md#how"), "b/index.html");
  EXPECT_EQ(page("../b/notes.md"), "b/notes.html");
  EXPECT_EQ(page("../b/two/"), "b/two/index.html");
  for (const char* outside :
       {"../../docs/x.md", "../c/", "notes.md", "one/records.jsonl", "/b", "https://b/"})
    EXPECT_EQ(page(outside), "none") << outside;
}

TEST(Site, LinksOfFindingsLeadToOtherMachines) {
  Folder folder;
  for (const char* name : {"in/a/one", "in/b/one"}) write_results(folder.path() / name);
  std::ofstream(folder.path() / "in/a/README.md")
      << "# Findings\n\n[b](../b), [more](../b/notes.md#x), [out](../c)\n";
  std::ofstream(folder.path() / "in/b/notes.md") << "# Notes\n";
  write_site(site_input(folder.path() / "in", folder.path() / "out"));
  const std::string page = read(folder.path() / "out/machines/a/index.html");
  EXPECT_NE(page.find("<a href=\"../b/index.html\">b</a>"), std::string::npos);
  EXPECT_NE(page.find("<a href=\"../b/notes.html#x\">more</a>"), std::string::npos);
  EXPECT_NE(page.find("<span title=\"../c\">out</span>"), std::string::npos);
}

TEST(Site, PapersStandBelowTheClaimsOfReports) {
  ClaimEntry report{.claim = "hybrid-core", .title = "Hybrid", .compares = "memory"};
  ClaimEntry paper{.claim = "a-paper",
                   .title = "twice as fast",
                   .compares = "kernel time of x / y",
                   .of_paper = true,
                   .gain = true,
                   .measured = 1.5,
                   .evidence = "#record=c/v"};
  ClaimEntry other = paper;
  other.title = "four times as fast";
  MachineOverview machine{.name = "m", .address = "machines/m"};
  machine.sweeps.push_back({.name = "s", .claims = {paper, report, other}});
  const std::string html = claim_matrix_html({machine});
  const auto at = [&](const char* text) { return html.find(text); };
  EXPECT_LT(at("Hybrid"), at("twice as fast"));
  EXPECT_LT(at("twice as fast"), at("four times as fast"));
  EXPECT_NE(at("four times as fast"), std::string::npos);
  EXPECT_LT(at(">compares<"), at(">m<")) << "rows of one claim differ in it";
  EXPECT_LT(at("class=\"colours\""), at("<table>"));
  EXPECT_NE(at("machines/m/s/index.html#literature"), std::string::npos);
  EXPECT_NE(at("machines/m/s/index.html#record=c/v"), std::string::npos);
}

TEST(NewFolder, AppearsAsAWholeOrNotAtAll) {
  Folder folder;
  const fs::path target = folder.path() / "above/site";
  const auto is_ours = [](const fs::path& place) { return fs::exists(place / "mark"); };
  const auto fill = [](const fs::path& place) { std::ofstream(place / "mark") << "1"; };
  replace_folder(target, is_ours, fill);
  EXPECT_EQ(read(target / "mark"), "1");
  EXPECT_THROW(replace_folder(target, is_ours, [](const fs::path&) { throw UsageError({"no"}); }),
               UsageError);
  EXPECT_EQ(read(target / "mark"), "1") << "what stood there stays";
  replace_folder(target / "", is_ours, [](const fs::path& place) { std::ofstream(place / "mark") << "2"; });
  EXPECT_EQ(read(target / "mark"), "2");
  EXPECT_EQ(entries_in(target.parent_path()), 1u) << "nothing is left beside it";
  fs::remove(target / "mark");
  std::ofstream(target / "thesis.txt") << "mine";
  const std::string said = message_of([&] { replace_folder(target, is_ours, fill); });
  EXPECT_NE(said.find("the folder holds something else"), std::string::npos) << said;
  EXPECT_EQ(read(target / "thesis.txt"), "mine");
  EXPECT_THROW(replace_folder(target / "thesis.txt", is_ours, fill), UsageError);
}

TEST(NewFolder, FilesAreAddedTogetherOrNotAtAll) {
  Folder folder;
  const fs::path target = folder.path() / "a/b";
  const auto fill = [](const fs::path& made) {
    fs::create_directory(made / "tables");
    std::ofstream(made / "tables/one.csv") << "new";
    std::ofstream(made / "page.html") << "new";
  };
  const auto names = [&] {
    std::string found;
    for (const auto& entry : fs::recursive_directory_iterator(folder.path()))
      found += entry.path().lexically_relative(folder.path()).string() + " ";
    return found;
  };
  const auto fails = [&](const fs::path& made) {
    fill(made);
    throw EnvironmentError({"no space", "", "", ""});
  };
  EXPECT_THROW(add_to_folder(target, fails), EnvironmentError);
  EXPECT_EQ(names(), "") << "folders that were made for it are gone";
  fs::create_directories(target);
  std::ofstream(target / "page.html") << "old";
  EXPECT_THROW(add_to_folder(target, fails), EnvironmentError);
  EXPECT_EQ(read(target / "page.html"), "old");
  EXPECT_FALSE(fs::exists(target / "tables"));
  fs::create_directories(target / "tables/one.csv");
  EXPECT_NE(message_of([&] { add_to_folder(target, fill); }).find("tables/one.csv is in the way"),
            std::string::npos);
  EXPECT_EQ(read(target / "page.html"), "old");
  fs::remove(target / "tables/one.csv");
  std::ofstream(target / "mine.txt") << "mine";
  add_to_folder(target, fill);
  EXPECT_EQ(read(target / "page.html") + read(target / "tables/one.csv") + read(target / "mine.txt"),
            "newnewmine");
  EXPECT_EQ(std::distance(fs::directory_iterator(target), fs::directory_iterator()), 3) << names();
}

// Every path below `folder`, sorted, with the content of files.
std::string contents(const fs::path& folder) {
  std::vector<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    found.push_back(entry.path().lexically_relative(folder).string() +
                    (entry.is_regular_file() ? "=" + read(entry.path()) : ""));
  std::sort(found.begin(), found.end());
  std::string text;
  for (const std::string& one : found) text += one + " ";
  return text;
}

void write(const fs::path& file, const char* text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

// A rename cannot leave a file system, so the second of three files cannot be moved.
TEST(NewFolder, AMoveThatFailsMidwayLosesNothing) {
  Folder folder;
  char elsewhere[] = "/dev/shm/hilbench-test-XXXXXX";
  if (::mkdtemp(elsewhere) == nullptr) GTEST_SKIP() << "there is no second file system here";
  const fs::path target = folder.path() / "target";
  write(target / "a.html", "old");
  fs::create_directory_symlink(elsewhere, target / "tables");
  write(fs::path(elsewhere) / "one.csv", "old");
  const std::string before = contents(folder.path());
  std::error_code moved;
  fs::rename(target / "a.html", fs::path(elsewhere) / "a.html", moved);
  const std::string said = message_of([&] {
    add_to_folder(target, [](const fs::path& made) {
      write(made / "a.html", "new");
      write(made / "b/more.html", "new");
      write(made / "tables/one.csv", "new");
      write(made / "z.html", "new");
    });
  });
  const std::string kept = read(fs::path(elsewhere) / "one.csv");
  fs::remove_all(elsewhere);
  if (!moved) GTEST_SKIP() << "there is no second file system here";
  EXPECT_EQ(said, "the folder cannot be written (" + target.string() +
                      "): Invalid cross-device link; give another -o");
  EXPECT_EQ(contents(folder.path()), before);
  EXPECT_EQ(kept, "old");
}

TEST(NewFolder, SaysInOneLineWhatTheFileSystemSays) {
  Folder folder;
  const fs::path target = folder.path() / "target";
  const auto full = [](const fs::path&) {
    throw fs::filesystem_error("cannot create", std::make_error_code(std::errc::no_space_on_device));
  };
  const auto ours = [](const fs::path&) { return true; };
  for (const std::function<void()>& action :
       {std::function<void()>([&] { add_to_folder(target, full); }),
        std::function<void()>([&] { replace_folder(target, ours, full); })}) {
    EXPECT_THROW(action(), EnvironmentError);
    EXPECT_EQ(message_of(action), "the folder cannot be written (" + target.string() +
                                      "): No space left on device; give another -o");
  }
  EXPECT_EQ(contents(folder.path()), "");
}

TEST(NewFolder, TheOldOneComesBackIfTheNewOneCannotTakeItsPlace) {
  Folder folder;
  const fs::path target = folder.path() / "target";
  write(target / "mark", "old");
  const auto ours = [](const fs::path&) { return true; };
  EXPECT_THROW(replace_folder(target, ours, [](const fs::path& made) { fs::remove_all(made); }), UsageError);
  EXPECT_EQ(contents(folder.path()), "target target/mark=old ");
}

// Signals wait until all is in order, and then end the process.
TEST(NewFolder, AStoppedProcessLeavesNothing) {
  Folder folder;
  write(folder.path() / "target/mark", "old");
  const auto stopped = [](const fs::path& made) {
    write(made / "mark", "new");
    raise(SIGTERM);
  };
  const auto ours = [](const fs::path&) { return true; };
  EXPECT_EXIT(add_to_folder(folder.path() / "target", stopped), testing::KilledBySignal(SIGTERM), "");
  EXPECT_EXIT(add_to_folder(folder.path() / "absent/deep", stopped), testing::KilledBySignal(SIGTERM), "");
  EXPECT_EXIT(replace_folder(folder.path() / "target", ours, stopped), testing::KilledBySignal(SIGTERM), "");
  EXPECT_EQ(contents(folder.path()), "target target/mark=old ");
}

TEST(NewFolder, FilesOfAnEarlierCallGoUnlessTheyWereChanged) {
  Folder folder;
  const fs::path target = folder.path() / "target";
  const auto fill = [](std::initializer_list<const char*> names) {
    return [names = std::vector<std::string>(names.begin(), names.end())](const fs::path& made) {
      for (const std::string& name : names) write(made / "figures" / name, "1");
    };
  };
  write(target / "figures/mine.svg", "mine");
  add_to_folder(target, fill({"a.svg", "b.svg", "c.svg", "d.svg"}), ".list");
  write(target / "figures/c.svg", "changed");
  fs::remove(target / "figures/d.svg");
  fs::create_symlink("mine.svg", target / "figures/d.svg");
  // A list that was forged: none of it may be touched.
  write(folder.path() / "outside", "1");
  fs::create_directory_symlink(folder.path(), target / "link");
  const std::string hash = read(target / ".list").substr(0, 17);
  for (const std::string& path :
       {std::string("../outside"), std::string("link/outside"), (folder.path() / "outside").string(),
        std::string("absent/x"), std::string()})
    std::ofstream(target / ".list", std::ios::app) << hash << path << "\n";
  add_to_folder(target, fill({"a.svg"}), ".list");
  EXPECT_EQ(read(folder.path() / "outside"), "1");
  fs::remove(target / "link");
  EXPECT_EQ(contents(target), ".list=" + hash +
                                  "figures/a.svg\n figures figures/a.svg=1 "
                                  "figures/c.svg=changed figures/d.svg=mine figures/mine.svg=mine ");
  fs::remove(target / ".list");
  add_to_folder(target, fill({"e.svg"}), ".list");
  EXPECT_TRUE(fs::exists(target / "figures/a.svg")) << "without a list nothing is known of it";
  fs::remove(target / ".list");
  write(target / ".list/mine", "mine");
  EXPECT_THROW(add_to_folder(target, fill({"f.svg"}), ".list"), UsageError);
  EXPECT_EQ(read(target / ".list/mine"), "mine");
}

TEST(MarkdownHtml, PassesOnNeitherElementsNorForeignLinks) {
  const auto page_of = [](std::string_view link) {
    return link == "quick/" ? std::optional<std::string>("quick/index.html") : std::nullopt;
  };
  const std::string html = markdown_html(
      "# One *two*\n<!-- generated: a -->\n<script>alert(1)</script> <img src=x onerror=alert(1)>\n\n"
      "[good](quick/) [bad](javascript:alert(1)) ![picture](https://example.org/a.png) [q](a\"b)\n\n"
      "| a | b |\n|---|--:|\n| 1 | 2 |\n| text that is far too long for a line, so that the columns behind "
      "it "
      "could not be seen | 3 |\n\n# One two\n",
      page_of);
  for (const char* wanted :
       {"<h1 id=\"one-two\">", "<h1 id=\"one-two-1\">", "<a href=\"quick/index.html\">good</a>",
        "<span title=\"javascript:alert(1)\">bad</span>", "class=\"scroll\"", "&lt;script&gt;", "<td>1</td>",
        "<td class=\"wide\">text that"})
    EXPECT_NE(html.find(wanted), std::string::npos) << wanted << " in\n" << html;
  for (const char* unwanted : {"<script", "<img", "href=\"javascript", "href=\"http", "generated"})
    EXPECT_EQ(html.find(unwanted), std::string::npos) << unwanted << " in\n" << html;
}

TEST(Site, HoldsAPageForEachMachineAndSweep) {
  Folder folder;
  write_results(folder.path() / "in/m 1/s#1");
  write_results(folder.path() / "in/m 1/other");
  std::ofstream(folder.path() / "in/m 1/README.md") << "# Findings\nSee [s](s%231/) and [o](other/).\n";
  SiteInput input = site_input(folder.path() / "in", folder.path() / "out");
  std::vector<std::string> begun;
  input.begins = [&](const std::string& sweep, std::size_t number, std::size_t all) {
    begun.push_back(sweep + " " + std::to_string(number) + " of " + std::to_string(all));
  };
  const SiteOutput made = write_site(input);
  EXPECT_EQ(begun, (std::vector<std::string>{"m 1/other 1 of 2", "m 1/s#1 2 of 2"}));
  EXPECT_EQ(made.machines, 1u);
  EXPECT_EQ(made.sweeps, 2u);
  const std::string index = read(folder.path() / "out/index.html");
  EXPECT_NE(index.find("href=\"machines/m%201/index.html\""), std::string::npos);
  EXPECT_NE(index.find("href=\"machines/m%201/s%231/index.html"), std::string::npos);
  EXPECT_NE(index.find("#record="), std::string::npos) << "claims link to records";
  EXPECT_NE(index.find("property=\"og:title\""), std::string::npos);
  const std::string machine = read(folder.path() / "out/machines/m 1/index.html");
  EXPECT_NE(machine.find("<a href=\"other/index.html\">o</a>"), std::string::npos) << machine;
  const std::string sweep = read(folder.path() / "out/machines/m 1/s#1/index.html");
  EXPECT_NE(sweep.find("src=\"../../../assets/report.js\""), std::string::npos);
  EXPECT_TRUE(fs::exists(folder.path() / "out/machines/m 1/s#1/tables/comparison.csv"));
  for (const char* outside : {"http:", "https:", "file:"}) EXPECT_EQ(sweep.find(outside), std::string::npos);
}

TEST(Site, ListsSweepsByTheirQuestion) {
  Folder folder;
  write_results(folder.path() / "in/m/s");
  std::ofstream(folder.path() / "in/m/s/meta.json")
      << R"({"sweep": "s", "title": "Orders of all kinds", "question": "Which order wins?"})";
  write_site(site_input(folder.path() / "in", folder.path() / "out"));
  for (const char* page : {"index.html", "machines/m/index.html", "machines/m/s/index.html"}) {
    const std::string text = read(folder.path() / "out" / page);
    EXPECT_NE(text.find("Which order wins?"), std::string::npos) << page;
    EXPECT_EQ(text.find("Orders of all kinds"), std::string::npos) << page;
  }
}

TEST(Site, IsNotWrittenIfResultsCannotBeRead) {
  Folder folder;
  write_results(folder.path() / "in/m/good");
  fs::create_directories(folder.path() / "in/m/worse");
  std::ofstream(folder.path() / "in/m/worse/records.jsonl") << "{\n";
  EXPECT_THROW(write_site(site_input(folder.path() / "in", folder.path() / "out")), UsageError);
  EXPECT_EQ(entries_in(folder.path()), 1u);
}

}  // namespace
}  // namespace hilbench
