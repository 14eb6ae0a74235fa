#include "reports/exported.hpp"

#include <fmt/format.h>

#include <fstream>

#include "harness/error.hpp"
#include "harness/store.hpp"

namespace hilbench {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRecords = "records.jsonl";

std::ifstream opened(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::error_code error;
  if (!in || !fs::is_regular_file(file, error))
    throw UsageError({"cannot read the export", file.string(), "it is no file, or not open to you", ""});
  return in;
}

std::map<std::string, std::string> read_meta(const fs::path& file) {
  if (!fs::exists(file)) return {};
  std::ifstream in = opened(file);
  try {
    return nlohmann::json::parse(in).get<std::map<std::string, std::string>>();
  } catch (const nlohmann::json::exception&) {
    throw UsageError({"meta cannot be read", file.string(), "it is no JSON object of texts", ""});
  }
}

}  // namespace

bool holds_export(const fs::path& folder) {
  return fs::exists(folder / kRecords) && !fs::exists(folder / "results.sqlite");
}

ReportInput read_exported(const fs::path& folder) {
  ReportInput input;
  input.source = folder;
  input.meta = read_meta(folder / "meta.json");
  const fs::path file = folder / kRecords;
  std::ifstream in = opened(file);
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    try {
      input.records.push_back(record_from_json(nlohmann::json::parse(line)));
    } catch (const std::exception& error) {
      throw UsageError({"record cannot be read", fmt::format("{} line {}", file.string(), number),
                        one_line(error.what(), 200), ""});
    }
  }
  if (in.bad() || input.records.empty())
    throw UsageError(
        {"no records", file.string(), in.bad() ? "it cannot be read to its end" : "it is empty", ""});
  return input;
}

ReportInput read_results(const fs::path& folder) {
  if (holds_export(folder)) return read_exported(folder);
  const Store store = Store::open_for_reading(folder);
  return {store.records(), store.meta(), folder, {}};
}

}  // namespace hilbench
