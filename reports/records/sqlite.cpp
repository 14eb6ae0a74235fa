#include "reports/records/sqlite.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cstdio>
#include <cstring>
#include <utility>

#include "kernels/base/text/text.hpp"

namespace hilbench {
namespace {

constexpr std::size_t kShownStatement = 60;  // of a statement in a message: the views take pages

[[noreturn]] void fail(sqlite3* db, int status, std::string_view call) {
  const int code = db != nullptr && status != SQLITE_OK ? sqlite3_extended_errcode(db) : status;
  const int system = db != nullptr ? sqlite3_system_errno(db) : 0;
  std::string text = fmt::format("{} (SQLite status {}) in '{}'",
                                 db != nullptr ? sqlite3_errmsg(db) : sqlite3_errstr(status), code,
                                 one_line(call, kShownStatement));
  if (system != 0) text += fmt::format(", system: {}", std::strerror(system));
  throw SqliteError(code, system, text);
}

// What a file of strangers says runs nothing: no view, trigger or function in its schema
// (sqlite.org/security.html).
bool distrust(sqlite3* db) {
  for (const auto& [option, on] : {std::pair{SQLITE_DBCONFIG_DEFENSIVE, 1},
                                   {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                                   {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
                                   {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0}})
    if (sqlite3_db_config(db, option, on, nullptr) != SQLITE_OK) return false;
  return true;
}

}  // namespace

SqliteConnection::SqliteConnection(const std::filesystem::path& file, OpenMode mode, int busy_ms) {
  const int flags = SQLITE_OPEN_READWRITE | (mode == OpenMode::create ? SQLITE_OPEN_CREATE : 0);
  const int status = sqlite3_open_v2(file.c_str(), &db_, flags, nullptr);
  if (status == SQLITE_OK && sqlite3_extended_result_codes(db_, 1) == SQLITE_OK &&
      sqlite3_busy_timeout(db_, busy_ms) == SQLITE_OK && distrust(db_))
    return;
  try {
    fail(db_, status, "open");
  } catch (...) {
    sqlite3_close_v2(db_);
    throw;
  }
}

SqliteConnection::~SqliteConnection() {
  const int status = sqlite3_close(db_);
  if (status != SQLITE_OK)
    fmt::print(stderr, "hilbench: warning: closing the store: {}\n", sqlite3_errstr(status));
}

void SqliteConnection::execute(const std::string& sql) {
  const int status = sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr);
  if (status != SQLITE_OK) fail(db_, status, sql);
}

std::optional<std::string> SqliteConnection::value(const std::string& sql) {
  SqliteStatement statement(*this, sql);
  if (!statement.step()) return std::nullopt;
  return statement.text(0);
}

SqliteStatement::SqliteStatement(SqliteConnection& connection, const std::string& sql)
    : db_(connection.get()) {
  const int status = sqlite3_prepare_v2(db_, sql.c_str(), static_cast<int>(sql.size()), &statement_, nullptr);
  if (status != SQLITE_OK) fail(db_, status, sql);
}

SqliteStatement::~SqliteStatement() {
  sqlite3_finalize(statement_);  // returns the status of the last step, which was checked
}

void SqliteStatement::check(int status) const {
  if (status != SQLITE_OK) fail(db_, status, sqlite3_sql(statement_));
}

SqliteStatement& SqliteStatement::bind(std::string_view text) {
  check(sqlite3_bind_text(statement_, ++bound_, text.data(), static_cast<int>(text.size()), SQLITE_STATIC));
  return *this;
}
SqliteStatement& SqliteStatement::bind(std::int64_t value) {
  check(sqlite3_bind_int64(statement_, ++bound_, value));
  return *this;
}
SqliteStatement& SqliteStatement::bind(std::optional<double> value) {
  ++bound_;
  check(value ? sqlite3_bind_double(statement_, bound_, *value) : sqlite3_bind_null(statement_, bound_));
  return *this;
}

bool SqliteStatement::step() {
  const int status = sqlite3_step(statement_);
  if (status != SQLITE_ROW && status != SQLITE_DONE) fail(db_, status, sqlite3_sql(statement_));
  return status == SQLITE_ROW;
}

void SqliteStatement::run() {
  step();
  check(sqlite3_reset(statement_));
  bound_ = 0;
}

std::string SqliteStatement::text(int column) const {
  const unsigned char* bytes = sqlite3_column_text(statement_, column);
  if (bytes == nullptr) return "";
  return {reinterpret_cast<const char*>(bytes),
          static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

std::int64_t SqliteStatement::integer(int column) const {
  return sqlite3_column_int64(statement_, column);
}

bool SqliteStatement::is_null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

SqliteTransaction::SqliteTransaction(SqliteConnection& connection) : connection_(connection) {
  connection_.execute("BEGIN IMMEDIATE");
}

SqliteTransaction::~SqliteTransaction() {
  if (sqlite3_get_autocommit(connection_.get()) != 0) return;  // committed, or already rolled back by SQLite
  const int status = sqlite3_exec(connection_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
  if (status != SQLITE_OK)
    fmt::print(stderr, "hilbench: warning: rolling back the store: {}\n", sqlite3_errstr(status));
}

void SqliteTransaction::commit() {
  connection_.execute("COMMIT");
}

}  // namespace hilbench
