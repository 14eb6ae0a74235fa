// Records that were exported, read back: what a published folder holds in place of a store.
#pragma once

#include <filesystem>

#include "reports/view/input.hpp"

namespace hilbench {

// Whether `folder` holds records.jsonl or records.jsonl.gz, as `export --format jsonl` prints it, and no
// store.
bool holds_export(const std::filesystem::path& folder);
// Reads the records and, where it is there, meta.json: an object of texts, the store's meta. Throws
// UsageError with file and line where one of them is not what it should be, or a record stands there twice.
ReportInput read_exported(const std::filesystem::path& folder);
// Of a folder that holds either: an export, or a store.
ReportInput read_results(const std::filesystem::path& folder);

}  // namespace hilbench
