// One table, three forms: CSV for programs, Markdown and HTML for people.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace hilbench {

enum class Align { left, right, wrapped };   // wrapped: long text, on several lines
enum class Show { everywhere, page, data };  // page: Markdown and HTML only; data: CSV only
// How HTML colours a cell. The text says the same.
enum class Tone { plain, good, bad, neutral, muted, excluded };
std::string_view class_of(Tone tone);  // of HTML

struct Cell {
  std::string text;
  Tone tone = Tone::plain;
  std::string link = {};  // address that HTML links the text to; empty: none
};

struct Column {
  std::string key;    // CSV header
  std::string title;  // for readers
  Align align = Align::left;
  Show show = Show::everywhere;
};

// Rows that belong together; Markdown and HTML have a row with their title above them.
struct RowGroup {
  std::size_t first = 0;  // of its rows
  std::string title;
};

struct Table {
  std::string name;  // tables/NAME.csv; also its anchor
  std::string caption;
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;  // each as long as `columns`
  std::string fold = {};  // HTML shows only these words until they are clicked; empty: always the table
  std::vector<RowGroup> groups = {};  // by their first rows, rising; HTML does not sort rows in groups
};

// A column, and how its cells are made.
template <class Source>
struct ColumnOf {
  Column column;
  std::function<Cell(const Source&)> cell;
};

template <class Source>
Table make_table(std::string name, std::string caption, const std::vector<ColumnOf<Source>>& columns,
                 const std::vector<Source>& sources) {
  Table table{.name = std::move(name), .caption = std::move(caption), .columns = {}, .rows = {}};
  for (const auto& column : columns) table.columns.push_back(column.column);
  for (const Source& source : sources) {
    auto& row = table.rows.emplace_back();
    row.reserve(columns.size());
    for (const auto& column : columns) row.push_back(column.cell(source));
  }
  return table;
}

// A field of CSV (RFC 4180, section 2): quoted if it holds separators, quotes or line breaks. An apostrophe
// stands in front of text that a spreadsheet would run as a formula.
std::string csv_field(std::string_view text);
std::string to_csv(const Table& table);       // header first
std::string to_markdown(const Table& table);  // without its caption
std::string to_html(const Table& table);      // <table> in a box that scrolls

// Text from outside made safe: for content and quoted attributes in HTML; for an address, in which every byte
// that is neither a letter, a digit nor one of "-._~/" is percent-encoded; for Markdown.
std::string html_text(std::string_view text);
std::string address_of(std::string_view path);
std::string markdown_text(std::string_view text);
// Where a page shows the record: "#record=CASE/VARIANT".
std::string record_address(std::string_view case_id, std::string_view variant_id);

}  // namespace hilbench
