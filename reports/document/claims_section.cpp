// The section "Claims against measurement".
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reports/document/sections.hpp"
#include "reports/tables/claim_headlines.hpp"
#include "reports/tables/claim_levels.hpp"
#include "reports/tables/claim_tables.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

// What a miss is, at each level of miss_levels().
std::string misses_text() {
  std::vector<std::string> levels;
  for (const MissLevel& level : miss_levels())
    levels.push_back(
        fmt::format("{} {}: {}", level.device == DeviceKind::cuda ? "GPU" : "CPU", level.name, level.why));
  return fmt::format("Misses of each level. {}.", fmt::join(levels, ". "));
}

Bullets how_judged() {
  return Bullets{
      {"Reproduced: the 95 % interval lies above 1 and reaches the claim. Smaller than claimed: it lies "
       "above 1 but does not reach the claim. No difference shown: it holds 1. Contradicted: it lies below "
       "1. For claims below 1 the sides are swapped. A claimed range is judged by its low end.",
       "Standard is dilated/linear. Hilbert is dilated/hilbert with chunks of 4096 and K and V permuted; it "
       "computes the same function. @tokens is what the seeds ran: they applied the pattern to memory slots, "
       "which computes a different function. It is shown but never judged.",
       "Obtained: how the authors of the claim got their number. They measured it, computed it from a model, "
       "or nothing shows where it is from (unsourced). What a configuration lists as assumed is ours; the "
       "source does not state it.",
       "With one permutation: the time to permute K and V once is added on the Hilbert side. Random order is "
       "the negative control: an effect that random order has too is no effect of Hilbert order.",
       "A claim that states no configuration must hold in all cases here together: its interval spans the "
       "intervals of all cases. Cases with another dtype than the claim's are judged too; the basis says so.",
       "Processes of one build differ by up to 1 % without a cause. If one process measured, and the "
       "interval comes within 1 % of 1, the sign is not settled; the basis says so. If another process used "
       "the GPU, there is no verdict.",
       "Claims about caches are judged by hardware counters, each level separately. A count comes from one "
       "execution, so random order is the control for chance: the interval reaches from linear / hilbert to "
       "random / hilbert. It is widened at both ends by the spread of repeated counts: 10 % next to memory, "
       "2 % at an L1. A level is not judged if random order was not counted, or if less than one read in a "
       "thousand misses. The row shows the level next to memory. Mixed: one level confirms the claim and "
       "another does not. If nothing could be counted, the count of 64-byte lines in the layout is used, and "
       "the basis says so.",
       misses_text()},
      "How a claim is judged"};
}

}  // namespace

Section claims_section(const std::vector<ClaimAnswer>& answers, const std::string& machine) {
  Section section{.id = "claims", .title = "Claims against measurement", .blocks = {}};
  section.blocks.push_back(Paragraph{
      "The seed reports, or seeds, are the five documents that proposed Hilbert Ring Attention. This section "
      "compares their claims with these records. For each claim it names the document and the section, and "
      "how its authors obtained the number: measured, modelled, or unsourced."});
  Table headlines = headline_claims_table(answers);
  if (headlines.rows.empty()) {
    section.blocks.push_back(Paragraph{
        "These records test none of the claims. They are listed further below, each with the reason."});
    return section;
  }
  section.blocks.push_back(std::move(headlines));
  section.blocks.push_back(
      Paragraph{fmt::format("Ratios are standard / hilbert: above 1, Hilbert order needs less. Everything "
                            "was measured on {}, not on the machine of the claim.",
                            machine)});
  section.blocks.push_back(how_judged());
  if (Table judged = judged_claims_table(answers); !judged.rows.empty()) {
    judged.fold = plural(judged.rows.size(), "judged row, case by case", "judged rows, case by case");
    section.blocks.push_back(std::move(judged));
  }
  if (Table levels = claim_levels_table(answers); !levels.rows.empty()) {
    levels.fold = plural(levels.rows.size(), "cache level, one by one", "cache levels, one by one");
    section.blocks.push_back(std::move(levels));
  }
  section.blocks.push_back(
      Paragraph{"Claims that these records cannot test are listed further below, each with the reason."});
  return section;
}

}  // namespace hilbench
