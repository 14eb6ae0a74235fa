#include "reports/document/document.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "kernels/base/text/text.hpp"
#include "kernels/base/text/yaml.hpp"
#include "reports/document/sections.hpp"
#include "reports/findings/findings.hpp"
#include "reports/findings/headline.hpp"
#include "reports/findings/sentences.hpp"
#include "reports/tables/claim_tables.hpp"
#include "reports/tables/commands.hpp"
#include "reports/tables/comparison.hpp"
#include "reports/tables/counters_beside_ratios.hpp"
#include "reports/tables/environment.hpp"
#include "reports/tables/locality.hpp"
#include "reports/tables/problems.hpp"
#include "reports/tables/summary.hpp"
#include "reports/tables/window_pairs.hpp"
#include "reports/tables/windows.hpp"
#include "reports/view/dense_case.hpp"
#include "reports/view/environment_values.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

constexpr std::size_t kMostCasesOnPage = 100;

Section comparison_section(const View& view) {
  Section section{.id = "comparisons", .title = "Comparisons by case", .blocks = {}, .form = Form::text};
  section.blocks.push_back(Paragraph{fmt::format(
      "Speedup is the time of the reference / the time of the variant, paired round by round. "
      "Above 1, the variant is faster. The 95 % interval is of this variant by itself (unadjusted); the "
      "verdict accounts for the number of variants that are judged together. Rates count 4 x head_dim FLOPs "
      "for each query-key pair that is not masked{}. Compulsory bytes are "
      "the bytes that every implementation must move: each operand read once, the output written "
      "once. With warm caches DRAM can move fewer. Counters were read after the timing, in "
      "separate executions.",
      has_gradients(view) ? "; 10 x in the backward pass, whatever a kernel computes twice, and 14 x in both"
                          : "")});
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
    if (std::string said = explanation(of_case); !said.empty())
      section.blocks.push_back(Paragraph{std::move(said)});
  }
  if (shown < view.cases.size())
    section.blocks.push_back(
        Paragraph{fmt::format("{} in tables/comparison.csv.",
                              plural(view.cases.size() - shown, "more case is", "more cases are"))});
  return section;
}

Section table_section(std::string id, std::string title, std::string text, Table table) {
  Section section{.id = std::move(id), .title = std::move(title), .blocks = {}};
  if (!text.empty()) section.blocks.push_back(Paragraph{std::move(text)});
  section.blocks.push_back(std::move(table));
  return section;
}
constexpr const char* kVariants =
    "In how many cases each variant has which verdict against the reference. Faster and slower: beyond the "
    "margin, corrected for the number of variants and cases that are judged together. Equivalent: inside "
    "the margin. Inconclusive: the samples do not decide.";
constexpr const char* kVariantsOfTwoFunctions =
    " Cases of windows and cases of segments, such as dense attention on all pairs, are summed up apart: "
    "they are different functions.";
constexpr const char* kRivals =
    "Rivals are baselines that compute the same case. Each number is the time of the rival / the time of "
    "the kernel in linear order, paired round by round, with its 95 % interval. Above 1, the kernel is "
    "faster. All variants of a row read the same inputs, and their outputs were verified.";
constexpr const char* kRivalsOfTwoFunctions =
    " Windows and dense attention on all pairs, in one segment, are different functions.";
constexpr const char* kRatios =
    "Time of the reference / time of the variant. K and V: bytes of both together. Keys: how many a query "
    "reads.";
constexpr const char* kCounts =
    "How strongly the speedup of a variant goes with how many times as much it counts as its reference: "
    "Spearman's rank correlation over all cases and variants. -1: more always means slower; 0: the count "
    "says nothing.";
constexpr const char* kRates =
    "A dense case in which a query reads the same number of keys does the same work on each key. A dilated "
    "case may be slower: its rows lie apart in memory, and its time includes clearing the rows that no "
    "branch covers.";
constexpr const char* kInputs =
    "Time with these inputs / time with normal inputs; the two are measured apart.";
constexpr const char* kRingSpeedups = "Time of one rank on the same work / time of the ring.";
constexpr const char* kPredictions =
    "Rings of more ranks than the model was fitted on, against what it predicted of them.";
constexpr const char* kEnergy = "Joules of the whole device for one execution, of steady samples.";
constexpr const char* kTraining =
    "One step of a training: its gradients, or both of its passes. Held between the passes are Q, K, V, O "
    "and LSE, "
    "with saved inputs Q, K and V alone. The most at a time is that of the backward pass. Both are planned.";
