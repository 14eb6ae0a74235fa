#include "reports/site/site.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "kernels/base/error.hpp"
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

TEST(MarkdownHtml, PassesOnNeitherElementsNorForeignLinks) {
  const auto page_of = [](std::string_view link) {
    return link == "quick/" ? std::optional<std::string>("quick/index.html") : std::nullopt;
  };
  const std::string html = markdown_html(
      "# One *two*\n<!-- generated: a -->\n<script>alert(1)</script> <img src=x onerror=alert(1)>\n\n"
      "[good](quick/) [bad](javascript:alert(1)) ![picture](https://example.org/a.png) [q](a\"b)\n\n"
      "| a | b |\n|---|--:|\n| 1 | 2 |\n\n# One two\n",
      page_of);
  for (const char* wanted :
       {"<h1 id=\"one-two\">", "<h1 id=\"one-two-1\">", "<a href=\"quick/index.html\">good</a>",
        "<span title=\"javascript:alert(1)\">bad</span>", "class=\"scroll\"", "&lt;script&gt;"})
    EXPECT_NE(html.find(wanted), std::string::npos) << wanted << " in\n" << html;
  for (const char* unwanted : {"<script", "<img", "href=\"javascript", "href=\"http", "generated"})
    EXPECT_EQ(html.find(unwanted), std::string::npos) << unwanted << " in\n" << html;
}

TEST(Site, HoldsAPageForEachMachineAndSweep) {
  Folder folder;
  write_results(folder.path() / "in/m 1/s#1");
  write_results(folder.path() / "in/m 1/other");
  std::ofstream(folder.path() / "in/m 1/README.md") << "# Findings\nSee [s](s%231/) and [o](other/).\n";
  const SiteOutput made = write_site(site_input(folder.path() / "in", folder.path() / "out"));
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
