// What the records answer, and the question.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "reports/findings/sentences.hpp"
#include "reports/findings/tally.hpp"
#include "reports/summaries/chains.hpp"
#include "reports/tables/rings.hpp"
#include "reports/tables/rivals.hpp"
#include "reports/tables/twins.hpp"
#include "reports/tables/window_pairs.hpp"
#include "reports/tables/window_times.hpp"
#include "reports/view/bent_rounds.hpp"
#include "reports/view/dense_case.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

// A kernel in linear order against a rival, over all cases: time of the rival / time of the kernel.
struct AgainstRival {
  std::string rival;
  Tally tally;
  std::set<const CaseView*> cases;  // fewer than comparisons if a case has several kernels or ring options
};

// The strongest rival first: the one that comes nearest in some case, or is ahead.
std::vector<AgainstRival> strongest_first(const std::map<std::string, AgainstRival>& rivals) {
  std::vector<AgainstRival> sorted;
  for (const auto& [rival, against] : rivals) sorted.push_back(against);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.tally.low < b.tally.low; });
  return sorted;
}

// "FlashAttention-3 (torch_sdpa.fa3)": what people call a rival, and its id.
std::string rival_text(const std::string& id) {
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"torch_sdpa.fa3", "FlashAttention-3"},
      {"torch_sdpa.fa4", "FlashAttention-4"},
      {"jax_fa3", "FlashAttention-3 under JAX"},
      {"torch_sdpa.flash", "FlashAttention-2"},
      {"torch_sdpa.flex", "FlexAttention"},
      {"cudnn", "cuDNN reading dilated rows in place"},
      {"cudnn_gather", "cuDNN on gathered rows"},
      {"torch_sdpa.cudnn", "PyTorch's cuDNN"},
      {"torch_context_parallel.allgather", "PyTorch's context_parallel with rotation by allgather"},
      {"torch_context_parallel.ring", "PyTorch's context_parallel with rotation in a ring"}};
  for (const auto& [known, name] : kNames)
    if (id == known) return fmt::format("{} ({})", name, id);
  return id;
}

// "dilated_mma is faster than cudnn, its strongest rival, in 3 of 4 cases ...": the strongest rival by name,
// the others by their ratios.
std::string rivals_text(const std::string& kernel, const std::vector<AgainstRival>& rivals) {
  const auto& [rival, tally, cases] = rivals.front();
  const std::string compared = tally.cases == cases.size()
                                   ? plural(tally.cases, "case", "cases")
                                   : fmt::format("{} of {}", plural(tally.cases, "comparison", "comparisons"),
                                                 plural(cases.size(), "case", "cases"));
  const auto range = [](const Tally& of) {
    const std::string low = number_text(of.low, 3), high = number_text(of.high, 3);
    return low == high ? low : low + " to " + high;
  };
  std::vector<std::string> others;
  for (std::size_t i = 1; i < rivals.size(); ++i)
    others.push_back(fmt::format("{} {}", rivals[i].rival, range(rivals[i].tally)));
  return fmt::format(
      "{} is faster than {}{} in {} of {} and slower in {} (time of the rival / time of the kernel: {}{}{}).",
      kernel, rival_text(rival), rivals.size() > 1 ? ", its strongest rival," : "",
      tally.with(Verdict::faster), compared, tally.with(Verdict::slower), range(tally),
      others.empty() ? "" : "; other rivals: ", fmt::join(others, ", "));
}