constexpr const char* kWindows =
    "Time of raster order / time of the variant; behind it, the pairs that its tiles compute / those that "
    "are needed. Above 1, the variant is faster. All pairs are another function: such a column shows what "
    "the windows save, and its ratios are from cases that were measured in turn.";
constexpr const char* kWindowTimes =
    "For each case, the line a + b x computed pairs with the smallest relative errors over all orders. A "
    "residual near 0 says that the order changes the time by the pairs alone. A large one says that "
    "something else counts, such as caches.";

constexpr const char* kChains =
    "Each step is the one before with one change. Factor: time before / time after. So far: time of the "
    "first step / time of this one, the product of the factors. All steps took turns in the same rounds. "
    "Here a ratio is of the median times of a process, because such ratios multiply. In other tables a "
    "speedup is the median ratio of paired rounds, so the two differ a little. What computes another "
    "function than the case asks for is timed all the same, because it is what was compared; its "
    "output is only checked to be finite. In a chain of memory or of counts, ratios are of these amounts. "
    "docs/reported.md says what the programs of the reports do.";

constexpr const char* kProtocols =
    "What a script would report that times both ends of the chain once. Each row is one way to time them: "
    "how many runs of each end, which end first or both in turns, and caches warm (one execution before is "
    "not timed) or cold (evicted). Lowest and highest ratio of the trials. No verdict rests on them.";

// Findings as sections. What the first sentences of the document say is not said again.
class Tellings {
 public:
  Tellings(std::vector<Section>& sections, const std::vector<Finding>& findings,
           const std::vector<std::string>& said)
      : sections_(sections), findings_(findings), said_(said) {}

  const Finding* find(std::string_view id) const { return find_finding(findings_, id); }

  std::vector<std::string> unsaid(const Finding& finding) const {
    std::vector<std::string> sentences = finding.sentences;
    std::erase_if(sentences, [&](const std::string& sentence) {
      return std::find(said_.begin(), said_.end(), sentence) != said_.end();
    });
    return sentences;
  }

  // Begins a section, which add() fills; end() leaves it out if it is empty.
  void begin(const char* id, const char* title) { next_ = {.id = id, .title = title, .blocks = {}}; }
  void add(std::string_view id, std::string text, const char* fold = "") {
    const Finding* finding = find(id);
    if (finding == nullptr) return;
    for (std::string& sentence : unsaid(*finding)) next_.blocks.push_back(Paragraph{std::move(sentence)});
    if (finding->table.rows.empty()) return;
    if (!text.empty()) next_.blocks.push_back(Paragraph{std::move(text)});
    Table table = finding->table;
    table.fold = fold;
    next_.blocks.push_back(std::move(table));
  }
  void add(Table table, const char* fold) {
    if (table.rows.empty()) return;
    table.fold = fold;
    next_.blocks.push_back(std::move(table));
  }
  void end() {
    if (!next_.blocks.empty()) sections_.push_back(std::exchange(next_, {}));
  }
  void add(Section section) { sections_.push_back(std::move(section)); }

 private:
  std::vector<Section>& sections_;
  const std::vector<Finding>& findings_;
  const std::vector<std::string>& said_;
  Section next_;
};

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
    section.blocks.push_back(Paragraph{fmt::format(
        "{} in tables/commands.csv.", plural(view.cases.size() - shown, "more case is", "more cases are"))});
  return section;
}

// What the records answer: claims, variants, rivals, rings.
void add_answers(Tellings& tellings, const View& view, const std::vector<ClaimAnswer>& answers,
                 const std::vector<ClaimAnswer>& of_papers) {
  if (!answers.empty()) tellings.add(claims_section(answers, view.machine));
  if (Section papers = literature_section(of_papers); !papers.blocks.empty()) tellings.add(std::move(papers));
  tellings.begin("chains", "The reported ratio, step by step");
  tellings.add("reported", "");
  tellings.add("chains", kChains);
  tellings.add("protocols", kProtocols, "What single timings would have reported");
  tellings.end();
  tellings.begin("summary", "Every variant against the reference");
  tellings.add("traversals", "");
  tellings.add("hilbert", "");
  tellings.add("blocks", "");
  tellings.add("variants",
               std::string(kVariants) + (sums_windows_apart(view) ? kVariantsOfTwoFunctions : ""));
  tellings.add("effects", "");
  tellings.add("ratios", kRatios, "The ratios, case by case");
  tellings.add("counts", kCounts, "Every count");
  tellings.end();
  tellings.begin("rivals", "Kernels against their rivals");
  tellings.add("rivals", std::string(kRivals) + (dense_cases(view).empty() ? "" : kRivalsOfTwoFunctions),
               "The same as numbers, with times and rates");
  tellings.end();
  tellings.begin("rates", "Rates and limits");
  tellings.add("rates", kRates, "Rates of the kernel in linear order");
  tellings.add("inputs", kInputs);
  tellings.end();
  if (const Finding* rings = tellings.find("rings"); rings != nullptr && !rings->table.rows.empty())
    tellings.add(rings_section(rings->table, tellings.unsaid(*rings)));
  tellings.begin("ring_speedups", "Rings by ring size, and what was predicted of them");
  tellings.add("ring_speedups", kRingSpeedups, "Speedup over one rank, case by case");
  tellings.add("predictions", kPredictions);
  tellings.end();
  tellings.begin("energy", "Energy of an execution");
  tellings.add("energy", kEnergy);
  tellings.end();
  tellings.begin("training", "Steps of a training");
  tellings.add("training", kTraining);
  tellings.end();
}

