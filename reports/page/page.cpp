#include "reports/page/page.hpp"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "reports/figures/report_data.hpp"

namespace hilbench {

namespace {

constexpr std::string_view kNamespace = " xmlns=\"http://www.w3.org/2000/svg\"";

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
  std::string operator()(const Picture& block) const {
    std::string svg = block.svg;
    if (const std::size_t at = svg.find(kNamespace); at != std::string::npos)
      svg.erase(at, kNamespace.size());  // a file needs it, a page does not
    return fmt::format("<figure class=\"picture\">\n{}<figcaption>{}</figcaption>\n</figure>\n", svg,
                       html_text(block.caption));
  }
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

std::string header_of(const Document& document, const PageFrame& frame, Scripts scripts) {
  std::string html = fmt::format(
      "<header>\n{}{}<h1>{}</h1>\n<p class=\"question\">{}</p>\n"
      "<p class=\"machine\"><span>Machine</span> {}</p>\n",
      scripts == Scripts::some ? "<button type=\"button\" id=\"theme\">Dark</button>\n" : "",
      trail_html(frame), html_text(document.title), html_text(document.question),
      html_text(document.machine));
  for (std::size_t i = 0; i < document.answer.size(); ++i) {
    html += fmt::format("<p{}>{}</p>\n", i == 0 ? " class=\"answer\"" : "", html_text(document.answer[i]));
    if (i == 0 && !document.compared.rows.empty()) html += to_html(document.compared);
  }
  if (!document.tiles.empty()) html += "<dl class=\"tiles\">\n";
  for (const Tile& tile : document.tiles)
    html += fmt::format("<div class=\"{}\"><dt>{}</dt><dd>{}</dd></div>\n", class_of(tile.tone),
                        html_text(tile.label), html_text(tile.value));
  if (!document.tiles.empty()) html += "</dl>\n";
  if (scripts == Scripts::some) html += "<nav aria-label=\"Sections\"></nav>\n";
  return html + "</header>\n";
}

// The elements that scripts fill. If there are no charts, `note` says why.
std::string places_of(const std::string& note) {
  return fmt::format(
      "<div id=\"figures\">{}</div>\n<div id=\"explorer\"></div>\n<noscript><p>Figures and the table of all "
      "records need JavaScript. report.md and tables/*.csv hold the same content.</p></noscript>\n",
      note.empty() ? "" : fmt::format("<p class=\"note\">This page has no charts: {}.</p>", html_text(note)));
}

// A script, in the page or beside it.
std::string script_html(const PageFrame& frame, const char* file, const std::string& script,
                        const std::string& nonce) {
  if (frame.assets.empty()) return fmt::format("<script nonce=\"{}\">\n{}\n</script>\n", nonce, script);
  return fmt::format("<script nonce=\"{}\" src=\"{}/{}\"></script>\n", nonce, html_text(frame.assets), file);
}

std::string scripts_of(const std::string& data, const ChartLibrary& charts, const PageFrame& frame,
                       const std::string& nonce) {
  std::string html = fmt::format(
      "<dialog id=\"record\"></dialog>\n<script type=\"application/json\" id=\"data\">{}</script>\n", data);
  if (!charts.script.empty()) html += script_html(frame, "charts.js", charts.script, nonce);
  return html + script_html(frame, "report.js", report_script(), nonce);
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
  std::string html =
      head_html(document.title, {}, "") + "<body>\n" + header_of(document, {}, Scripts::none) + "<main>\n";
  for (const Section& section : document.sections) html += to_html(section);
  return html + "</main>\n</body>\n</html>\n";
}

std::string to_html(const Document& document, const nlohmann::json& data, const ChartLibrary& charts,
                    const PageFrame& frame) {
  const std::string text = script_safe(data), nonce = nonce_of(text);
  std::string html = head_html(document.title, frame, nonce) + "<body>\n" +
                     header_of(document, frame, Scripts::some) + "<main>\n";
  bool placed = false;
  for (const Section& section : document.sections) {
    if (section.form == Form::text) {
      if (!placed) html += places_of(charts.note);
      placed = true;
      continue;
    }
    html += to_html(section);
  }
  return html + "</main>\n" + scripts_of(text, charts, frame, nonce) + "</body>\n</html>\n";
}

}  // namespace hilbench
