// Markdown from outside as HTML.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace hilbench {

// `text` in GitHub's dialect. Elements and comments in it are not passed on. Tables scroll, and headings get
// the ids that GitHub gives them. `page_of`: the address that stands for that of a link; if it knows none,
// only the words of the link are left, with its address as their title. Pictures become links to them.
std::string markdown_html(std::string_view text,
                          const std::function<std::optional<std::string>(std::string_view)>& page_of);

// The words of the first heading, without its marks; "" if there is none.
std::string first_heading(std::string_view text);

}  // namespace hilbench
