#include "kernels/base/text/text.hpp"

#include <fmt/format.h>

#include "reports/document/document.hpp"
#include "reports/terminal/table_text.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

struct TextRenderer {
  const Screen& screen;

  std::string lines(const std::string& text, std::size_t indent = 0) const {
    return wrapped(printable(text), screen.width, indent) + "\n";
  }
  std::string operator()(const Paragraph& block) const { return lines(block.text); }
  std::string operator()(const Heading& block) const { return lines(block.text); }
  std::string operator()(const Command& block) const { return "  " + printable(block.text) + "\n"; }
  std::string operator()(const Table& block) const { return table_text(block, screen); }
  std::string operator()(const Figure& block) const {
    return fmt::format("(figure: {})\n", printable(block.title));
  }
  std::string operator()(const Picture& block) const {
    return fmt::format("(picture: {})\n", printable(block.title));
  }
  std::string operator()(const Bullets& block) const {
    std::string lines;
    for (const std::string& item : block.items)
      lines += wrapped("- " + one_line(item), screen.width, 2) + "\n";
    return lines;
  }
};

}  // namespace

std::string to_text(const Document& document, const Screen& screen) {
  const TextRenderer renderer{screen};
  std::string text = renderer.lines(document.title) + renderer.lines("machine: " + document.machine, 2);
  for (std::size_t i = 0; i < document.answer.size(); ++i) {
    text += renderer.lines(document.answer[i]);
    if (i == 0 && !document.compared.rows.empty())
      text += "\n" + table_text(document.compared, screen) + "\n";
  }
  for (const Section& section : document.sections) {
    text += fmt::format("\n== {}\n", printable(section.title));
    for (const Block& block : section.blocks) text += std::visit(renderer, block);
  }
  return text;
}

}  // namespace hilbench
