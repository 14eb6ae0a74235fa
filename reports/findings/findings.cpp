#include "reports/findings/findings.hpp"

#include <algorithm>
#include <utility>

#include "reports/findings/headline.hpp"
#include "reports/findings/sentences.hpp"
#include "reports/summaries/chains.hpp"
#include "reports/summaries/effects.hpp"
#include "reports/summaries/energy.hpp"
#include "reports/summaries/followed_counts.hpp"
#include "reports/summaries/rates.hpp"
#include "reports/summaries/ring_speedups.hpp"
#include "reports/tables/claim_headlines.hpp"
#include "reports/tables/counters_beside_ratios.hpp"
#include "reports/tables/literature.hpp"
#include "reports/tables/rings.hpp"
#include "reports/tables/rivals.hpp"
#include "reports/tables/summary.hpp"
#include "reports/tables/training.hpp"
#include "reports/tables/twins.hpp"
#include "reports/tables/window_pairs.hpp"
#include "reports/tables/window_times.hpp"
#include "reports/tables/windows.hpp"

namespace hilbench {
namespace {

class Findings {
 public:
  void add(std::string id, std::vector<std::string> sentences, Table table = {}) {
    std::erase(sentences, "");
    if (!sentences.empty() || !table.rows.empty())
      made_.push_back({std::move(id), std::move(sentences), std::move(table)});
  }
  std::vector<Finding> take() { return std::move(made_); }

 private:
  std::vector<Finding> made_;
};

}  // namespace

std::vector<Finding> findings_of(const View& view, const std::vector<ClaimAnswer>& answers) {
  const std::vector<ClaimAnswer> of_reports = shown_answers(view, answers_of(ClaimOrigin::report, answers)),
                                 of_papers = answers_of(ClaimOrigin::paper, answers);
  Findings findings;
  findings.add("records", {injected_sentence(view), steady_sentence(view), status_sentence(view),
                           bent_rounds_sentence(view)});
  findings.add("claims",
               of_reports.empty() ? std::vector<std::string>{} : std::vector{claims_sentence(of_reports)},
               headline_claims_table(of_reports));
  findings.add("papers", {papers_sentence(of_papers)}, judged_papers_table(of_papers));
  findings.add("reported", {}, reported_table(reported_cases(view)));
  findings.add("chains", chain_sentences(view), chains_table(view));
  findings.add("protocols", {}, protocols_table(view));
  findings.add("traversals", traversal_sentences(view));
  findings.add("blocks", block_sentences(view));
  findings.add("hilbert", hilbert_sentences(view));
  findings.add("variants",  // Beside other answers, a table says the same in short.
               variants_lead(view) ? variant_sentences(view) : std::vector<std::string>{},
               summary_table(view));
  findings.add("effects", effects_sentences(view), effects_table(view));
  findings.add("ratios", {}, ratios_table(view));
  findings.add("counts", {followed_count_sentence(view)}, followed_counts_table(view));
  findings.add("counters", {}, explained_table(view.cases));
  findings.add("rivals", {rivals_sentence(view)}, rivals_page_table(view));
  findings.add("rates", {}, rates_table(view));
  findings.add("inputs", {}, inputs_table(view));
  findings.add("windows", {windows_sentence(view)}, windows_by_case_table(view));
  findings.add("window_times", {window_times_sentence(view)}, window_times_table(view));
  findings.add("rings", {rings_sentence(view)}, rings_page_table(view));
  findings.add("ring_speedups", {}, ring_speedups_table(view));
  findings.add("predictions", {view.prediction_notes.begin(), view.prediction_notes.end()},
               predicted_rings_table(view));
  findings.add("energy", {}, energy_table(view));
  findings.add("training", {}, training_table(view));
  findings.add("twins", {twins_sentence(view), twins_distances_sentence(view)}, twins_table(view));
  return findings.take();
}

const Finding* find_finding(const std::vector<Finding>& findings, std::string_view id) {
  const auto found = std::find_if(findings.begin(), findings.end(),
                                  [id](const Finding& finding) { return finding.id == id; });
  return found == findings.end() ? nullptr : &*found;
}

std::vector<ClaimAnswer> shown_answers(const View& view, const std::vector<ClaimAnswer>& of_reports) {
  const bool tested = std::any_of(of_reports.begin(), of_reports.end(), [](const ClaimAnswer& answer) {
    return answer.verdict != ClaimVerdict::not_testable;
  });
  return tested || view.meta.contains("claims") ? of_reports : std::vector<ClaimAnswer>{};
}

std::string to_markdown(const Finding& finding) {
  std::string text;
  for (const std::string& sentence : finding.sentences)
    text += (text.empty() ? "" : "\n") + markdown_text(sentence) + "\n";
  if (finding.table.rows.empty()) return text;
  return text + (text.empty() ? "" : "\n") + to_markdown(finding.table);
}

}  // namespace hilbench
