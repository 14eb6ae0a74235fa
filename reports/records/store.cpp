#include "reports/records/store.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <nlohmann/json.hpp>
#include <system_error>

#include "kernels/base/process/fail_point.hpp"
#include "kernels/base/text/error.hpp"
#include "kernels/base/text/json.hpp"
#include "kernels/base/text/text.hpp"
#include "reports/records/record_consistency.hpp"
#include "reports/records/sqlite.hpp"
#include "reports/records/store_environment.hpp"
#include "reports/records/store_folder.hpp"
#include "reports/records/store_problems.hpp"
#include "reports/records/store_tables.hpp"
#include "reports/records/store_views.hpp"

namespace hilbench {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kApplicationId = 0x68696c62;  // "hilb"
constexpr const char* kFileName = "results.sqlite";
constexpr std::int64_t kMostProcesses = 1'000'000;  // that a comparison can have; more is damage

// Throws UsageError if the file is not a store of a schema that this program reads. An empty database is not
// one.
void check_schema(SqliteConnection& db, const fs::path& file) {
  const std::string version = db.value("PRAGMA user_version").value_or("0");
  if (db.value("PRAGMA application_id") != std::to_string(kApplicationId))
    throw UsageError({.what = "not a store of hilbench",
                      .where = file.string(),
                      .why = "it is a database of another program, or an empty one",
                      .remedy = "move the file away, or give another folder"});
  if (std::stoll(version) > kStoreSchema)
    throw UsageError(
        {.what = fmt::format("the store was written by a newer hilbench (schema {}, this one knows {})",
                             version, kStoreSchema),
         .where = file.string(),
         .remedy = "use that version"});
  if (version == "1")
    throw UsageError({.what = fmt::format("the store was written by an older hilbench (schema 1, this one "
                                          "reads {})",
                                          kStoreSchema),
                      .where = file.string(),
                      .remedy = std::string(kSchema1Remedy)});
  if (std::stoll(version) < kStoreSchema) refuse_damaged(file, fmt::format("its schema is {}", version));
  expect_tables(db, file);
  const std::string noted = db.value("SELECT value FROM meta WHERE key = 'schema'").value_or("");
  if (noted != version)
    refuse_damaged(file,
                   fmt::format("its schema is {}, its table meta says '{}'", version, one_line(noted, 40)));
}

void create_store(SqliteConnection& db) {
  create_tables(db);
  db.execute(fmt::format("INSERT INTO meta VALUES ('schema', '{}')", kStoreSchema));
  db.execute(fmt::format("PRAGMA application_id = {}", kApplicationId));
  db.execute(fmt::format("PRAGMA user_version = {}", kStoreSchema));
}

}  // namespace

struct Store::Handle {
  fs::path file;
  FolderLock lock;
  std::unique_ptr<SqliteConnection> db;
};

