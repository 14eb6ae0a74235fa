// The tables of a store, and what a database that strangers made may hold besides.
#pragma once

#include <filesystem>

#include "reports/records/sqlite.hpp"

namespace hilbench {

// Creates the tables of kStoreSchema, without rows.
void create_tables(SqliteConnection& db);

// Throws UsageError unless the database holds the tables of a store, as hilbench makes them, and nothing else
// but the views of store_views.hpp: a trigger would change rows when a run resumes, and a view or a computed
// column in the name of a table could keep a reader busy for ever. Reads sqlite_master alone.
void expect_tables(SqliteConnection& db, const std::filesystem::path& file);

}  // namespace hilbench
