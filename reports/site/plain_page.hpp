// A page of a site that holds no records.
#pragma once

#include <string>
#include <vector>

#include "reports/page/frame.hpp"
#include "reports/view/table.hpp"

namespace hilbench {

struct HtmlSection {
  std::string id, title;
  std::string html;  // safe markup
};

struct PlainPage {
  std::string title;
  std::string question;             // may be empty
  std::vector<std::string> answer;  // sentences, most important first
  std::string cards;                // safe markup below the answer; may be empty
  std::string picture = {};         // the same between the first sentence and the others
  std::vector<HtmlSection> sections;
};

std::string to_html(const PlainPage& page, const PageFrame& frame);
std::string paragraph_html(std::string_view text);

}  // namespace hilbench
