// The part of SQLite that the store needs, with owners and checked statuses.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace hilbench {

// A call that failed, with the messages of SQLite and of the system. `code()` is the primary code
// (SQLITE_FULL), `extended_code()` is more precise (SQLITE_READONLY_DBMOVED).
class SqliteError : public std::runtime_error {
 public:
  SqliteError(int extended_code, int system_error, const std::string& text)
      : std::runtime_error(text), code_(extended_code), system_error_(system_error) {}
  int code() const { return code_ & 0xff; }
  int extended_code() const { return code_; }
  int system_error() const { return system_error_; }  // an errno; 0 if the system reported none

 private:
  int code_, system_error_;
};

enum class OpenMode { create, existing };

// Every member throws SqliteError.
class SqliteConnection {
 public:
  // Waits up to `busy_ms` for locks of other processes.
  SqliteConnection(const std::filesystem::path& file, OpenMode mode, int busy_ms);
  SqliteConnection(const SqliteConnection&) = delete;
  SqliteConnection& operator=(const SqliteConnection&) = delete;
  ~SqliteConnection();

  void execute(const std::string& sql);                      // any number of statements; rows are ignored
  std::optional<std::string> value(const std::string& sql);  // first column of the first row
  sqlite3* get() const { return db_; }

 private:
  sqlite3* db_ = nullptr;
};

class SqliteStatement {
 public:
  SqliteStatement(SqliteConnection& connection, const std::string& sql);
  SqliteStatement(const SqliteStatement&) = delete;
  SqliteStatement& operator=(const SqliteStatement&) = delete;
  ~SqliteStatement();

  // Parameters are numbered from 1 in the order of the calls. The text must live until the next step.
  SqliteStatement& bind(std::string_view text);
  SqliteStatement& bind(std::int64_t value);
  SqliteStatement& bind(std::optional<double> value);
  bool step();  // true if there is a row
  void run();   // steps once, expects no row, and makes the statement ready for new parameters

  std::string text(int column) const;
  std::int64_t integer(int column) const;
  bool is_null(int column) const;

 private:
  void check(int status) const;
  sqlite3* db_;
  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0;
};

// Rolled back unless committed.
class SqliteTransaction {
 public:
  explicit SqliteTransaction(SqliteConnection& connection);
  SqliteTransaction(const SqliteTransaction&) = delete;
  SqliteTransaction& operator=(const SqliteTransaction&) = delete;
  ~SqliteTransaction();
  void commit();

 private:
  SqliteConnection& connection_;
};

}  // namespace hilbench
