// What stands around the content of a page: its head, the way back to other pages, and its files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reports/figures/chart_library.hpp"

namespace hilbench {

struct Link {
  std::string address;  // relative and percent-encoded
  std::string text;
};

// A page by itself has none of this: style and scripts stand inside it.
struct PageFrame {
  std::string assets;       // relative address of the folder of page_files(); empty: all stands in the page
  std::string description;  // what other programs show of the page
  std::string picture;      // its address; may be empty
  std::vector<Link> trail;  // the pages above this one
};

// From <!DOCTYPE> to </head>. `nonce`: of the page's scripts; empty: the page has none.
std::string head_html(std::string_view title, const PageFrame& frame, const std::string& nonce);
std::string trail_html(const PageFrame& frame);  // "" if there is no page above
// A nonce that text inside the page cannot know before the page is made.
std::string nonce_of(std::string_view text);
// "<a href=...>text</a>".
std::string link_html(const Link& link);
// Words between backticks become code, as they do in Markdown.
std::string prose_html(std::string_view text);

struct PageFile {
  std::string name;
  std::string text;
};
// The files that pages of a site share, for the folder `assets` of their frames: style, charts, the scripts
// of a report page, and those of pages without records.
std::vector<PageFile> page_files(const ChartLibrary& charts);
std::string report_script();  // one strict script: all files of this folder that a report page needs
std::string plain_script();   // the same for a page without records: colours, navigation and tables

}  // namespace hilbench