// Windows on grids: orders beside rivals, pairs, and time by pairs.
void add_windows(Tellings& tellings, const View& view) {
  tellings.begin("windows", "Windows: orders and rivals");
  tellings.add("windows", kWindows);
  tellings.add(windows_table(view), "Row by row, with times");
  tellings.end();
  if (Table pairs = window_pairs_table(view); !pairs.rows.empty())
    tellings.add(table_section(
        "pairs", "Pairs of windows",
        "Needed are the (query, key) pairs that the windows select; FLOPs count these. Computed are those "
        "that the tiles of the kernel multiply: each tile reads the keys of all its queries. The order of "
        "the positions decides how near its queries are to each other. Counted exactly, before any time is "
        "measured.",
        std::move(pairs)));
  tellings.begin("window_times", "Windows: time by computed pairs");
  tellings.add("window_times", kWindowTimes);
  tellings.end();
}

// Case by case: figures, times, counters.
void add_cases(Tellings& tellings, const View& view, std::vector<Figure> figures) {
  if (!view.order_pictures.empty()) {
    Section section{.id = "orders", .title = "The orders of this sweep", .blocks = {}};
    for (const Picture& picture : view.order_pictures) section.blocks.push_back(picture);
    tellings.add(std::move(section));
  }
  if (!figures.empty()) {
    Section section{.id = "figures", .title = "Figures", .blocks = {}, .form = Form::text};
    for (Figure& figure : figures) section.blocks.push_back(std::move(figure));
    tellings.add(std::move(section));
  }
  tellings.add(comparison_section(view));
  tellings.begin("counts", "What the counters explain");
  tellings.add("counters", "", "Counters, variant by variant");
  tellings.end();
  add_windows(tellings, view);
  tellings.add(locality_section(view));
}

// What is missing, the machine, the method, and the commands that repeat the rows.
void add_background(Tellings& tellings, const View& view, const std::vector<ClaimAnswer>& answers,
                    const std::vector<std::string>& notes) {
  if (Table unavailable = unavailable_table(view); !unavailable.rows.empty())
    tellings.add(table_section("unread", "Counters that could not be read", "", std::move(unavailable)));
  if (Table untestable = untestable_claims_table(answers); !untestable.rows.empty()) {
    untestable.fold =
        plural(untestable.rows.size(), "claim, with the reason", "claims, each with the reason");
    tellings.add(
        table_section("untestable", "Claims that these records cannot test", "", std::move(untestable)));
  }
  if (const Finding* twins = tellings.find("twins"))
    tellings.add(twins_section(twins->table, tellings.unsaid(*twins)));
  tellings.add(problems_section(view, notes));
  tellings.add(table_section("environment", "Environment", "", environment_table(view)));
  tellings.add(method_section(view));
  tellings.add(commands_section(view));
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
                    .compared = headline_of(view).table,
                    .tiles = claim_tiles(answers),
                    .sections = {}};
  if (std::string limits = limits_sentence(view); !limits.empty())
    document.answer.push_back(std::move(limits));
  if (std::string steady = steady_sentence(view); !steady.empty())
    document.answer.push_back(std::move(steady));
  document.answer.push_back(status_sentence(view));
  if (!answers.empty()) document.answer.push_back(claims_sentence(answers));
  if (const std::string papers = papers_sentence(of_papers); !papers.empty())
    document.answer.push_back(papers);
  if (const std::string subject = subject_of(view); !subject.empty() && subject != document.question)
    document.title += ": " + subject;
  const std::vector<Finding> findings = findings_of(view, all_answers);
  Tellings tellings(document.sections, findings, document.answer);
  add_answers(tellings, view, answers, of_papers);
  add_cases(tellings, view, std::move(figures));
  add_background(tellings, view, of_reports, notes);
  return document;
}

}  // namespace hilbench
