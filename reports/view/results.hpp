// Reads the results in a folder: a store, or exported records as published folders hold them.
#pragma once

#include <filesystem>
#include <string>

#include "reports/view/input.hpp"

namespace hilbench {

// True if `folder` holds records.jsonl or records.jsonl.gz, as `export --format jsonl` prints them,
// and no store.
bool holds_export(const std::filesystem::path& folder);
// Reads the records and, if it exists, meta.json: the meta of the store as an object of texts. Throws
// UsageError with file and line if a record or meta.json cannot be read, or a record is there twice.
ReportInput read_exported(const std::filesystem::path& folder);
// Reads either: exported records, or a store.
ReportInput read_results(const std::filesystem::path& folder);
// The sweep of the results in `folder`, without reading its records; "" if its meta does not say.
std::string stored_sweep(const std::filesystem::path& folder);

}  // namespace hilbench
