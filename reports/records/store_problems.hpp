// Failures of SQLite as errors that a user can act on.
#pragma once

#include <sqlite3.h>

#include <filesystem>
#include <string>

#include "kernels/base/text/error.hpp"
#include "reports/records/sqlite.hpp"

namespace hilbench {

Problem explain(const SqliteError& error, const std::filesystem::path& file);

// Whether there is no room for the file, or for a journal beside it.
bool is_without_room(const SqliteError& error, const std::filesystem::path& file);

[[noreturn]] void refuse_damaged(const std::filesystem::path& file, const std::string& why);

// Runs `body` and turns a SqliteError into an error of the program. UsageError if the file is not a
// store or is damaged; EnvironmentError otherwise. While a store is opened, also UsageError if the path
// is not possible.
template <class Body>
auto while_running(const std::filesystem::path& file, const Body& body) {
  try {
    return body();
  } catch (const SqliteError& error) {
    const bool damaged = error.code() == SQLITE_CORRUPT || error.code() == SQLITE_ERROR ||
                         error.code() == SQLITE_CONSTRAINT;  // see explain
    if (damaged || error.code() == SQLITE_NOTADB) throw UsageError(explain(error, file));
    throw EnvironmentError(explain(error, file));
  }
}
template <class Body>
auto while_opening(const std::filesystem::path& file, const Body& body) {
  return while_running(file, [&] {
    try {
      return body();
    } catch (const SqliteError& error) {
      const bool no_place = error.code() == SQLITE_CANTOPEN && !is_of_the_machine(error.system_error()) &&
                            !is_without_room(error, file);
      if (no_place) throw UsageError(explain(error, file));
      throw;
    }
  });
}

}  // namespace hilbench
