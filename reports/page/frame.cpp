#include "reports/page/frame.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "kernels/base/text/hash.hpp"
#include "reports/figures/figure_script.hpp"
#include "reports/view/table.hpp"

namespace hilbench {

// Files of this folder, built into the program.
std::string_view embedded_page_style();
std::string_view embedded_page_elements();
std::string_view embedded_page_frame();
std::string_view embedded_page_data();
std::string_view embedded_page_figure();
std::string_view embedded_page_figures();
std::string_view embedded_page_tables();
std::string_view embedded_page_records();
std::string_view embedded_page_record();
std::string_view embedded_page_start();
std::string_view embedded_page_plain();

namespace {

std::string script_of(std::initializer_list<std::string_view> parts) {
  std::string script = "\"use strict\";\n(() => {\n";
  for (const std::string_view part : parts) script += part;
  return script + "})();\n";
}

std::string style_of() {
  return std::string(colour_style()) + std::string(embedded_page_style());
}

std::string preview_html(std::string_view title, const PageFrame& frame) {
  if (frame.description.empty()) return "";
  const std::string about = html_text(frame.description);
  std::string html = fmt::format(
      "<meta name=\"description\" content=\"{0}\">\n<meta property=\"og:type\" content=\"article\">\n"
      "<meta property=\"og:title\" content=\"{1}\">\n<meta property=\"og:description\" content=\"{0}\">\n",
      about, html_text(title));
  if (!frame.picture.empty())
    html += fmt::format(
        "<meta property=\"og:image\" content=\"{}\">\n<meta name=\"twitter:card\" "
        "content=\"summary_large_image\">\n",
        html_text(frame.picture));
  return html;
}

}  // namespace

std::string nonce_of(std::string_view text) {
  return fmt::format("{:016x}{:016x}", fnv1a(text), fnv1a(text, kFnvPrime));  // from two bases
}

std::string head_html(std::string_view title, const PageFrame& frame, const std::string& nonce) {
  const bool alone = frame.assets.empty();
  const std::string style =
      alone ? fmt::format("<style>\n{}</style>\n", style_of())
            : fmt::format("<link rel=\"stylesheet\" href=\"{}/page.css\">\n", html_text(frame.assets));
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "{}'unsafe-inline'; "
      "{}script-src {}; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n{}<title>{}</title>\n{}{}</head>\n",
      alone ? "" : "'self' ", alone ? "" : "img-src 'self'; ",
      nonce.empty() ? "'none'" : "'nonce-" + nonce + "'",
      alone ? "" : "<meta name=\"generator\" content=\"hilbench site\">\n", html_text(title),
      preview_html(title, frame), style);
}

std::string link_html(const Link& link) {
  return fmt::format("<a href=\"{}\">{}</a>", html_text(link.address), html_text(link.text));
}

std::string trail_html(const PageFrame& frame) {
  if (frame.trail.empty()) return "";
  std::string html = "<p class=\"trail\">";
  for (const Link& link : frame.trail) html += link_html(link) + " / ";
  return html + "</p>\n";
}

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

std::string report_script() {
  return script_of({embedded_page_data(), text_script(), figure_script(), embedded_page_elements(),
                    embedded_page_frame(), embedded_page_figure(), embedded_page_figures(),
                    embedded_page_tables(), embedded_page_records(), embedded_page_record(),
                    embedded_page_start()});
}

std::string plain_script() {
  return script_of({text_script(), embedded_page_elements(), embedded_page_frame(), embedded_page_tables(),
                    embedded_page_plain()});
}

std::vector<PageFile> page_files(const ChartLibrary& charts) {
  std::vector<PageFile> files = {
      {"page.css", style_of()}, {"report.js", report_script()}, {"plain.js", plain_script()}};
  if (!charts.script.empty()) files.push_back({"charts.js", charts.script});
  return files;
}

}  // namespace hilbench
