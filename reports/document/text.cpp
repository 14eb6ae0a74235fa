#include "kernels/base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "reports/document/document.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

// Characters, not bytes: UTF-8's continuation bytes take no place.
std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string padded(const std::string& text, std::size_t to, Align align) {
  const std::string space(to > width(text) ? to - width(text) : 0, ' ');
  return align == Align::right ? space + text : text + space;
}

std::string table_text(const Table& table) {
  std::vector<std::size_t> shown, widths;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].show == Show::data) continue;
    std::size_t widest = width(table.columns[i].title);
    for (const auto& row : table.rows) widest = std::max(widest, width(one_line(row[i].text)));
    shown.push_back(i);
    widths.push_back(widest);
  }
  std::string text;
  const auto line = [&](const auto& cell) {
    std::string made;
    for (std::size_t k = 0; k < shown.size(); ++k)
      made += (k == 0 ? "" : "  ") + padded(cell(shown[k]), widths[k], table.columns[shown[k]].align);
    made.erase(made.find_last_not_of(' ') + 1);
    text += made + "\n";
  };
  line([&](std::size_t i) { return table.columns[i].title; });
  for (const auto& row : table.rows) line([&](std::size_t i) { return one_line(row[i].text); });
  return text;
}

struct TextRenderer {
  std::string operator()(const Paragraph& block) const { return printable(block.text) + "\n"; }
  std::string operator()(const Heading& block) const { return printable(block.text) + "\n"; }
  std::string operator()(const Command& block) const { return "  " + printable(block.text) + "\n"; }
  std::string operator()(const Table& block) const { return table_text(block); }
  std::string operator()(const Figure& block) const {
    return fmt::format("(figure: {})\n", printable(block.title));
  }
  std::string operator()(const Picture& block) const {
    return fmt::format("(picture: {})\n", printable(block.title));
  }
  std::string operator()(const Bullets& block) const {
    std::string lines;
    for (const std::string& item : block.items) lines += "- " + one_line(item) + "\n";
    return lines;
  }
};

}  // namespace

std::string to_text(const Document& document) {
  std::string text = fmt::format("{}\nmachine: {}\n", printable(document.title), printable(document.machine));
  for (const std::string& sentence : document.answer) text += printable(sentence) + "\n";
  for (const Section& section : document.sections) {
    text += fmt::format("\n== {}\n", printable(section.title));
    for (const Block& block : section.blocks) text += std::visit(TextRenderer{}, block);
  }
  return text;
}

}  // namespace hilbench
