// Rows of text in columns that fit a screen.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "reports/terminal/screen.hpp"

namespace hilbench {

inline constexpr std::size_t kTimeColumn = 0, kLongTimeColumn = 1, kRateColumn = 4, kPairsColumn = 5,
                             kCellColumns = 6;

struct TextRow {
  std::string heading;           // of the group that the row belongs to
  std::string name;              // first column
  std::size_t number = 0;        // of the group, from 1
  std::vector<Cell> cells = {};  // kCellColumns, or none: the note stands in their place
  Cell note = {};                // under the row; "" if there is none
  Cell group_note = {};          // the same in all rows of a group: under its last row, or behind its heading
};

// shown: above the first row of each group, whose rows follow each other. numbered: a column in front, and a
// list of the groups at the end.
enum class Headings { none, shown, numbered };

// `titles`: of the name and of the cells. On a narrow screen, of 72 characters at least, the short time
// stands in place of the long one, then the rate is left out, then the pairs; a name that is longer than its
// column has a line of its own.
std::string columns_text(const std::vector<TextRow>& rows,
                         const std::array<std::string, 1 + kCellColumns>& titles, Headings headings,
                         const Screen& screen);

}  // namespace hilbench
