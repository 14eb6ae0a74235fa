// Views of the store for people who query it by SQL: `results`, one row a record, and `samples`, one row a
// sample. docs/formats.md lists their columns.
#pragma once

#include <string_view>

#include "reports/records/sqlite.hpp"

namespace hilbench {

// Makes the views if they are absent or of another version of this program, and writes nothing otherwise. The
// database has the tables of store.hpp. Throws SqliteError.
void make_views(SqliteConnection& db);
// Whether it is the name of one of them.
bool is_store_view(std::string_view name);

}  // namespace hilbench
