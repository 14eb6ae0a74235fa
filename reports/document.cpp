#include "reports/document.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "harness/stats.hpp"
#include "reports/format.hpp"
#include "reports/tables.hpp"

namespace hilbench {
namespace {

constexpr std::size_t kMostCasesOnPage = 100;
constexpr std::size_t kMostRingRowsOnPage = 300;

// None where these records test no claim: there is nothing to count.
std::vector<Tile> claim_tiles(const std::vector<ClaimAnswer>& answers) {
  const auto count = [&](auto counts) {
    return static_cast<std::size_t>(std::count_if(answers.begin(), answers.end(), counts));
  };
  const auto with = [&](ClaimVerdict verdict) {
    return count([verdict](const ClaimAnswer& a) { return a.verdict == verdict; });
  };
  const std::size_t untestable = with(ClaimVerdict::not_testable);
  if (untestable == answers.size()) return {};
  const std::size_t reproduced = with(ClaimVerdict::reproduced);
  const std::size_t gains = count(
      [](const ClaimAnswer& a) { return a.verdict == ClaimVerdict::reproduced && claims_a_gain(*a.claim); });
  std::vector<Tile> tiles;
  const auto add = [&](std::size_t value, std::string label, Tone tone) {
    tiles.push_back({std::to_string(value), std::move(label), value > 0 ? tone : Tone::muted});
  };
  add(gains, "gains reproduced", Tone::good);
  add(reproduced - gains, "claims of a loss or of no difference reproduced", Tone::neutral);
  for (const auto& [verdict, tone] : {std::pair{ClaimVerdict::smaller_than_claimed, Tone::neutral},
                                      {ClaimVerdict::no_difference, Tone::neutral},
                                      {ClaimVerdict::contradicted, Tone::bad},
                                      {ClaimVerdict::mixed, Tone::neutral}})
    add(with(verdict), std::string(to_string(verdict)), tone);
  add(untestable, std::string(to_string(ClaimVerdict::not_testable)), Tone::muted);
  return tiles;
}

// How an order fared against linear order over the cases that hold both.
struct Tally {
  std::size_t faster = 0, slower = 0, undecided = 0, unsettled = 0;
  double low = 0, high = 0;

