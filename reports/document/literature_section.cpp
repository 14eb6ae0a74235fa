// The section "Papers against measurement".
#include "reports/document/sections.hpp"
#include "reports/tables/literature.hpp"

namespace hilbench {

Section literature_section(const std::vector<ClaimAnswer>& answers) {
  Section section{.id = "literature", .title = "Papers against measurement", .blocks = {}};
  if (answers.empty()) return section;
  section.blocks.push_back(Paragraph{
      "What papers claim about the order of positions, windows and traversals. Each row says what is divided "
      "by what here: above 1, the second needs less. The rules for verdicts are those for the claims of the "
      "seed reports. Dense attention on the same tokens is a different function: such a ratio holds what the "
      "windows leave out, not an order alone. Figures about whole models and about quality cannot be tested "
      "here."});
  if (Table judged = judged_papers_table(answers); judged.rows.empty())
    section.blocks.push_back(Paragraph{"These records test none of these claims."});
  else
    section.blocks.push_back(std::move(judged));
  if (Table untestable = untestable_papers_table(answers); !untestable.rows.empty()) {
    untestable.fold = "Claims of papers that these records cannot test";
    section.blocks.push_back(std::move(untestable));
  }
  return section;
}

}  // namespace hilbench
