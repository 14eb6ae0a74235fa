#include "reports/records/store_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>

#include "kernels/base/text/error.hpp"
#include "kernels/base/text/text.hpp"
#include "reports/records/store_problems.hpp"
#include "reports/records/store_views.hpp"

namespace hilbench {
namespace {

struct Table {
  std::string_view name;
  std::string_view columns;
};

constexpr std::array kTables = {
    Table{"meta", "key TEXT PRIMARY KEY, value TEXT"},
    Table{"environment", "id INTEGER PRIMARY KEY, json TEXT UNIQUE"},
    Table{
        "comparison",
        "id INTEGER PRIMARY KEY, case_id TEXT UNIQUE, fingerprint TEXT, processes INTEGER, retried INTEGER"},
    Table{"record",
          "id INTEGER PRIMARY KEY, comparison_id INTEGER REFERENCES comparison(id), case_id TEXT, variant_id "
          "TEXT, twin INTEGER, kind TEXT, status TEXT, reason TEXT, time_median_ns REAL, environment_id "
          "INTEGER REFERENCES environment(id), json TEXT, UNIQUE(case_id, variant_id)"}};
std::string statement(const Table& table) {
  return fmt::format("CREATE TABLE {}({})", table.name, table.columns);
}

std::string without_blanks(std::string text) {
  std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
  return text;
}

[[noreturn]] void refuse(const std::filesystem::path& file, const std::string& why) {
  throw UsageError({.what = "not a store that hilbench wrote",
                    .where = file.string(),
                    .why = why,
                    .remedy = "do not use it, or export it with the program that changed it"});
}

}  // namespace

void create_tables(SqliteConnection& db) {
  for (const Table& table : kTables) db.execute(statement(table));
}

void expect_tables(SqliteConnection& db, const std::filesystem::path& file) {
  std::set<std::string_view> found;
  SqliteStatement rows(db, "SELECT type, name, sql FROM sqlite_master");
  while (rows.step()) {
    const std::string type = rows.text(0), name = rows.text(1);
    if (type == "index" && rows.is_null(2)) continue;  // of PRIMARY KEY and UNIQUE
    if (type == "view" && is_store_view(name)) continue;
    const auto* const table =
        std::find_if(kTables.begin(), kTables.end(), [&](const Table& each) { return each.name == name; });
    if (type != "table" || table == kTables.end())
      refuse(file, fmt::format("its {} '{}' is not part of a store", one_line(type, 20), one_line(name, 40)));
    if (without_blanks(rows.text(2)) != without_blanks(statement(*table)))
      refuse(file, fmt::format("its table {} has other columns than those of a store", name));
    found.insert(table->name);
  }
  for (const Table& table : kTables)
    if (!found.contains(table.name)) refuse_damaged(file, fmt::format("it has no table {}", table.name));
}

}  // namespace hilbench
