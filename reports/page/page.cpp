#include "reports/page/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "kernels/base/hash.hpp"
#include "reports/page/page_data.hpp"

namespace hilbench {

// Files of this folder, built into the program.
std::string_view embedded_page_style();
std::string_view embedded_page_values();
std::string_view embedded_page_charts();
std::string_view embedded_page_figures();
std::string_view embedded_page_tables();
std::string_view embedded_page_records();
std::string_view embedded_page_record();
std::string_view embedded_page_start();

namespace {

constexpr std::array<std::string_view, 5> kToneClasses = {"plain", "good", "bad", "neutral", "muted"};

// Words between backticks become code, as they do in Markdown.
std::string prose_html(std::string_view text) {
  const std::string escaped = html_text(text);
  if (std::count(escaped.begin(), escaped.end(), '`') % 2 != 0) return escaped;
  std::string html;
  bool code = false;
  for (const char letter : escaped) {
    if (letter != '`') {
      html += letter;
      continue;
    }
    html += code ? "</code>" : "<code>";
    code = !code;
  }
  return html;
}

struct Renderer {
  std::string operator()(const Paragraph& block) const {
    return fmt::format("<p>{}</p>\n", prose_html(block.text));
  }
  std::string operator()(const Heading& block) const {
    return fmt::format("<h3>{}</h3>\n", html_text(block.text));
  }
  std::string operator()(const Command& block) const {
    return fmt::format("<pre tabindex=\"0\"><code>{}</code></pre>\n", html_text(block.text));
  }
  std::string operator()(const Table& block) const { return to_html(block); }
  std::string operator()(const Figure&) const { return ""; }  // the page draws it from the data
  std::string operator()(const Bullets& block) const {
    std::string html = "<ul>\n";
    for (const std::string& item : block.items) html += fmt::format("<li>{}</li>\n", prose_html(item));
    html += "</ul>\n";
    if (block.fold.empty()) return html;
    return fmt::format("<details class=\"fold\">\n<summary>{}</summary>\n{}</details>\n",
                       html_text(block.fold), html);
  }
};

// Without scripts, elements that scripts need are left out.
enum class Scripts { none, some };

std::string header_of(const Document& document, Scripts scripts) {
  std::string html = fmt::format(
      "<header>\n{}<h1>{}</h1>\n<p class=\"question\">{}</p>\n"
      "<p class=\"machine\"><span>Machine</span> {}</p>\n",
      scripts == Scripts::some ? "<button type=\"button\" id=\"theme\">Dark</button>\n" : "",
      html_text(document.title), html_text(document.question), html_text(document.machine));
  for (std::size_t i = 0; i < document.answer.size(); ++i)
    html += fmt::format("<p{}>{}</p>\n", i == 0 ? " class=\"answer\"" : "", html_text(document.answer[i]));
  if (!document.tiles.empty()) html += "<dl class=\"tiles\">\n";
  for (const Tile& tile : document.tiles)
    html += fmt::format("<div class=\"{}\"><dt>{}</dt><dd>{}</dd></div>\n",
                        kToneClasses[static_cast<std::size_t>(tile.tone)], html_text(tile.label),
                        html_text(tile.value));
  if (!document.tiles.empty()) html += "</dl>\n";
  if (scripts == Scripts::some) html += "<nav aria-label=\"Sections\"></nav>\n";
  return html + "</header>\n";
}

// The nonce of the page's own scripts. Text inside the data cannot know it.
std::string nonce_of(std::string_view text) {
  return fmt::format("{:016x}{:016x}", fnv1a(text), fnv1a(text, kFnvPrime));  // from two bases
}

std::string head_of(const Document& document, const std::string& script_source) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "script-src '{}'; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light "
      "dark\">\n<title>{}</title>\n<style>\n{}</style>\n</head>\n",
      script_source, html_text(document.title), embedded_page_style());
}

// The elements that scripts fill. If there are no charts, `note` says why.
std::string places_of(const std::string& note) {
  return fmt::format(
      "<div id=\"figures\">{}</div>\n<div id=\"explorer\"></div>\n<noscript><p>Figures and the table of all "
      "records need JavaScript. report.md and tables/*.csv hold the same content.</p></noscript>\n",
      note.empty() ? "" : fmt::format("<p class=\"note\">This page has no charts: {}.</p>", html_text(note)));
}

std::string scripts_of(const std::string& data, const ChartLibrary& charts, const std::string& nonce) {
  std::string html = fmt::format(
      "<dialog id=\"record\"></dialog>\n<script type=\"application/json\" id=\"data\">{}</script>\n", data);
  if (!charts.script.empty())
    html += fmt::format("<script nonce=\"{}\">\n{}\n</script>\n", nonce, charts.script);
  html += fmt::format("<script nonce=\"{}\">\n\"use strict\";\n(() => {{\n", nonce);
  for (const std::string_view part :
       {embedded_page_values(), embedded_page_charts(), embedded_page_figures(), embedded_page_tables(),
        embedded_page_records(), embedded_page_record(), embedded_page_start()})
    html += part;
  return html + "})();\n</script>\n";
}

std::string to_html(const Section& section) {
  std::string html =
      fmt::format("<section id=\"{0}\" aria-labelledby=\"{0}-title\">\n<h2 id=\"{0}-title\">{1}</h2>\n",
                  section.id, html_text(section.title));
  for (const Block& block : section.blocks) html += std::visit(Renderer{}, block);
  return html + "</section>\n";
}

}  // namespace

std::string to_html(const Document& document) {
  std::string html = head_of(document, "none") + "<body>\n" + header_of(document, Scripts::none) + "<main>\n";
  for (const Section& section : document.sections) html += to_html(section);
  return html + "</main>\n</body>\n</html>\n";
}

std::string to_html(const Document& document, const nlohmann::json& data, const ChartLibrary& charts) {
  const std::string text = script_safe(data), nonce = nonce_of(text);
  std::string html =
      head_of(document, "nonce-" + nonce) + "<body>\n" + header_of(document, Scripts::some) + "<main>\n";
  bool placed = false;
  for (const Section& section : document.sections) {
    if (section.form == Form::text) {
      if (!placed) html += places_of(charts.note);
      placed = true;
      continue;
    }
    html += to_html(section);
  }
  return html + "</main>\n" + scripts_of(text, charts, nonce) + "</body>\n</html>\n";
}

}  // namespace hilbench