// Each kernel against its rivals, the kernel that holds its own best first; empty if there is no pair.
std::string rivals_sentence_of(const std::vector<RivalPair>& pairs) {
  std::map<std::string, std::map<std::string, AgainstRival>> tallies;
  for (const RivalPair& pair : pairs) {
    const char* order = has_windows(*pair.where->work) ? " in its fastest order" : "";
    AgainstRival& against = tallies[pair.kernel->kernel + order][pair.rival->variant_id];
    against.rival = pair.rival->variant_id;
    against.tally.add(pair.ratio);
    against.cases.insert(pair.where);
  }
  std::vector<std::pair<std::string, std::vector<AgainstRival>>> kernels;
  for (const auto& [kernel, rivals] : tallies) kernels.emplace_back(kernel, strongest_first(rivals));
  std::stable_sort(kernels.begin(), kernels.end(), [](const auto& a, const auto& b) {
    return a.second.front().tally.low > b.second.front().tally.low;
  });
  std::vector<std::string> sentences;
  for (const auto& [kernel, rivals] : kernels) sentences.push_back(rivals_text(kernel, rivals));
  return fmt::format("{}", fmt::join(sentences, " "));
}

void take_fastest_orders(std::vector<RivalPair>& pairs) {
  for (RivalPair& pair : pairs) {
    if (!has_windows(*pair.where->work)) continue;
    const Record* fastest = fastest_order(*pair.where, pair.kernel->kernel);
    if (const auto ratio = fastest != nullptr ? time_ratio(*pair.rival, *fastest) : std::nullopt) {
      pair.kernel = fastest;
      pair.ratio = *ratio;
    }
  }
}

bool has_control(const View& view) {
  return std::any_of(view.cases.begin(), view.cases.end(), [](const CaseView& of_case) {
    return std::any_of(of_case.records.begin(), of_case.records.end(),
                       [](const Record* record) { return record->variant.kernel().order == "random"; });
  });
}

// What stands if nothing is compared; "" if several variants were measured.
std::string lone_variant_sentence(const View& view) {
  std::set<std::string> variants;
  for (const CaseView& of_case : view.cases)
    for (const Record* record : of_case.records)
      if (record->kind == ImplementationKind::kernel) variants.insert(record->variant_id);
  if (variants.size() != 1) return "";
  return fmt::format("Nothing is compared here: {} alone was measured, in {}.", *variants.begin(),
                     plural(view.cases.size(), "case", "cases"));
}

// Nothing but references, and so their twins, was asked for.
bool only_references(const View& view) {
  return std::all_of(view.cases.begin(), view.cases.end(), [](const CaseView& of_case) {
    return std::all_of(of_case.records.begin(), of_case.records.end(),
                       [](const Record* record) { return record->variant_id == record->reference; });
  });
}

std::vector<std::string> answers(const View& view) {
  if (std::vector<std::string> chains = chain_sentences(view); !chains.empty()) return chains;
  const bool claimed = has_claimed_order(view);
  const std::string rivals = rivals_sentence(view);
  std::vector<std::string> said = traversal_sentences(view);
  const auto add = [&said](const std::string& sentence) {
    if (!sentence.empty()) said.push_back(sentence);
  };
  // Without the control, Hilbert order was not what the sweep asks about.
  if (claimed && !has_control(view)) add(rivals);
  for (const std::string& sentence : hilbert_sentences(view)) add(sentence);
  if (claimed) return said;
  add(windows_sentence(view));
  add(window_times_sentence(view));
  add(rivals);
  add(rings_sentence(view));
  if (!said.empty() || view.record_count == 0) return said;
  std::string twins = only_references(view) ? twins_sentence(view) : "";
  if (!twins.empty()) return {std::move(twins)};
  if (std::string lone = lone_variant_sentence(view); !lone.empty()) return {std::move(lone)};
  if (said = variant_sentences(view); !said.empty()) return said;
  return {
      fmt::format("No case here has times of linear order beside those of a rival, or of Hilbert order over "
                  "the whole length or in chunks of {}.",
                  claimed_chunk())};
}

}  // namespace

