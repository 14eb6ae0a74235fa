#include <fmt/format.h>

#include "kernels/base/text/text.hpp"
#include "reports/document/document.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

// A code block whose fence is longer than any run of backticks inside.
std::string fenced(const std::string& text) {
  std::string fence = "```";
  while (text.find(fence) != std::string::npos) fence += '`';
  return fmt::format("{0}\n{1}\n{0}\n", fence, text);
}

struct MarkdownRenderer {
  std::string operator()(const Paragraph& block) const { return markdown_text(block.text) + "\n"; }
  std::string operator()(const Heading& block) const {
    return fmt::format("### {}\n", markdown_text(block.text));
  }
  std::string operator()(const Command& block) const { return fenced(printable(block.text)); }
  std::string operator()(const Table& block) const {
    return (block.caption.empty() ? "" : fmt::format("**{}**\n\n", markdown_text(block.caption))) +
           to_markdown(block);
  }
  std::string operator()(const Figure& block) const {
    return fmt::format("![{0}](figures/{1}.svg)\n\n**{0}.** {2}\n", markdown_text(block.title), block.name,
                       markdown_text(block.caption));
  }
  std::string operator()(const Picture& block) const {
    return (*this)(Figure{block.name, block.title, block.caption});
  }
  std::string operator()(const Bullets& block) const {
    std::string lines;
    for (const std::string& item : block.items) lines += fmt::format("- {}\n", markdown_text(item));
    return lines;
  }
};

}  // namespace

std::string to_markdown(const Document& document) {
  std::string text = fmt::format("# {}\n\n{}\n\nMachine: **{}**\n\n", markdown_text(document.title),
                                 markdown_text(document.question), markdown_text(document.machine));
  for (std::size_t i = 0; i < document.answer.size(); ++i) {
    text += markdown_text(document.answer[i]) + "\n\n";
    if (i == 0 && !document.compared.rows.empty()) text += to_markdown(document.compared) + "\n";
  }
  if (!document.tiles.empty()) text += "| verdict | claims |\n|---|---:|\n";
  for (const Tile& tile : document.tiles) text += fmt::format("| {} | {} |\n", tile.label, tile.value);
  for (const Section& section : document.sections) {
    text += fmt::format("\n## {}\n", markdown_text(section.title));
    for (const Block& block : section.blocks)
      text += fmt::format("\n{}", std::visit(MarkdownRenderer{}, block));
  }
  return text;
}

}  // namespace hilbench
