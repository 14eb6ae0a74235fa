// The store: one SQLite file, DIR/results.sqlite. A commit saves all records of a comparison together.
//
// Schema 2 (PRAGMA user_version and meta.schema; PRAGMA application_id is "hilb"):
//   meta(key TEXT PRIMARY KEY, value TEXT)               schema, sweep name, title, sweep file text, command
//   environment(id INTEGER PRIMARY KEY, json TEXT UNIQUE)
//   comparison(id INTEGER PRIMARY KEY, case_id TEXT UNIQUE, fingerprint TEXT, processes INTEGER,
//              retried INTEGER)
//   record(id INTEGER PRIMARY KEY, comparison_id, case_id, variant_id, twin INTEGER, kind, status, reason,
//          time_median_ns, environment_id, json TEXT, UNIQUE(case_id, variant_id))
// and the views of store_views.hpp, made when a store is opened for writing. record.json is the record as
// `export --format jsonl` prints it, without its environment. Records share environments: environment.json
// holds an environment without the members that change from record to record (time, load average, free
// memory), and equal ones only once. Those members are in record.json under "environment", by JSON pointer.
//
// Journal mode is DELETE and synchronous is FULL: between commits the store is one plain file. If a process
// is killed during a commit, a journal file remains; the next opening rolls it back.
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

inline constexpr int kStoreSchema = 2;
inline constexpr int kBusyMs = 10'000;  // how long opening waits for a program that holds the store

// How far the comparison of a case has come.
struct StoredComparison {
  std::string fingerprint;     // of what it depends on
  std::int64_t processes = 0;  // that measured it
  bool retried = false;        // measured once more because a variant had failed
};

class Store {
 public:
  // Creates DIR and the store, or opens it for writing. Locks the folder (flock on the folder itself, so that
  // no lock file remains). Throws UsageError if another hilbench holds the lock, the file is not a store or
  // has another schema, or the path is not possible; EnvironmentError if permission or room is missing, or
  // another program holds the store.
  static Store open_for_writing(const std::filesystem::path& folder, int busy_ms = kBusyMs);
  // Works in a read-only folder too. Throws UsageError if there is no store or it is damaged,
  // EnvironmentError if permission is missing.
  static Store open_for_reading(const std::filesystem::path& folder, int busy_ms = kBusyMs);
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  // All members below throw EnvironmentError if the disk fails, and UsageError if the store is damaged.
  void erase_all();  // --fresh
  void set_meta(std::string_view key, std::string_view value);
  std::map<std::string, std::string> meta() const;

  // As it was committed; nothing if the case is not there.
  std::optional<StoredComparison> comparison(const std::string& case_id) const;
  // Saves the records of one comparison in one transaction, in place of earlier ones of that case. Throws
  // EnvironmentError if the disk is full or the store is gone.
  void commit(const std::string& case_id, const StoredComparison& comparison,
              const std::vector<Record>& records);

  // In the order in which their comparisons were first committed.
  std::vector<Record> records() const;
  std::vector<Record> records_of(const std::string& case_id) const;

  // Removes environments that no record uses.
  void finish();

 private:
  struct Handle;
  explicit Store(std::unique_ptr<Handle> handle);
  std::unique_ptr<Handle> handle_;
};

}  // namespace hilbench
