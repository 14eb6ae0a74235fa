#include "reports/terminal/columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace hilbench {
namespace {

constexpr std::size_t kIndent = 2, kGap = 2, kNarrowestName = 16;

using Titles = std::array<std::string, 1 + kCellColumns>;

Align align_of(std::size_t column) {
  return column == kTimeColumn || column >= kRateColumn ? Align::right : Align::left;
}

// The columns of one table: which cells it shows, and how wide.
class Layout {
 public:
  Layout(const std::vector<TextRow>& rows, const Titles& titles, Headings headings, const Screen& screen)
      : titles_(titles), screen_(screen) {
    for (std::size_t column = 0; column < kCellColumns; ++column) widths_[column] = widest(rows, column);
    std::size_t most = 0;
    for (const TextRow& row : rows) {
      name_ = std::max(name_, display_width(row.name));
      most = std::max(most, row.number);
    }
    name_ = std::max(name_, display_width(titles[0]));
    if (headings == Headings::numbered) number_ = fmt::formatted_size("{}", most) + 1;
    widths_[kTimeColumn] = 0;
    if (!fits(name_)) {
      widths_[kTimeColumn] = widest(rows, kTimeColumn);
      widths_[kLongTimeColumn] = 0;
    }
    for (const std::size_t column : {kRateColumn, kPairsColumn})
      if (!fits(std::min(name_, kNarrowestName))) widths_[column] = 0;
    if (screen.width > 0)
      name_ = std::min(name_, std::max(kNarrowestName, screen.width - std::min(screen.width, rest())));
  }

  std::string title() const {
    TextRow row{.heading = "", .name = titles_[0]};
    for (std::size_t column = 0; column < kCellColumns; ++column)
      row.cells.push_back({titles_[1 + column], Tone::muted});
    return line(row, number_ > 0 ? "#" : "");
  }
  std::string row(const TextRow& row) const {
    return line(row, number_ > 0 ? fmt::format("{}", row.number) : "");
  }
  // "" if the group has none.
  std::string group_note(const TextRow& row) const {
    if (row.group_note.text.empty()) return "";
    return std::string(kIndent, ' ') + note(row.group_note, kIndent) + "\n";
  }

 private:
  // 0 if no row has such a cell.
  std::size_t widest(const std::vector<TextRow>& rows, std::size_t column) const {
    std::size_t width = 0;
    for (const TextRow& row : rows)
      if (!row.cells.empty()) width = std::max(width, display_width(row.cells[column].text));
    return width == 0 ? 0 : std::max(width, display_width(titles_[1 + column]));
  }
  std::size_t before_name() const { return kIndent + (number_ > 0 ? number_ + 1 : 0); }
  // What all but the name takes.
  std::size_t rest() const {
    std::size_t width = before_name();
    for (const std::size_t each : widths_) width += each > 0 ? kGap + each : 0;
    return width;
  }
  bool fits(std::size_t name) const { return screen_.width == 0 || rest() + name <= screen_.width; }

  std::string line(const TextRow& row, const std::string& number) const {
    std::string text = std::string(kIndent, ' ');
    if (number_ > 0) text += padded(number, number_, Align::left) + ' ';
    const bool long_name = display_width(row.name) > name_;
    text += row.cells.empty() ? row.name : padded(row.name, name_, Align::left);
    if (row.cells.empty()) return text + beside(row, long_name) + "\n";
    if (long_name) text = text + "\n" + std::string(before_name() + name_, ' ');
    std::string space;  // before the next text, so that none is left at the end of the line
    for (std::size_t column = 0; column < kCellColumns; ++column) {
      if (widths_[column] == 0) continue;
      const std::string cell = padded(row.cells[column].text, widths_[column], align_of(column));
      const std::size_t end = cell.find_last_not_of(' ') + 1;
      space += std::string(kGap, ' ');
      if (end > 0) text += space + toned(cell.substr(0, end), row.cells[column].tone, screen_);
      if (end > 0) space.clear();
      space += cell.substr(end);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text + "\n" + under(row);
  }

  // A note in the place of cells.
  std::string beside(const TextRow& row, bool long_name) const {
    const std::size_t column = before_name() + name_ + kGap;
    const std::string gap = long_name ? "\n" + std::string(column, ' ')
                                      : std::string(name_ - display_width(row.name) + kGap, ' ');
    return gap + note(row.note, column);
  }
  std::string under(const TextRow& row) const {
    constexpr std::size_t kNoteIndent = 4;
    if (row.note.text.empty()) return "";
    const std::size_t column = before_name() + kNoteIndent;
    return std::string(column, ' ') + note(row.note, column) + "\n";
  }
  std::string note(const Cell& note, std::size_t column) const {
    return toned(wrapped(note.text, screen_.width, column, column), note.tone, screen_);
  }

  const Titles& titles_;
  const Screen& screen_;
  std::array<std::size_t, kCellColumns> widths_{};
  std::size_t name_ = 0;
  std::size_t number_ = 0;  // width of the numbers of groups; 0: none are shown
};

}  // namespace

std::string columns_text(const std::vector<TextRow>& rows, const Titles& titles, Headings headings,
                         const Screen& screen) {
  if (rows.empty()) return "";
  const Layout layout(rows, titles, headings, screen);
  const bool numbered = headings == Headings::numbered;
  std::string text = layout.title();
  std::map<std::size_t, const TextRow*> groups;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const TextRow& row = rows[i];
    const bool first = groups.try_emplace(row.number, &row).second;
    const bool last = i + 1 == rows.size() || rows[i + 1].number != row.number;
    if (headings == Headings::shown && first)
      text += bold(wrapped(row.heading, screen.width, 0), screen) + "\n";
    text += layout.row(row);
    if (!numbered && last) text += layout.group_note(row);
  }
  if (!numbered) return text;
  for (const auto& [number, row] : groups)
    text += fmt::format("  {}: {}\n{}", number, row->heading, layout.group_note(*row));
  return text;
}

}  // namespace hilbench
