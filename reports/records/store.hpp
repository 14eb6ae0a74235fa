// The store: one SQLite file, DIR/results.sqlite. A commit makes a comparison's records durable together.
//
// Schema 1 (PRAGMA user_version and meta.schema; PRAGMA application_id is "hilb"):
//   meta(key TEXT PRIMARY KEY, value TEXT)               schema, sweep name, title, sweep file text, command
//   environment(id INTEGER PRIMARY KEY, json TEXT UNIQUE)
//   comparison(id INTEGER PRIMARY KEY, case_id TEXT UNIQUE, fingerprint TEXT)
//   record(id INTEGER PRIMARY KEY, comparison_id, case_id, variant_id, kind, status, reason, time_median_ns,
//          speedup_ratio, environment_id, json TEXT, UNIQUE(case_id, variant_id))
// record.json is the record as `export --format jsonl` prints it, less its environment. Environments are
// shared: environment.json holds one without the members that change from record to record (its time, load
// average and free memory), equal texts once; those members stay in record.json under "environment", keyed by
// JSON pointer.
//
// Journal mode DELETE and synchronous FULL: between commits there is one plain file and nothing beside it.
// After a kill in the middle of a commit a journal lies beside it, which the next opening rolls back.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/records/record.hpp"

namespace hilbench {

inline constexpr int kStoreSchema = 1;

class Store {
 public:
  // Creates DIR and the store, or opens it for writing. Takes the lock of the folder (flock on the folder
  // itself, so that no file stays behind). Throws UsageError: locked by another hilbench, not a store, a
  // newer schema, no such place; EnvironmentError: no permission, no room, locked by another program.
  static Store open_for_writing(const std::filesystem::path& folder);
  // Reads from a read-only folder too. Throws UsageError: no store, or damaged; EnvironmentError: permission.
  static Store open_for_reading(const std::filesystem::path& folder);
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  // From here on a failing disk throws EnvironmentError, a damaged store UsageError.
  void erase_all();  // --fresh
  void set_meta(std::string_view key, std::string_view value);
  std::map<std::string, std::string> meta() const;

  // Fingerprint under which a case's comparison was committed, or nothing.
  std::optional<std::string> fingerprint(const std::string& case_id) const;
  // Commits the records of one comparison in one transaction, replacing earlier ones of that case.
  // Throws EnvironmentError where the disk is full or the store is gone.
  void commit(const std::string& case_id, const std::string& fingerprint, const std::vector<Record>& records);

  // In the order committed.
  std::vector<Record> records() const;
  std::vector<Record> records_of(const std::string& case_id) const;

  // Leaves one plain file that opens from a read-only folder.
  void finish();

 private:
  struct Handle;
  explicit Store(std::unique_ptr<Handle> handle);
  std::unique_ptr<Handle> handle_;
};

}  // namespace hilbench
