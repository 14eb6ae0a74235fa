#include "reports/site/plain_page.hpp"

#include <fmt/format.h>

namespace hilbench {

std::string paragraph_html(std::string_view text) {
  return fmt::format("<p>{}</p>\n", prose_html(text));
}

std::string to_html(const PlainPage& page, const PageFrame& frame) {
  std::string body =
      fmt::format("<header>\n<button type=\"button\" id=\"theme\">Dark</button>\n{}<h1>{}</h1>\n",
                  trail_html(frame), html_text(page.title));
  if (!page.question.empty()) body += fmt::format("<p class=\"question\">{}</p>\n", html_text(page.question));
  for (std::size_t i = 0; i < page.answer.size(); ++i) {
    body += fmt::format("<p{}>{}</p>\n", i == 0 ? " class=\"answer\"" : "", html_text(page.answer[i]));
    if (i == 0) body += page.picture;
  }
  body += page.cards + "<nav aria-label=\"Sections\"></nav>\n</header>\n<main>\n";
  for (const HtmlSection& section : page.sections)
    if (!section.html.empty())
      body += fmt::format(
          "<section id=\"{0}\" aria-labelledby=\"{0}-title\">\n<h2 "
          "id=\"{0}-title\">{1}</h2>\n{2}</section>\n",
          section.id, html_text(section.title), section.html);
  const std::string nonce = nonce_of(body);
  return head_html(page.title, frame, nonce) + "<body>\n" + body +
         fmt::format("</main>\n<script nonce=\"{}\" src=\"{}/plain.js\"></script>\n</body>\n</html>\n", nonce,
                     html_text(frame.assets));
}

}  // namespace hilbench
