#include "reports/site/markdown_html.hpp"

#include <fmt/format.h>
#include <md4c-html.h>

#include <cctype>
#include <map>
#include <regex>

#include "kernels/base/text/error.hpp"
#include "reports/view/table.hpp"

namespace hilbench {
namespace {

constexpr std::size_t kWide = 60;  // a cell of as much text is broken into lines

// The marks of generated text and other comments, which the parser would show as text.
std::string without_comments(std::string_view text) {
  std::string kept;
  for (;;) {
    const std::size_t begin = text.find("<!--");
    kept += text.substr(0, begin);
    if (begin == text.npos) return kept;
    const std::size_t end = text.find("-->", begin);
    if (end == text.npos) return kept;
    text.remove_prefix(end + 3);
  }
}

void append(const MD_CHAR* part, MD_SIZE size, void* into) {
  static_cast<std::string*>(into)->append(part, size);
}

// The parser escapes all text, so `<a href="` and the like stand only where it wrote an element itself.
template <class Replace>
std::string replaced(const std::string& html, const std::regex& pattern, const Replace& replace) {
  std::string made;
  std::size_t at = 0;
  for (auto match = std::sregex_iterator(html.begin(), html.end(), pattern); match != std::sregex_iterator();
       ++match) {
    made.append(html, at, static_cast<std::size_t>(match->position()) - at);
    made += replace(*match);
    at = static_cast<std::size_t>(match->position() + match->length());
  }
  return made.append(html, at);
}

std::string without_tags(const std::string& html) {
  return std::regex_replace(html, std::regex("<[^>]*>"), "");
}

// As GitHub does: lower case, no punctuation, hyphens for spaces.
std::string heading_id(const std::string& html) {
  std::string id;
  for (const char c : without_tags(html)) {
    const auto letter = static_cast<unsigned char>(c);
    if (std::isalnum(letter) != 0 || c == '-' || c == '_') id += static_cast<char>(std::tolower(letter));
    if (c == ' ') id += '-';
  }
  return id;
}

std::string with_heading_ids(const std::string& html) {
  std::map<std::string, int> seen;
  return replaced(html, std::regex("<h([1-6])>([^\n]*)</h[1-6]>"), [&](const std::smatch& match) {
    std::string id = heading_id(match[2]);
    if (const int before = seen[id]++; before > 0) id += fmt::format("-{}", before);
    return fmt::format("<h{0} id=\"{1}\">{2}</h{0}>", match[1].str(), html_text(id), match[2].str());
  });
}

}  // namespace

std::string markdown_html(std::string_view text,
                          const std::function<std::optional<std::string>(std::string_view)>& page_of) {
  const std::string source = without_comments(text);
  std::string html;
  if (md_html(source.data(), static_cast<MD_SIZE>(source.size()), append, &html,
              MD_DIALECT_GITHUB | MD_FLAG_NOHTML, MD_HTML_FLAG_SKIP_UTF8_BOM) != 0)
    throw EnvironmentError({"Markdown cannot be rendered", "", "out of memory", ""});
  html = replaced(html, std::regex("<img src=\"([^\"]*)\" alt=\"([^\"]*)\"[^>]*>"),
                  [](const std::smatch& match) {
                    return fmt::format("<a href=\"{}\">{}</a>", match[1].str(), match[2].str());
                  });
  html = replaced(html, std::regex("<a href=\"([^\"]*)\"[^>]*>((?:(?!</a>)[^])*)</a>"),
                  [&](const std::smatch& match) {
                    const std::optional<std::string> page = page_of(match[1].str());
                    return page ? fmt::format("<a href=\"{}\">{}</a>", html_text(*page), match[2].str())
                                : fmt::format("<span title=\"{}\">{}</span>", match[1].str(), match[2].str());
                  });
  html = replaced(html, std::regex("<td>([^\n]*)</td>"), [](const std::smatch& match) {
    const bool wide = without_tags(match[1]).size() >= kWide;
    return fmt::format("<td{}>{}</td>", wide ? " class=\"wide\"" : "", match[1].str());
  });
  html = replaced(html, std::regex("<table>|</table>"), [](const std::smatch& match) -> std::string {
    return match[0] == "<table>"
               ? "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Table\">\n<table>"
               : "</table>\n</div>";
  });
  return with_heading_ids(html);
}

std::string first_heading(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    if (line.starts_with("# ")) return std::string(line.substr(2));
    at = end + 1;
  }
  return "";
}

}  // namespace hilbench