Store::Store(std::unique_ptr<Handle> handle) : handle_(std::move(handle)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Store Store::open_for_writing(const fs::path& folder, int busy_ms) {
  const std::vector<fs::path> made = make_writable_folder(folder);
  auto handle = std::make_unique<Handle>();
  handle->file = folder / kFileName;
  handle->lock = FolderLock(folder);
  std::error_code ignored;
  const bool absent = !fs::exists(fs::symlink_status(handle->file, ignored));
  if (!absent && !fs::exists(handle->file, ignored))
    throw UsageError({.what = "the store is a link to a file that does not exist",
                      .where = handle->file.string(),
                      .remedy = "remove the link, or give another folder with -o"});
  if (!absent && !fs::is_regular_file(handle->file, ignored))
    throw UsageError({.what = "the store is no file",
                      .where = handle->file.string(),
                      .why = "a folder, a pipe or a device has its name",
                      .remedy = "move it away, or give another folder with -o"});
  try {
    while_opening(handle->file, [&] {
      handle->db = std::make_unique<SqliteConnection>(handle->file, OpenMode::create, busy_ms);
      SqliteConnection& db = *handle->db;
      // If the process that created it was killed, there is a database without tables.
      if (db.value("SELECT count(*) FROM sqlite_master") == "0" && db.value("PRAGMA application_id") == "0") {
        SqliteTransaction transaction(db);
        create_store(db);
        fail_point("new_store");
        transaction.commit();
      }
      check_schema(db, handle->file);
      db.execute("PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY");
      make_views(db);
    });
  } catch (...) {
    handle->db.reset();
    if (absent) fs::remove(handle->file, ignored);
    for (const fs::path& each : made) fs::remove(each, ignored);
    throw;
  }
  return Store(std::move(handle));
}

Store Store::open_for_reading(const fs::path& folder, int busy_ms) {
  auto handle = std::make_unique<Handle>();
  handle->file = folder / kFileName;
  std::error_code error;
  const bool found = fs::is_regular_file(handle->file, error);
  if (error && error != std::errc::no_such_file_or_directory)
    throw_file_error(error.value(), {.what = "cannot look for results", .where = folder.string()});
  if (!found)
    throw UsageError({.what = "no results here",
                      .where = folder.string(),
                      .why = fmt::format("there is no file {} in it", kFileName),
                      .remedy = "give the folder that `hilbench run` wrote, of a gate its baseline or "
                                "candidate, of a published machine one of its sweeps"});
  while_opening(handle->file, [&] {
    // Not SQLITE_OPEN_READONLY: the journal of a killed writer must be rolled back first. If the file or its
    // folder cannot be written, SQLite opens it for reading.
    handle->db = std::make_unique<SqliteConnection>(handle->file, OpenMode::existing, busy_ms);
    check_schema(*handle->db, handle->file);
    handle->db->execute("PRAGMA query_only = ON");
  });
  return Store(std::move(handle));
}

void Store::erase_all() {
  while_running(handle_->file, [&] {
    SqliteTransaction transaction(*handle_->db);
    handle_->db->execute("DROP TABLE record; DROP TABLE comparison; DROP TABLE environment; DROP TABLE meta");
    create_store(*handle_->db);
    transaction.commit();
    make_views(*handle_->db);
    handle_->db->execute("VACUUM");
  });
}

void Store::set_meta(std::string_view key, std::string_view value) {
  while_running(handle_->file, [&] {
    SqliteStatement(*handle_->db, "INSERT OR REPLACE INTO meta VALUES (?, ?)").bind(key).bind(value).run();
  });
}

std::map<std::string, std::string> Store::meta() const {
  return while_running(handle_->file, [&] {
    std::map<std::string, std::string> values;
    SqliteStatement rows(*handle_->db, "SELECT key, value FROM meta");
    while (rows.step()) values[rows.text(0)] = rows.text(1);
    return values;
  });
}

std::optional<StoredComparison> Store::comparison(const std::string& case_id) const {
  return while_running(handle_->file, [&]() -> std::optional<StoredComparison> {
    SqliteStatement rows(*handle_->db,
                         "SELECT fingerprint, processes, retried FROM comparison WHERE case_id = ?");
    rows.bind(case_id);
    if (!rows.step()) return std::nullopt;
    const std::int64_t processes = rows.integer(1);
    if (processes < 0 || processes > kMostProcesses)
      refuse_damaged(handle_->file, fmt::format("{} is of {} processes", one_line(case_id, 100), processes));
    return StoredComparison{
        .fingerprint = rows.text(0), .processes = processes, .retried = rows.integer(2) != 0};
  });
}

namespace {

std::int64_t environment_id(SqliteConnection& db, const std::string& text) {
  SqliteStatement(db, "INSERT OR IGNORE INTO environment(json) VALUES (?)").bind(text).run();
  SqliteStatement found(db, "SELECT id FROM environment WHERE json = ?");
  found.bind(text).step();
  return found.integer(0);
}

void insert_record(SqliteConnection& db, std::int64_t comparison, const Record& record) {
  json body = to_json(record);
  json environment = std::move(body["environment"]);
  body["environment"] = take_varying(environment);
  const std::string text = body.dump();
  const std::int64_t shared = environment_id(db, environment.dump());
  const std::string kind = body["kind"];
  SqliteStatement insert(db,
                         "INSERT INTO record(comparison_id, case_id, variant_id, twin, kind, status, reason, "
                         "time_median_ns, environment_id, json) VALUES (?,?,?,?,?,?,?,?,?,?)");
  insert.bind(comparison).bind(record.case_id).bind(record.variant_id);
  insert.bind(std::int64_t{record.twin}).bind(kind);
  insert.bind(to_string(record.status)).bind(record.reason);
  insert.bind(record.time ? std::optional(record.time->median_ns) : std::nullopt);
  insert.bind(shared).bind(text).run();
}

// Columns of `rows`: record.json and environment.json.
std::vector<Record> read_records(SqliteStatement& rows, const fs::path& file) {
  std::vector<Record> records;
  while (rows.step()) {
    if (rows.is_null(1)) refuse_damaged(file, "the environment of a record is missing");
    try {
      json body = parse_json(rows.text(0), "it");
      body["environment"] = put_back(parse_json(rows.text(1), "its environment"), body.at("environment"));
      records.push_back(record_from_json(body));
      expect_consistent(records.back());
    } catch (const SqliteError&) {
      throw;
    } catch (const json::exception&) {
      refuse_damaged(file, "the environment of a record does not fit it");
    } catch (const std::exception& error) {
      throw UsageError({.what = "the store holds a record that cannot be read",
                        .where = file.string(),
                        .why = error.what(),
                        .remedy = "move the file away and run again"});
    }
  }
  return records;
}

constexpr const char* kSelect =
    "SELECT record.json, environment.json FROM record LEFT JOIN environment ON environment_id = "
    "environment.id ";

}  // namespace

void Store::commit(const std::string& case_id, const StoredComparison& comparison,
                   const std::vector<Record>& records) {
  while_running(handle_->file, [&] {
    SqliteConnection& db = *handle_->db;
    SqliteTransaction transaction(db);
    SqliteStatement(db, "DELETE FROM record WHERE case_id = ?").bind(case_id).run();
    SqliteStatement(db,
                    "INSERT INTO comparison(case_id, fingerprint, processes, retried) VALUES (?, ?, ?, ?) "
                    "ON CONFLICT(case_id) DO UPDATE SET fingerprint = excluded.fingerprint, "
                    "processes = excluded.processes, retried = excluded.retried")
        .bind(case_id)
        .bind(comparison.fingerprint)
        .bind(comparison.processes)
        .bind(std::int64_t{comparison.retried})
        .run();
    SqliteStatement found(db, "SELECT id FROM comparison WHERE case_id = ?");
    found.bind(case_id).step();
    for (const Record& record : records) insert_record(db, found.integer(0), record);
    fail_point("in_commit", {case_id});
    transaction.commit();
  });
}

std::vector<Record> Store::records() const {
  return while_running(handle_->file, [&] {
    SqliteStatement rows(*handle_->db, std::string(kSelect) + "ORDER BY comparison_id, record.id");
    return read_records(rows, handle_->file);
  });
}

std::vector<Record> Store::records_of(const std::string& case_id) const {
  return while_running(handle_->file, [&] {
    SqliteStatement rows(*handle_->db, std::string(kSelect) + "WHERE case_id = ? ORDER BY record.id");
    rows.bind(case_id);
    return read_records(rows, handle_->file);
  });
}

void Store::finish() {
  while_running(handle_->file, [&] {
    handle_->db->execute("DELETE FROM environment WHERE id NOT IN (SELECT environment_id FROM record)");
  });
}

}  // namespace hilbench
