// Records that were exported, read back: what a published folder holds in place of a store.
#pragma once

#include <filesystem>

#include "reports/report.hpp"

namespace hilbench {

// Whether `folder` holds records.jsonl, as `export --format jsonl` prints it, and no store.
bool holds_export(const std::filesystem::path& folder);
// Reads records.jsonl and, where it is there, meta.json: an object of texts, the store's meta. Throws
// UsageError with file and line where one of them is not what it should be.
ReportInput read_exported(const std::filesystem::path& folder);
// Records and meta of a folder, whichever of the two it holds.
ReportInput read_results(const std::filesystem::path& folder);

}  // namespace hilbench
