#include "reports/terminal/table_text.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "kernels/base/text/text.hpp"

namespace hilbench {
namespace {

constexpr std::size_t kTableGap = 2, kHeadingIndent = 2, kUnderIndent = 6, kLeastName = 12,
                      kLongestText = 4000;

struct TextColumn {
  std::string title;
  Align align = Align::left;
  std::vector<std::string> cells;

  std::size_t width() const {
    std::size_t width = display_width(title);
    for (const std::string& cell : cells) width = std::max(width, display_width(cell));
    return width;
  }
  bool empty() const {
    return std::ranges::all_of(cells, [](const std::string& cell) { return cell.empty(); });
  }
};

void end_line(std::string& line, std::string& text) {
  line.erase(line.find_last_not_of(' ') + 1);
  text += line + "\n";
}

class TableLayout {
 public:
  TableLayout(const Table& table, const Screen& screen) : screen_(screen), rows_(table.rows.size()) {
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      if (table.columns[i].show == Show::data) continue;
      TextColumn& column =
          columns_.emplace_back(TextColumn{table.columns[i].title, table.columns[i].align, {}});
      for (const auto& row : table.rows) column.cells.push_back(one_line(row[i].text, kLongestText));
    }
    if (screen_.width == 0 || columns_.empty()) return;
    if (!fits()) std::erase_if(columns_, [](const TextColumn& column) { return column.empty(); });
    if (!fits()) take_headings();
    if (!fits()) take_notes();
    if (fits()) return;
    const std::vector<TextColumn> whole = columns_;
    drop_intervals();
    if (!fits()) narrow_name();
    if (!fits()) columns_ = whole;
  }

  std::string text() const {
    if (columns_.empty()) return "";
    return fits() ? lines() : row_by_row();
  }

 private:
  std::size_t indent() const { return headings_.empty() ? 0 : kHeadingIndent; }
  std::size_t name_width() const { return name_ == 0 ? columns_.front().width() : name_; }
  std::size_t width() const {
    std::size_t width = indent() + name_width();
    for (std::size_t i = 1; i < columns_.size(); ++i) width += kTableGap + columns_[i].width();
    return width;
  }
  bool fits() const { return screen_.width == 0 || width() <= screen_.width; }

  void take_headings() {
    const std::vector<std::string>& first = columns_.front().cells;
    if (columns_.size() < 2 || std::ranges::adjacent_find(first) == first.end()) return;
    headings_ = first;
    columns_.erase(columns_.begin());
  }
  // The last column, if it is a long text.
  void take_notes() {
    const TextColumn& last = columns_.back();
    if (columns_.size() < 3 || last.align == Align::right || last.width() <= 2 * kLeastName) return;
    notes_ = last;
    columns_.pop_back();
  }
  // "50.05 us [49.69, 50.41]" becomes "50.05 us", from the left, while it is needed. Not of ratios: the
  // interval is their verdict.
  void drop_intervals() {
    for (std::size_t i = 1; i < columns_.size() && !fits(); ++i) {
      if (columns_[i].title.find('/') != std::string::npos) continue;
      for (std::string& cell : columns_[i].cells) cell.erase(std::min(cell.find(" ["), cell.size()));
      columns_[i].title.erase(std::min(columns_[i].title.find(" ["), columns_[i].title.size()));
    }
  }
  void narrow_name() {
    const std::size_t others = width() - name_width();
    if (others + kLeastName <= screen_.width) name_ = screen_.width - others;
  }

  std::string lines() const {
    std::string text, line(indent(), ' ');
    for (std::size_t i = 0; i < columns_.size(); ++i)
      line += (i == 0 ? "" : std::string(kTableGap, ' ')) +
              padded(columns_[i].title, i == 0 ? name_width() : columns_[i].width(), columns_[i].align);
    end_line(line, text);
    for (std::size_t row = 0; row < rows_; ++row) {
      add_heading(row, text);
      std::string cells(indent(), ' ');
      const std::string& name = columns_.front().cells[row];
      cells += padded(name, name_width(), columns_.front().align);
      if (display_width(name) > name_width()) {
        end_line(cells, text);
        cells = std::string(indent() + name_width(), ' ');
      }
      for (std::size_t i = 1; i < columns_.size(); ++i)
        cells += std::string(kTableGap, ' ') +
                 padded(columns_[i].cells[row], columns_[i].width(), columns_[i].align);
      end_line(cells, text);
      add_note(row, text);
    }
    return text;
  }
  std::string row_by_row() const {
    std::string text;
    for (std::size_t row = 0; row < rows_; ++row) {
      add_heading(row, text);
      text +=
          std::string(indent(), ' ') + wrapped(first_text(row), screen_.width, kUnderIndent, indent()) + "\n";
      std::string cells;
      for (std::size_t i = 1; i < columns_.size(); ++i)
        if (!columns_[i].cells[row].empty())
          cells += (cells.empty() ? "" : "; ") + columns_[i].title + " " + columns_[i].cells[row];
      add_text(cells, text);
      add_note(row, text);
    }
    return text;
  }
  // A number needs its title.
  std::string first_text(std::size_t row) const {
    const TextColumn& first = columns_.front();
    return first.align == Align::right ? first.title + " " + first.cells[row] : first.cells[row];
  }
  void add_heading(std::size_t row, std::string& text) const {
    if (!headings_.empty() && (row == 0 || headings_[row] != headings_[row - 1]))
      text += wrapped(headings_[row], screen_.width, kHeadingIndent) + "\n";
  }
  void add_note(std::size_t row, std::string& text) const {
    if (!notes_.cells.empty() && !notes_.cells[row].empty())
      add_text(notes_.title + ": " + notes_.cells[row], text);
  }
  void add_text(const std::string& note, std::string& text) const {
    if (note.empty()) return;
    text += std::string(kUnderIndent, ' ') + wrapped(note, screen_.width, kUnderIndent, kUnderIndent) + "\n";
  }

  const Screen& screen_;
  std::size_t rows_;
  std::vector<TextColumn> columns_;
  std::vector<std::string> headings_;  // of each row; empty: there are none
  TextColumn notes_;
  std::size_t name_ = 0;  // width of the first column; 0: that of its texts
};

}  // namespace

std::string table_text(const Table& table, const Screen& screen) {
  return TableLayout(table, screen).text();
}

}  // namespace hilbench
