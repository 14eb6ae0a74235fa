#include <fmt/format.h>

#include <array>
#include <string_view>

#include "reports/document.hpp"

namespace hilbench {

std::string_view embedded_report_style();  // page.css

namespace {

constexpr std::array<std::string_view, 5> kToneClasses = {"plain", "good", "bad", "neutral", "muted"};

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

// Several pictures share one page: the prolog goes, ids get the figure's name, and the namespace addresses,
// which HTML implies, go so that the page names no address at all.
std::string inlined(const Figure& figure) {
  const std::size_t begin = figure.svg.find("<svg");
  if (begin == std::string::npos) return "";
  std::string svg = figure.svg.substr(begin);
  replace_all(svg, "xmlns=\"http://www.w3.org/2000/svg\"", "");
  replace_all(svg, "xmlns:xlink=\"http://www.w3.org/1999/xlink\"", "role=\"img\"");
  replace_all(svg, "xlink:href=", "href=");
  for (const std::string_view quote : {"'", "\""}) {
    replace_all(svg, fmt::format(" id={}", quote), fmt::format(" id={}{}-", quote, figure.name));
    replace_all(svg, fmt::format("href={}#", quote), fmt::format("href={}#{}-", quote, figure.name));
  }
  replace_all(svg, "url(#", fmt::format("url(#{}-", figure.name));
  return svg;
}

struct Renderer {
  std::string operator()(const Paragraph& block) const {
    return fmt::format("<p>{}</p>\n", html_text(block.text));
  }
  std::string operator()(const Heading& block) const {
    return fmt::format("<h3>{}</h3>\n", html_text(block.text));
  }
  std::string operator()(const Command& block) const {
    return fmt::format("<pre tabindex=\"0\"><code>{}</code></pre>\n", html_text(block.text));
  }
  std::string operator()(const Table& block) const { return to_html(block); }
  std::string operator()(const Figure& block) const {
    return fmt::format(
        "<figure id=\"figure-{}\">\n<div class=\"picture\" tabindex=\"0\">{}</div>\n"
        "<figcaption><b>{}.</b> {}</figcaption>\n</figure>\n",
        block.name, inlined(block), html_text(block.title), html_text(block.caption));
  }
  std::string operator()(const Bullets& block) const {
    std::string html = "<ul>\n";
    for (const std::string& item : block.items) html += fmt::format("<li>{}</li>\n", html_text(item));
    return html + "</ul>\n";
  }
};

std::string header_of(const Document& document) {
  std::string html = fmt::format(
      "<header>\n<h1>{}</h1>\n<p class=\"question\">{}</p>\n"
      "<p class=\"machine\"><span>Machine</span> {}</p>\n",
      html_text(document.title), html_text(document.question), html_text(document.machine));
  for (std::size_t i = 0; i < document.answer.size(); ++i)
    html += fmt::format("<p{}>{}</p>\n", i == 0 ? " class=\"answer\"" : "", html_text(document.answer[i]));
  html += "<dl class=\"tiles\">\n";
  for (const Tile& tile : document.tiles)
    html += fmt::format("<div class=\"{}\"><dt>{}</dt><dd>{}</dd></div>\n",
                        kToneClasses[static_cast<std::size_t>(tile.tone)], html_text(tile.label),
                        html_text(tile.value));
  html += "</dl>\n<nav aria-label=\"Sections\">\n";
  for (const Section& section : document.sections)
    html += fmt::format("<a href=\"#{}\">{}</a>\n", section.id, html_text(section.title));
  return html + "</nav>\n</header>\n";
}

}  // namespace

std::string to_html(const Document& document) {
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light "
      "dark\">\n<title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n",
      html_text(document.title), embedded_report_style());
  html += header_of(document) + "<main>\n";
  for (const Section& section : document.sections) {
    html += fmt::format("<section id=\"{0}\" aria-labelledby=\"{0}-title\">\n<h2 id=\"{0}-title\">{1}</h2>\n",
                        section.id, html_text(section.title));
    for (const Block& block : section.blocks) html += std::visit(Renderer{}, block);
    html += "</section>\n";
  }
  return html + "</main>\n</body>\n</html>\n";
}

}  // namespace hilbench
