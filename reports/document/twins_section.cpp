// The section "Two equal variants".
#include <algorithm>

#include "reports/document/sections.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

constexpr std::size_t kMostTwinsOnPage = 10;

}  // namespace

Section twins_section(Table twins, const std::vector<std::string>& sentences) {
  Section section{.id = "twins", .title = "Two equal variants", .blocks = {}};
  for (const std::string& sentence : sentences) section.blocks.push_back(Paragraph{sentence});
  const std::size_t rest = twins.rows.size() - std::min(twins.rows.size(), kMostTwinsOnPage);
  twins.rows.resize(twins.rows.size() - rest);
  twins.fold = plural(twins.rows.size(), "twin", "twins that differ most");
  section.blocks.push_back(std::move(twins));
  if (rest > 0) section.blocks.push_back(Paragraph{"All are in tables/twins.csv."});
  return section;
}

}  // namespace hilbench
