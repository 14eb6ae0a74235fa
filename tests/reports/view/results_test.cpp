#include "reports/view/results.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "kernels/base/text/error.hpp"
#include "tests/reports/rendered.hpp"
#include "tests/reports/sample_records.hpp"

namespace hilbench {
namespace {

TEST(Exported, IsTheSameFromExportedRecords) {
  const ReportInput input = sample::input();
  Folder folder;
  std::ofstream records(folder.path() / "records.jsonl");
  for (const Record& record : input.records) records << to_json(record).dump() << '\n';
  records.close();
  std::ofstream(folder.path() / "meta.json") << nlohmann::json(input.meta);
  ASSERT_TRUE(holds_export(folder.path()));
  const ReportInput again = read_exported(folder.path());
  EXPECT_EQ(again.meta, input.meta);
  EXPECT_EQ(to_markdown(document_without_pictures(again)), to_markdown(document_without_pictures(input)));
  std::ofstream(folder.path() / "records.jsonl", std::ios::app) << "{}\n";
  EXPECT_THROW(read_exported(folder.path()), UsageError);
  std::ofstream(folder.path() / "results.sqlite") << "x";
  EXPECT_FALSE(holds_export(folder.path())) << "a store goes first";
  std::ofstream(folder.path() / "records.jsonl").close();
  EXPECT_THROW(read_exported(folder.path()), UsageError) << "empty";
}

std::string refusal(const fs::path& folder) {
  try {
    read_exported(folder);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "nothing refused";
}

TEST(Exported, ReadsCompressedRecordsUnlessTheyAreCutShort) {
  Folder folder;
  const ReportInput input = sample::input();
  const fs::path file = folder.path() / "records.jsonl.gz";
  std::string text;
  for (const Record& record : input.records) text += to_json(record).dump() + '\n';
  const gzFile out = gzopen(file.c_str(), "wb");
  ASSERT_EQ(gzwrite(out, text.data(), static_cast<unsigned>(text.size())), static_cast<int>(text.size()));
  ASSERT_EQ(gzclose(out), Z_OK);
  ASSERT_TRUE(holds_export(folder.path()));
  EXPECT_EQ(read_results(folder.path()).records.size(), input.records.size());
  const auto whole = fs::file_size(file);
  for (const std::string& after :
       {std::string("more"), std::string(1, '\0'), std::string("\x1f\x8b\x08 no gzip")}) {
    std::ofstream(file, std::ios::app | std::ios::binary) << after;
    EXPECT_EQ(refusal(folder.path()).find("the export cannot be read"), 0u) << refusal(folder.path());
    fs::resize_file(file, whole);
  }
  std::ofstream(file, std::ios::app | std::ios::binary) << "more";
  EXPECT_NE(refusal(folder.path()).find("bytes follow its compressed text"), std::string::npos);
  fs::resize_file(file, whole);
  const gzFile again = gzopen(file.c_str(), "ab");  // a second member
  ASSERT_EQ(gzwrite(again, "\n", 0), 0);
  ASSERT_EQ(gzclose(again), Z_OK);
  EXPECT_EQ(read_results(folder.path()).records.size(), input.records.size());
  fs::resize_file(file, fs::file_size(file) / 2);
  EXPECT_NE(refusal(folder.path()).find("cannot be read"), std::string::npos) << refusal(folder.path());
}

TEST(Exported, RefusesLinesWithoutEnd) {
  Folder folder;
  const gzFile out = gzopen((folder.path() / "records.jsonl.gz").c_str(), "wb1");
  const std::string part(std::size_t{1} << 20, 'x');
  for (int i = 0; i < 65; ++i)
    ASSERT_EQ(gzwrite(out, part.data(), static_cast<unsigned>(part.size())), static_cast<int>(part.size()));
  ASSERT_EQ(gzclose(out), Z_OK);
  EXPECT_NE(refusal(folder.path()).find("a line of more than 64 MiB"), std::string::npos)
      << refusal(folder.path());
  std::ofstream(folder.path() / "records.jsonl") << std::string(100, '\0');
  EXPECT_NE(refusal(folder.path()).find("it is not text"), std::string::npos) << refusal(folder.path());
}

TEST(Exported, RefusesRecordsThatContradictThemselves) {
  Folder folder;
  const fs::path file = folder.path() / "records.jsonl";
  const auto refused = [&](const std::string& lines) {
    std::ofstream(file, std::ios::trunc) << lines;
    return refusal(folder.path());
  };
  nlohmann::json record = to_json(sample::input().records.at(1));
  const std::string good = record.dump() + "\n";
  EXPECT_NE(refused(good + good)
                .find("line 2): n8192-w2048-r1-h8-d64-fp32-p1-cpu/dilated/hilbert is already in "
                      "line 1"),
            std::string::npos)
      << refusal(folder.path());
  EXPECT_EQ(refused(good + R"({"schema": 1, "schema": 1})"),
            "record cannot be read (" + file.string() +
                " line 2): it cannot be read: its JSON has the key 'schema' twice in one object");
  nlohmann::json wrong = record;
  wrong["time_ns"]["median"] = 1e6;
  EXPECT_TRUE(refused(wrong.dump())
                  .starts_with("record cannot be read (" + file.string() +
                               " line 1): a record contradicts itself (n8192-w2048-r1-h8-d64-fp32-p1-cpu/"
                               "dilated/hilbert): its median is 1000000 ns, that of its samples"))
      << refusal(folder.path());
  record["time_ns"]["ci"] = {1.2, 1.1};
  EXPECT_NE(refused(record.dump()).find("'ci' is reversed"), std::string::npos) << refusal(folder.path());
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_NE(refused("{\"schema\": " + deep + "}").find("nested deeper than 100 levels"), std::string::npos)
      << refusal(folder.path());
  std::ofstream(folder.path() / "meta.json") << deep;
  EXPECT_NE(refused(good).find("nested deeper"), std::string::npos) << refusal(folder.path());
}

}  // namespace
}  // namespace hilbench
