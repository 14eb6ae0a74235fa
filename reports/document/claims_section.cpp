// The section "Claims against measurement".
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

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
      {"The first rule that fits, for a claim c above 1 and the measured ratio with its 95 % interval. "
       "Reproduced: c lies within the margin of 1, and the orders are equivalent. No gain: they are "
       "equivalent, or Hilbert order is slower, but not slower than a control that pays the same table of "
       "slots; that is the price of the table, not of the order. Contradicted: slower than linear order and "
       "than the control. Reproduced: the interval reaches c, and its low end lies more than halfway from 1 "
       "to c. Smaller than claimed: faster, but the interval does not reach c. Claim excluded: in none of "
       "these ways, but the interval ends before c; a smaller gain, none, or a loss are all possible. "
       "Inconclusive: anything else. For claims below 1 the sides are swapped. A claimed range is judged by "
       "its low end.",
       "The control is linear order that reads its rows through a table of slots (linear.gathered), or "
       "random order if that was not measured.",
       "Standard is dilated/linear. Hilbert is dilated/hilbert with chunks of 4096 and K and V permuted; it "
       "computes the same function. @tokens is what the seeds ran: they applied the pattern to memory slots, "
       "which computes a different function. It is shown but never judged.",
       "Obtained: how the authors of the claim got their number. They measured it, computed it from a model, "
       "or nothing shows where it is from (unsourced). What a configuration lists as assumed is ours; the "
       "source does not state it.",
       "With one permutation: the time to permute K and V once is added on the Hilbert side.",
       "A claim that states no configuration must hold in all cases here of one dtype together: its interval "
       "spans the intervals of all cases, and they must agree. Cases with another dtype than the claim's are "
       "answered apart and not counted above.",
       "If one process measured, nothing is known of how processes differ: the basis says `within one "
       "process`, and equality is never found. If another process used the GPU, there is no verdict.",
       "Claims about caches are judged by hardware counters, each level separately. Each variant must have "
       "been counted at least five times, in random sequence; the interval is Welch's over the logarithms "
       "of the counts. With fewer counts, the level is inconclusive. A level is not judged if less than one "
       "read in a thousand misses. The row shows the level next to memory; if one level confirms the claim "
       "and another does not, it is inconclusive. If nothing could be counted, the count of 64-byte lines "
       "in the layout is used, and the basis says so.",
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

std::vector<Tile> claim_tiles(const std::vector<ClaimAnswer>& answers) {
  // Answers in another dtype than the claim's stand apart, in the tables.
  const auto count = [&](auto counts) {
    return static_cast<std::size_t>(std::count_if(
        answers.begin(), answers.end(), [&](const ClaimAnswer& a) { return !a.other_dtype && counts(a); }));
  };
  const auto with = [&](ClaimVerdict verdict) {
    return count([verdict](const ClaimAnswer& a) { return a.verdict == verdict; });
  };
  const std::size_t untestable = with(ClaimVerdict::not_testable);
  if (untestable == count([](const ClaimAnswer&) { return true; })) return {};
  const std::size_t reproduced = with(ClaimVerdict::reproduced);
  const std::size_t gains =
      count([](const ClaimAnswer& a) { return a.verdict == ClaimVerdict::reproduced && is_about_a_gain(a); });
  std::vector<Tile> tiles;
  const auto add = [&](std::size_t value, std::string label, Tone tone) {
    tiles.push_back({std::to_string(value), std::move(label), value > 0 ? tone : Tone::muted});
  };
  add(gains, "gains reproduced", Tone::good);
  add(reproduced - gains, "claims of a loss or of no difference reproduced", Tone::neutral);
  for (const auto& [verdict, tone] : {std::pair{ClaimVerdict::smaller_than_claimed, Tone::neutral},
                                      {ClaimVerdict::no_gain, Tone::neutral},
                                      {ClaimVerdict::excluded, Tone::excluded},
                                      {ClaimVerdict::contradicted, Tone::bad},
                                      {ClaimVerdict::inconclusive, Tone::muted},
                                      {ClaimVerdict::not_testable, Tone::muted}})
    add(with(verdict), std::string(to_string(verdict)), tone);
  return tiles;
}

}  // namespace hilbench