// The rivals on windows first: dense attention on the same tokens is another function.
std::string rivals_sentence(const View& view) {
  std::vector<RivalPair> pairs = rival_pairs(view, kMostRivalRows);
  take_fastest_orders(pairs);
  const std::set<const CaseView*> dense = dense_cases(view);
  const auto on_all_pairs = std::stable_partition(
      pairs.begin(), pairs.end(), [&](const RivalPair& pair) { return !dense.contains(pair.where); });
  std::string said = rivals_sentence_of({pairs.begin(), on_all_pairs});
  if (on_all_pairs == pairs.end()) return said;
  if (!said.empty()) said += " ";
  return said + "Dense attention on all pairs, which is another function than windows: " +
         rivals_sentence_of({on_all_pairs, pairs.end()});
}

std::vector<std::string> variant_sentences(const View& view) {
  constexpr std::size_t kMost = 6;
  std::map<std::pair<std::string, std::string>, Tally> tallies;  // by reference and variant
  Tally all;
  for (const CaseView& of_case : view.cases)
    for (const Record* record : of_case.records) {
      const auto reference = std::find_if(
          of_case.records.begin(), of_case.records.end(),
          [&](const Record* other) { return other->variant_id == record->reference && !other->twin; });
      const bool computes = record->kind == ImplementationKind::kernel || record->verify;
      if (record->twin || !computes || reference == of_case.records.end() || *reference == record) continue;
      const auto ratio = time_ratio(**reference, *record);
      if (!ratio) continue;
      tallies[{(*reference)->variant_id, record->variant_id}].add(*ratio);
      all.add(*ratio);
    }
  std::vector<std::pair<std::pair<std::string, std::string>, Tally>> sorted(tallies.begin(), tallies.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second.high > b.second.high; });
  std::vector<std::string> said;
  for (const auto& [ids, tally] : sorted) {
    if (said.size() == kMost) break;
    said.push_back(tally.compared(ids.second, ids.first, ids.second, ids.first));
  }
  if (sorted.size() > kMost)
    said.push_back(
        fmt::format("The table below has {} more.", plural(sorted.size() - kMost, "variant", "variants")));
  if (std::string one_process = all.one_process(); !one_process.empty())
    said.push_back(std::move(one_process));
  return said;
}

std::string bent_rounds_sentence(const View& view) {
  std::size_t cases = 0;
  std::optional<BentRounds> worst;
  for (const CaseView& of_case : view.cases) {
    bool is = false;
    for (const Record* record : of_case.records) {
      const auto bent = bent_rounds(*record);
      is = is || bent;
      if (bent && (!worst || bent->fewest < worst->fewest)) worst = bent;
    }
    cases += is;
  }
  if (cases == 0) return "";
  return fmt::format(
      "In {} of {} the budget was spent before all rounds were measured: a process has {} of {} at worst.",
      cases, plural(view.cases.size(), "case", "cases"), worst->fewest, worst->wanted);
}

std::vector<std::string> main_sentences(const View& view) {
  std::vector<std::string> said = answers(view);
  if (std::string bent = bent_rounds_sentence(view); !bent.empty()) said.push_back(std::move(bent));
  return said;
}

std::string main_question(const View& view) {
  if (!chain_sentences(view).empty())
    return "What is left of the reported ratio where its programs run here, and which step makes it?";
  if (!traversal_sentences(view).empty())
    return "Does the sequence in which tiles are computed make attention faster? In which cases, and by how "
           "much?";
  const bool hilbert = !hilbert_sentences(view).empty();
  if (!hilbert || !has_control(view)) {
    if (!windows_sentence(view).empty() || !window_times_sentence(view).empty())
      return "Does the order of a grid make attention over windows faster?";
    if (!rivals_sentence(view).empty())
      return "How fast are the kernels, compared with libraries that compute the same?";
    if (!rings_sentence(view).empty()) return "How much faster than one rank is a ring of several?";
    if (!lone_variant_sentence(view).empty()) return "How much time and memory does each case need?";
    if (!hilbert && !only_references(view) && !variant_sentences(view).empty())
      return "Which variants are faster than the reference, and by how much?";
  }
  return "Does the order of rows in memory make long-context attention faster? In which cases, and by how "
         "much?";
}

}  // namespace hilbench
