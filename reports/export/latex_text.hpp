// Text from outside made safe for LaTeX.
#pragma once

#include <string>
#include <string_view>

namespace hilbench {

// `text` as text of a table cell: every character that LaTeX acts on stands for itself. Control characters
// become spaces. A character outside ASCII becomes "?": which ones a document can set depends on its engine
// and fonts.
std::string latex_text(std::string_view text);

}  // namespace hilbench