  std::size_t cases() const { return faster + slower + undecided; }
  void add(const Measured& ratio) {
    low = cases() == 0 ? ratio.ratio : std::min(low, ratio.ratio);
    high = std::max(high, ratio.ratio);
    unsettled += !sign_settled(ratio.ci, ratio.processes);
    const Verdict verdict = verdict_of(ratio.ci);
    ++(verdict == Verdict::faster ? faster : verdict == Verdict::slower ? slower : undecided);
  }
  std::string text() const {
    return fmt::format("faster in {}, slower in {}, no difference shown in {}; speedup {} to {}", faster,
                       slower, undecided, number_text(low), number_text(high));
  }
};

// What Hilbert order with chunks of `chunk` did to kernel time, and random order, the negative control,
// beside it; empty where no case holds both sides.
std::string hilbert_sentence(const View& view, std::int64_t chunk, std::string_view chunk_text) {
  Tally hilbert, random;
  for (const CaseView& of_case : view.cases) {
    const Quartet quartet = quartet_of(of_case, chunk);
    if (!quartet.standard || !quartet.hilbert) continue;
    const auto ratio = time_ratio(*quartet.standard, *quartet.hilbert);
    if (!ratio) continue;
    hilbert.add(*ratio);
    if (!quartet.random) continue;
    if (const auto control = time_ratio(*quartet.standard, *quartet.random)) random.add(*control);
  }
  if (hilbert.cases() == 0) return "";
  std::string said = fmt::format("Hilbert order{} against linear order, kernel time, {}: {}.", chunk_text,
                                 plural(hilbert.cases(), "case", "cases"), hilbert.text());
  if (hilbert.unsettled > 0) said += fmt::format(" {} of them {}.", hilbert.unsettled, kUnsettled);
  if (random.cases() == 0) return said + " No random order stands beside it, so chance is not told apart.";
  return said + fmt::format(" Random order, the negative control, in {} of these cases: {}.", random.cases(),
                            random.text());
}

// Each kernel in linear order against each rival over all cases; empty where there is none.
std::string rivals_sentence(const View& view) {
  std::map<std::string, std::map<std::string, Tally>> kernels;
  for (const Duel& duel : duels_of(view, kMostDuelRows))
    kernels[duel.kernel->kernel][duel.rival->variant_id].add(duel.ratio);
  std::vector<std::string> parts;
  for (const auto& [kernel, rivals] : kernels) {
    std::vector<std::string> ratios;
    for (const auto& [rival, tally] : rivals)
      ratios.push_back(
          fmt::format("{} {} to {}", rival, number_text(tally.low, 3), number_text(tally.high, 3)));
    parts.push_back(fmt::format("{}: {}", kernel, fmt::join(ratios, ", ")));
  }
  return parts.empty() ? ""
                       : fmt::format("Rival's time over the kernel's, above 1 the kernel is faster. {}.",
                                     fmt::join(parts, "; "));
}

// The page's first sentences: the order that the claims are about, and where it stands in other cases too,
// else what these records do compare.
std::vector<std::string> main_sentences(const View& view) {
  const std::int64_t claimed_chunk = ClaimRow{}.order_chunk;
  const std::string claimed = hilbert_sentence(view, claimed_chunk, "");
  const std::string whole = hilbert_sentence(view, 0, " over the whole length");
  if (!claimed.empty() && whole.empty()) return {claimed};
  if (!claimed.empty())
    return {hilbert_sentence(view, claimed_chunk, fmt::format(" in chunks of {}", claimed_chunk)), whole};
  std::vector<std::string> said;
  for (const std::string& one : {whole, rivals_sentence(view), rings_sentence(view)})
    if (!one.empty()) said.push_back(one);
  if (said.empty() && view.record_count > 0)
    said.push_back("No case here holds an order, or a rival, beside linear order, both timed.");
  return said;
}

std::string claims_sentence(const std::vector<ClaimAnswer>& answers) {
  std::set<const ClaimRow*> claims, tested;
  for (const ClaimAnswer& answer : answers) {
    claims.insert(answer.claim);
    if (answer.verdict != ClaimVerdict::not_testable) tested.insert(answer.claim);
  }
  if (tested.empty())
    return fmt::format("These records test none of the {} of the seed reports.",
                       plural(claims.size(), "claim", "claims"));
  return fmt::format("Of {} of the seed reports, {} could be tested with these records.",
                     plural(claims.size(), "claim", "claims"), tested.size());
}

std::string status_sentence(const View& view) {
  if (view.record_count == 0) return "The store holds no records: nothing has been measured yet.";
  std::vector<std::string> parts;
  for (const auto& [status, count] : view.status_counts)
    parts.push_back(fmt::format("{} {}", count, to_string(status)));
  return fmt::format("{} of {}: {}.", plural(view.record_count, "record", "records"),
                     plural(view.cases.size(), "case", "cases"), fmt::join(parts, ", "));
}

// How claims about caches are judged, level by level as miss_levels() holds them.
std::string caches_text() {
  std::vector<std::string> levels;
  for (const MissLevel& level : miss_levels())
    levels.push_back(
        fmt::format("{} {}: {}", level.device == DeviceKind::cuda ? "GPU" : "CPU", level.name, level.why));
  return fmt::format(
      "Claims about caches are judged by hardware counters, each level by itself. Misses are: {}. A count "
      "comes from "
      "one execution, so chance is told by a control: the interval reaches from linear / hilbert to random / "
      "hilbert, "
      "and further at each end by what repeated counts of one variant differ by: 10 % next to memory, 2 % at "
      "an L1. A "
      "level without random order beside it, or whose misses are below one in a thousand reads, is not "
      "judged. The row shows the level next to memory; mixed says that one level "
      "bears the "
      "claim out and another does not. Without hardware counters the layout's own count of 64-byte lines "
      "stands in, "
      "and the basis says so.",
      fmt::join(levels, ". "));
}

Section claims_section(const std::vector<ClaimAnswer>& answers, const std::string& machine) {
  Section section{.id = "claims", .title = "Claims against measurement", .blocks = {}};
  section.blocks.push_back(Paragraph{
      "The seed reports, seeds for short, are the five documents that proposed Hilbert Ring Attention. Each "
      "of "
      "their claims stands here against what these records show; its source names the document and the "
      "section, and how its authors came by it: measured, modelled, or unsourced."});
  Table headlines = headline_claims_table(answers);
  if (headlines.rows.empty()) {
    section.blocks.push_back(
        Paragraph{"These records test none of them. They stand further below, each with the reason."});
    return section;
  }
  section.blocks.push_back(std::move(headlines));
  section.blocks.push_back(Paragraph{fmt::format(
      "Ratios are standard / hilbert: above 1 says that Hilbert order needs less. Measured on {}, not on the "
      "machine of the claim.",
      machine)});
  section.blocks.push_back(Bullets{
      {"Reproduced: the 95 % interval lies beyond 1 and reaches the claim. Smaller than claimed: "
       "beyond 1, short of "
       "the claim. No difference shown: the interval holds 1. Contradicted: it lies on the other "
       "side of 1. Mirrored "
       "for claims below 1. A claimed range is judged by its low end.",
       "Standard is dilated/linear; hilbert is dilated/hilbert with chunks of 4096, K and V "
       "permuted, the same "
       "function computed. The @tokens column is what the seeds ran: the pattern applied to slots, a "
       "different "
       "function, shown and never judged.",
       "Obtained: measured, modelled or unsourced, as the authors of the claim came by it. What a "
       "configuration lists "
       "as assumed is ours.",
       "With one permutation: the time of permuting K and V once is added to the Hilbert side. Random "
       "order is the negative control: what it shows too is not Hilbert order's.",
       "A claim that states no configuration must hold in all cases here together: its interval reaches over "
       "theirs. Cases of another dtype than the claim's are answered too, and say so.",
       "Processes of one build differ by up to 1 % without a cause: where one process measured, an interval "
       "that comes nearer to 1 than that leaves the sign open, and the verdict says so. None is given where "
       "another process used the GPU.",
       caches_text()},
      "How a claim is judged"});
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

Section comparison_section(const View& view) {
  Section section{.id = "comparisons", .title = "Comparisons by case", .blocks = {}, .form = Form::text};
  section.blocks.push_back(Paragraph{
      "Speedup is the time of the reference over the time of the variant, paired round by round: "
      "above 1 is faster. An "
      "interval that holds 1 shows no difference. Rates count 4 x head_dim FLOPs per unmasked "
      "query-key pair. Compulsory bytes are those that any implementation must move: operands read once, the "
      "output written once; warm caches can do with fewer from DRAM. Counters were read in executions of "
      "their own, after the timing."});
  const std::size_t shown = std::min(view.cases.size(), kMostCasesOnPage);
  for (std::size_t i = 0; i < shown; ++i) {
    const CaseView& of_case = view.cases[i];
    section.blocks.push_back(Heading{of_case.case_id});
    if (of_case.peak_flops_per_s)
      section.blocks.push_back(Paragraph{
          fmt::format("Measured limits: {}{}.", rate_text(*of_case.peak_flops_per_s),
                      of_case.copy_bytes_per_s
                          ? fmt::format(", copy {} GB/s", number_text(*of_case.copy_bytes_per_s / 1e9, 3))
                          : "")});
    section.blocks.push_back(comparison_table({&of_case, 1}));
    if (Table explained = explained_table({&of_case, 1}); !explained.rows.empty()) {
      if (const std::string said = explanation(of_case); !said.empty())
        section.blocks.push_back(Paragraph{said});
      section.blocks.push_back(std::move(explained));
    }
  }
  if (shown < view.cases.size())
    section.blocks.push_back(Paragraph{
        fmt::format("The other {} cases are in tables/comparison.csv.", view.cases.size() - shown)});
  return section;
}

Section table_section(std::string id, std::string title, std::string text, Table table) {
  Section section{.id = std::move(id), .title = std::move(title), .blocks = {}};
  if (!text.empty()) section.blocks.push_back(Paragraph{std::move(text)});
  section.blocks.push_back(std::move(table));
  return section;
}

Section rings_section(Table rings, const std::vector<std::string>& predicted) {
  Section section{.id = "rings", .title = "Rings against one rank", .blocks = {}};
  section.blocks.push_back(Paragraph{
      "Time until the last rank is done, bytes that all ranks send together, computation and exchange alone, "
      "and "
      "the share of the exchange that the run hides; no share where repeated runs differ by more than the "
      "exchange takes."});
  section.blocks.push_back(Bullets{
      {"Over one rank, same work: time on one rank / time of the ring.",
       "Efficiency, same work: that by how many more devices the ring has. Ranks on a CPU share the threads "
       "that "
       "the one rank has, so there both are the same; more ranks than threads take turns.",
       "Efficiency, same work a rank: time of one rank on as many FLOPs as each rank of the ring has, with "
       "the "
       "same pattern and the same device or threads, over the time of the ring; empty where no such case was "
       "measured.",
       "Ring sizes are measured in comparisons of their own, so that their rounds do not pair: the intervals "
       "of "
       "both times add up, and what the machine did in between is not in them.",
       "Over NVLink, where it was counted: user data that all ranks received in one execution, by counters "
       "of "
       "the links, and the same over the bytes that the transport says it sent."}});
  if (!predicted.empty()) section.blocks.push_back(Bullets{predicted});
  const std::size_t rows = rings.rows.size();
  if (rows > kMostRingRowsOnPage) rings.rows.resize(kMostRingRowsOnPage);
  rings.fold = plural(rows, "row, ring size by ring size", "rows, ring size by ring size");
  section.blocks.push_back(std::move(rings));
  if (rows > kMostRingRowsOnPage)
    section.blocks.push_back(
        Paragraph{fmt::format("The other {} rows are in tables/rings.csv.", rows - kMostRingRowsOnPage)});
  return section;
}

Section locality_section(const View& view) {
  Section section{.id = "locality", .title = "Locality", .blocks = {}, .form = Form::text};
  section.blocks.push_back(
      Paragraph{"Counts of the layout are exact: how far apart the rows stand that one tile reads, and how "
                "many distinct lines "
                "and pages they touch. A row of K or V is contiguous in every order, so an order that leaves "
                "these counts alone "
                "leaves the caches little to gain from."});
  const Table table = locality_table(view);
  if (table.rows.empty())
    section.blocks.push_back(Paragraph{"No record here holds locality counts."});
  else
    section.blocks.push_back(table);
  return section;
}

Section problems_section(const View& view, const std::vector<std::string>& notes) {
  Section section{.id = "problems", .title = "Failures, skips and what is missing", .blocks = {}};
  const Table problems = problems_table(view);
  if (problems.rows.empty())
    section.blocks.push_back(Paragraph{"No record failed, was skipped or was found invalid."});
  else
    section.blocks.push_back(problems);
  if (!notes.empty()) section.blocks.push_back(Bullets{notes});
  return section;
}

Section method_section(const View& view) {
  Section section{.id = "method", .title = "How it was measured", .blocks = {}};
  section.blocks.push_back(Bullets{
      {"Same work, same inputs: all variants of a case compute it from the same seeded tensors, outliers "
       "among them, in the same process and rounds.",
       "Verification first: each variant's output is compared with a double-precision reference, all "
       "rows of small "
       "cases and up to 256 sampled rows of large ones. A variant that misses its tolerance is "
       "failed and never timed.",
       "Timing: the variants of a case run in interleaved rounds of balanced order, warm-up outside. "
       "Times are medians "
       "with 95 % bootstrap intervals.",
       "Speedup: the median over rounds of reference time / variant time, with its 95 % bootstrap "
       "interval. The "
       "permutation of K and V is outside the kernel time and stands beside it.",
       "FLOPs: 4 x head_dim per query-key pair that is selected and not masked, counted pair by "
       "pair; backward 2.5 "
       "times that.",
       "Counters: read after the timing, each pass of a set in an execution of its own, caches warm or cold "
       "as "
       "they were for the times; source and passes stand with each counter in the records.",
       "Peak: what `peak` reached beside the case; on a processor the highest in these records with the same "
       "dtype, instructions and threads.",
       "A rate that the peak measured by the process itself rules out makes a record invalid: something did "
       "not run.",
       "Memory: bytes of operands, permuted copies, index and workspace that the plan counts for a "
       "variant."}});
  const auto command = view.meta.find("command");
  if (command != view.meta.end() && !command->second.empty()) {
    section.blocks.push_back(Paragraph{"The store was made by:"});
    section.blocks.push_back(Command{command->second});
  }
  return section;
}

Section commands_section(const View& view) {
  Section section{
      .id = "commands", .title = "Commands that repeat each row", .blocks = {}, .form = Form::text};
  const std::size_t shown = std::min(view.cases.size(), kMostCasesOnPage);
  section.blocks.push_back(Paragraph{
      "Each command measures one row again, its reference beside it, in a folder of its own; without its "
      "filter it measures the whole sweep."});
  for (std::size_t i = 0; i < shown; ++i) {
    section.blocks.push_back(Heading{view.cases[i].case_id});
    section.blocks.push_back(commands_table({&view.cases[i], 1}, view));
  }
  if (shown < view.cases.size())
    section.blocks.push_back(
        Paragraph{fmt::format("The other {} cases are in tables/commands.csv.", view.cases.size() - shown)});
  return section;
}

}  // namespace

Document document_of(const View& view, const std::vector<ClaimAnswer>& answers, std::vector<Figure> figures,
                     const std::vector<std::string>& notes) {
  Document document{
      .title = fmt::format("hilbench: {}", view.sweep.empty() ? "report" : view.sweep),
      .question = "Does the order of memory make long-context attention faster; where, and by how much?",
      .machine = view.machine,
      .answer = main_sentences(view),
      .tiles = claim_tiles(answers),
      .sections = {}};
  document.answer.push_back(claims_sentence(answers));
  document.answer.push_back(status_sentence(view));
  if (!view.title.empty()) document.title += ": " + view.title;
  document.sections.push_back(claims_section(answers, view.machine));
  if (Table summary = summary_table(view); !summary.rows.empty())
    document.sections.push_back(table_section(
        "summary", "Every variant against the reference",
        "How often each variant was faster or slower than the reference of its case, by its 95 % interval.",
        std::move(summary)));
  if (Table rivals = rivals_page_table(view); !rivals.rows.empty()) {
    rivals.fold = "As numbers, with times and rates";
    document.sections.push_back(table_section("rivals", "Kernels against their rivals",
                                              "Time of the rival over time of the kernel in linear order, "
                                              "paired round by round, with the 95 % interval: "
                                              "above 1 the kernel is faster. All of a row computed the same "
                                              "case from the same inputs and were verified.",
                                              std::move(rivals)));
  }
  if (Table rings = rings_table(view); !rings.rows.empty())
    document.sections.push_back(
        rings_section(std::move(rings), {view.forecast_notes.begin(), view.forecast_notes.end()}));
  if (!figures.empty()) {
    Section section{.id = "figures", .title = "Figures", .blocks = {}, .form = Form::text};
    for (Figure& figure : figures) section.blocks.push_back(std::move(figure));
    document.sections.push_back(std::move(section));
  }
  document.sections.push_back(comparison_section(view));
  document.sections.push_back(locality_section(view));
  if (Table unavailable = unavailable_table(view); !unavailable.rows.empty())
    document.sections.push_back(
        table_section("unread", "Counters that could not be read", "", std::move(unavailable)));
  if (Table untestable = untestable_claims_table(answers); !untestable.rows.empty())
    document.sections.push_back(
        table_section("untestable", "Claims that these records cannot test", "", std::move(untestable)));
  document.sections.push_back(problems_section(view, notes));
  document.sections.push_back(table_section("environment", "Environment", "", environment_table(view)));
  document.sections.push_back(method_section(view));
  document.sections.push_back(commands_section(view));
  return document;
}

}  // namespace hilbench
