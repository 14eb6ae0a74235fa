// The section of claims.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reports/document/sections.hpp"
#include "reports/tables/claim_headlines.hpp"
#include "reports/tables/claim_levels.hpp"
#include "reports/tables/claim_tables.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

// How claims about caches are judged, level by level as miss_levels() holds them.
std::string caches_text() {
  std::vector<std::string> levels;
  for (const MissLevel& level : miss_levels())
    levels.push_back(
        fmt::format("{} {}: {}", level.device == DeviceKind::cuda ? "GPU" : "CPU", level.name, level.why));
  return fmt::format(
      "Claims about caches are judged by hardware counters, each level by itself. Misses are: {}. A count "
      "comes from one execution, so chance is told by a control: the interval reaches from linear / hilbert "
      "to random / hilbert, and further at each end by what repeated counts of one variant differ by: 10 % "
      "next to memory, 2 % at an L1. A level without random order beside it, or whose misses are below one "
      "in a thousand reads, is not judged. The row shows the level next to memory; mixed says that one level "
      "bears the claim out and another does not. Without hardware counters the layout's own count of 64-byte "
      "lines stands in, and the basis says so.",
      fmt::join(levels, ". "));
}

Bullets how_judged() {
  return Bullets{
      {"Reproduced: the 95 % interval lies beyond 1 and reaches the claim. Smaller than claimed: beyond 1, "
       "short of the claim. No difference shown: the interval holds 1. Contradicted: it lies on the other "
       "side of 1. Mirrored for claims below 1. A claimed range is judged by its low end.",
       "Standard is dilated/linear; hilbert is dilated/hilbert with chunks of 4096, K and V permuted, the "
       "same function computed. The @tokens column is what the seeds ran: the pattern applied to slots, a "
       "different function, shown and never judged.",
       "Obtained: measured, modelled or unsourced, as the authors of the claim came by it. What a "
       "configuration lists as assumed is ours.",
       "With one permutation: the time of permuting K and V once is added to the Hilbert side. Random order "
       "is the negative control: what it shows too is not Hilbert order's.",
       "A claim that states no configuration must hold in all cases here together: its interval reaches over "
       "theirs. Cases of another dtype than the claim's are answered too, and say so.",
       "Processes of one build differ by up to 1 % without a cause: where one process measured, an interval "
       "that comes nearer to 1 than that leaves the sign open, and the verdict says so. None is given where "
       "another process used the GPU.",
       caches_text()},
      "How a claim is judged"};
}

}  // namespace

Section claims_section(const std::vector<ClaimAnswer>& answers, const std::string& machine) {
  Section section{.id = "claims", .title = "Claims against measurement", .blocks = {}};
  section.blocks.push_back(Paragraph{
      "The seed reports, seeds for short, are the five documents that proposed Hilbert Ring Attention. Each "
      "of their claims stands here against what these records show; its source names the document and the "
      "section, and how its authors came by it: measured, modelled, or unsourced."});
  Table headlines = headline_claims_table(answers);
  if (headlines.rows.empty()) {
    section.blocks.push_back(
        Paragraph{"These records test none of them. They stand further below, each with the reason."});
    return section;
  }
  section.blocks.push_back(std::move(headlines));
  section.blocks.push_back(
      Paragraph{fmt::format("Ratios are standard / hilbert: above 1 says that Hilbert order needs less. "
                            "Measured on {}, not on the machine of the claim.",
                            machine)});
  section.blocks.push_back(how_judged());
  if (Table judged = judged_claims_table(answers); !judged.rows.empty()) {
    judged.fold = plural(judged.rows.size(), "judged row, case by case", "judged rows, case by case");
    section.blocks.push_back(std::move(judged));
  }
  if (Table levels = claim_levels_table(answers); !levels.rows.empty()) {
    levels.fold =
        plural(levels.rows.size(), "level of the caches, one by one", "levels of the caches, one by one");
    section.blocks.push_back(std::move(levels));
  }
  section.blocks.push_back(
      Paragraph{"Claims that these records cannot test stand further below, with the reason."});
  return section;
}

}  // namespace hilbench
