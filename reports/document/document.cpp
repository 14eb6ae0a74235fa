#include "reports/document/document.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/base/text/text.hpp"
#include "kernels/base/text/yaml.hpp"
#include "reports/document/first_sentences.hpp"
#include "reports/document/sections.hpp"
#include "reports/tables/claim_tables.hpp"
#include "reports/tables/commands.hpp"
#include "reports/tables/comparison.hpp"
#include "reports/tables/counters_beside_ratios.hpp"
#include "reports/tables/environment.hpp"
#include "reports/tables/locality.hpp"
#include "reports/tables/problems.hpp"
#include "reports/tables/rings.hpp"
#include "reports/tables/rivals.hpp"
#include "reports/tables/summary.hpp"
#include "reports/tables/window_pairs.hpp"
#include "reports/tables/window_times.hpp"
#include "reports/tables/windows.hpp"
#include "reports/view/dense_case.hpp"
#include "reports/view/environment_values.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

constexpr std::size_t kMostCasesOnPage = 100;

Section comparison_section(const View& view) {
  Section section{.id = "comparisons", .title = "Comparisons by case", .blocks = {}, .form = Form::text};
  section.blocks.push_back(Paragraph{
      "Speedup is the time of the reference / the time of the variant, paired round by round. "
      "Above 1, the variant is faster. The 95 % interval is of this variant by itself (unadjusted); the "
      "verdict accounts for the number of variants that are judged together. Rates count 4 x head_dim FLOPs "
      "for each query-key pair that is not masked. Compulsory bytes are "
      "the bytes that every implementation must move: each operand read once, the output written "
      "once. With warm caches DRAM can move fewer. Counters were read after the timing, in "
      "separate executions."});
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
Section summary_section(Table summary, bool windows_apart) {
  std::string text =
      "In how many cases each variant has which verdict against the reference. Faster and slower: beyond the "
      "margin, corrected for the number of variants and cases that are judged together. Equivalent: inside "
      "the margin. Inconclusive: the samples do not decide.";
  if (windows_apart)
    text +=
        " Cases of windows and cases of segments, such as dense attention on all pairs, are summed up apart: "
        "they are different functions.";
  return table_section("summary", "Every variant against the reference", std::move(text), std::move(summary));
}
Section rivals_section(Table rivals, const View& view) {
  rivals.fold = "The same as numbers, with times and rates";
  std::string text =
      "Rivals are baselines that compute the same case. Each number is the time of the rival / the time of "
      "the kernel in linear order, paired round by round, with its 95 % interval. Above 1, the kernel is "
      "faster. All variants of a row read the same inputs, and their outputs were verified.";
  if (!dense_cases(view).empty())
    text += " Windows and dense attention on all pairs, in one segment, are different functions.";
  return table_section("rivals", "Kernels against their rivals", std::move(text), std::move(rivals));
}

Section locality_section(const View& view) {
  Section section{.id = "locality", .title = "Locality", .blocks = {}, .form = Form::text};
  section.blocks.push_back(
      Paragraph{"Layout counts are exact. They show how far apart the rows lie that one tile reads, and how "
                "many different cache lines and pages these rows touch. A row of K or V is contiguous in "
                "every order. If an order does not change these counts, the caches can gain little from "
                "it."});
  const Table table = locality_table(view);
  if (table.rows.empty())
    section.blocks.push_back(Paragraph{"No record here has layout counts."});
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
Section commands_section(const View& view) {
  Section section{
      .id = "commands", .title = "Commands that repeat each row", .blocks = {}, .form = Form::text};
  const std::size_t shown = std::min(view.cases.size(), kMostCasesOnPage);
  section.blocks.push_back(
      Paragraph{"Each command measures one row again, together with its reference, into a new folder. "
                "Without --filter it measures the whole sweep."});
  for (std::size_t i = 0; i < shown; ++i) {
    section.blocks.push_back(Heading{view.cases[i].case_id});
    section.blocks.push_back(commands_table({&view.cases[i], 1}, view));
  }
  if (shown < view.cases.size())
    section.blocks.push_back(
        Paragraph{fmt::format("The other {} cases are in tables/commands.csv.", view.cases.size() - shown)});
  return section;
}

// What the records answer: claims, variants, rivals, rings.
void add_answers(std::vector<Section>& sections, const View& view, const std::vector<ClaimAnswer>& answers,
                 const std::vector<ClaimAnswer>& of_papers) {
  if (!answers.empty()) sections.push_back(claims_section(answers, view.machine));
  if (Section papers = literature_section(of_papers); !papers.blocks.empty())
    sections.push_back(std::move(papers));
  if (Table summary = summary_table(view); !summary.rows.empty())
    sections.push_back(summary_section(std::move(summary), sums_windows_apart(view)));
  if (Table rivals = rivals_page_table(view); !rivals.rows.empty())
    sections.push_back(rivals_section(std::move(rivals), view));
  if (Table rings = rings_table(view); !rings.rows.empty())
    sections.push_back(
        rings_section(std::move(rings), {view.prediction_notes.begin(), view.prediction_notes.end()}));
}

// Windows on grids: orders beside rivals, pairs, and time by pairs.
void add_windows(std::vector<Section>& sections, const View& view) {
  if (Table windows = windows_table(view); !windows.rows.empty())
    sections.push_back(table_section(
        "windows", "Windows: orders and rivals",
        "Every order and every rival of each case, and dense attention on the same tokens if the sweep has "
        "that case. Ratios are the time of the kernel in raster order / the time of the row. Above 1, the "
        "row is faster. All pairs are another function: such a row shows what the windows save, and its "
        "ratio is from cases that were measured in turn.",
        std::move(windows)));
  if (Table pairs = window_pairs_table(view); !pairs.rows.empty())
    sections.push_back(table_section(
        "pairs", "Pairs of windows",
        "Needed are the (query, key) pairs that the windows select; FLOPs count these. Computed are those "
        "that the tiles of the kernel multiply: each tile reads the keys of all its queries. The order of "
        "the positions decides how near its queries are to each other. Counted exactly, before any time is "
        "measured.",
        std::move(pairs)));
  if (Table times = window_times_table(view); !times.rows.empty())
    sections.push_back(table_section(
        "window_times", "Windows: time by computed pairs",
        "For each case, the line a + b x computed pairs with the smallest relative errors over all orders. A "
        "residual near 0 says that the order changes the time by the pairs alone. A large one says that "
        "something else counts, such as caches.",
        std::move(times)));
}

// Case by case: figures, times, counters.
void add_cases(std::vector<Section>& sections, const View& view, std::vector<Figure> figures) {
  if (!figures.empty()) {
    Section section{.id = "figures", .title = "Figures", .blocks = {}, .form = Form::text};
    for (Figure& figure : figures) section.blocks.push_back(std::move(figure));
    sections.push_back(std::move(section));
  }
  sections.push_back(comparison_section(view));
  add_windows(sections, view);
  sections.push_back(locality_section(view));
}

// What is missing, the machine, the method, and the commands that repeat the rows.
void add_background(std::vector<Section>& sections, const View& view, const std::vector<ClaimAnswer>& answers,
                    const std::vector<std::string>& notes) {
  if (Table unavailable = unavailable_table(view); !unavailable.rows.empty())
    sections.push_back(
        table_section("unread", "Counters that could not be read", "", std::move(unavailable)));
  if (Table untestable = untestable_claims_table(answers); !untestable.rows.empty()) {
    untestable.fold =
        plural(untestable.rows.size(), "claim, with the reason", "claims, each with the reason");
    sections.push_back(
        table_section("untestable", "Claims that these records cannot test", "", std::move(untestable)));
  }
  if (Section twins = twins_section(view); !twins.blocks.empty()) sections.push_back(std::move(twins));
  sections.push_back(problems_section(view, notes));
  sections.push_back(table_section("environment", "Environment", "", environment_table(view)));
  sections.push_back(method_section(view));
  sections.push_back(commands_section(view));
}

// `question:` of the text of the sweep, which stores keep; "" if there is none.
std::string stated_question(const View& view) {
  if (const auto known = view.meta.find("question"); known != view.meta.end()) return one_line(known->second);
  const auto stored = view.meta.find("sweep_text");
  if (stored == view.meta.end()) return "";
  try {
    const std::string name = "the stored sweep";
    const YamlNode sweep = parse_yaml(stored->second, name);
    const auto question = YamlValue(sweep, name, "").find("question");
    std::string text = question ? one_line(question->text()) : "";
    text.erase(text.find_last_not_of(' ') + 1);  // a folded text ends in a line break
    return text;
  } catch (const Error&) {
    return "";  // the text is from outside, and a report needs no more of it
  }
}

// Records from before sweeps named claims are held against all claims. If they test none, only the reasons
// are left, folded.
std::vector<ClaimAnswer> shown_answers(const View& view, const std::vector<ClaimAnswer>& answers) {
  const bool tested = std::any_of(answers.begin(), answers.end(), [](const ClaimAnswer& answer) {
    return answer.verdict != ClaimVerdict::not_testable;
  });
  return tested || view.meta.contains("claims") ? answers : std::vector<ClaimAnswer>{};
}

}  // namespace

std::string subject_of(const View& view) {
  std::string stated = stated_question(view);
  return stated.empty() ? view.title : stated;
}

std::string question_of(const View& view) {
  if (std::string stated = stated_question(view); !stated.empty()) return stated;
  if (view.title.ends_with('?')) return view.title;
  return main_question(view);
}

Document document_of(const View& view, const std::vector<ClaimAnswer>& all_answers,
                     std::vector<Figure> figures, const std::vector<std::string>& notes) {
  const std::vector<ClaimAnswer> of_reports = answers_of(ClaimOrigin::report, all_answers);
  const std::vector<ClaimAnswer> of_papers = answers_of(ClaimOrigin::paper, all_answers);
  const std::vector<ClaimAnswer> answers = shown_answers(view, of_reports);
  Document document{.title = fmt::format("hilbench: {}", view.sweep.empty() ? "report" : view.sweep),
                    .question = question_of(view),
                    .machine = view.machine,
                    .answer = main_sentences(view),
                    .tiles = claim_tiles(answers),
                    .sections = {}};
  if (std::string steady = steady_sentence(view); !steady.empty())
    document.answer.insert(document.answer.begin(), std::move(steady));
  if (std::string injected = injected_sentence(view); !injected.empty())
    document.answer.insert(document.answer.begin(), std::move(injected));
  document.answer.push_back(status_sentence(view));
  if (!answers.empty()) document.answer.push_back(claims_sentence(answers));
  if (const std::string papers = papers_sentence(of_papers); !papers.empty())
    document.answer.push_back(papers);
  if (const std::string subject = subject_of(view); !subject.empty() && subject != document.question)
    document.title += ": " + subject;
  add_answers(document.sections, view, answers, of_papers);
  add_cases(document.sections, view, std::move(figures));
  add_background(document.sections, view, of_reports, notes);
  return document;
}

}  // namespace hilbench
