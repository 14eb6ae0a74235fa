// Kernels against their rivals.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "reports/findings/headline.hpp"
#include "reports/findings/sentences.hpp"
#include "reports/tables/rivals.hpp"
#include "reports/tables/window_times.hpp"
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

// What people call a rival: "FlashAttention-3", or its id.
std::string short_rival_text(const std::string& id) {
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
    if (id == known) return std::string(name);
  return id;
}

// The same with the id: "FlashAttention-3 (torch_sdpa.fa3)".
std::string rival_text(const std::string& id) {
  const std::string name = short_rival_text(id);
  return name == id ? id : fmt::format("{} ({})", name, id);
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

// A kernel and its rivals, the strongest first.
struct Contest {
  std::string kernel;
  std::vector<AgainstRival> rivals;
};

// The kernel that holds its own best first.
std::vector<Contest> contests_of(const std::vector<RivalPair>& pairs) {
  std::map<std::string, std::map<std::string, AgainstRival>> tallies;
  for (const RivalPair& pair : pairs) {
    const char* order = has_windows(*pair.where->work) ? " in its fastest order" : "";
    AgainstRival& against = tallies[pair.kernel->kernel + order][pair.rival->variant_id];
    against.rival = pair.rival->variant_id;
    against.tally.add(pair.ratio);
    against.cases.insert(pair.where);
  }
  std::vector<Contest> contests;
  for (const auto& [kernel, rivals] : tallies) contests.push_back({kernel, strongest_first(rivals)});
  std::stable_sort(contests.begin(), contests.end(), [](const Contest& a, const Contest& b) {
    return a.rivals.front().tally.low > b.rivals.front().tally.low;
  });
  return contests;
}

std::string contests_text(const std::vector<Contest>& contests) {
  std::vector<std::string> sentences;
  for (const Contest& contest : contests) sentences.push_back(rivals_text(contest.kernel, contest.rivals));
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

// Dense attention on the same tokens is another function than windows.
struct AllContests {
  std::vector<Contest> same, dense;
};
AllContests all_contests(const View& view) {
  std::vector<RivalPair> pairs = rival_pairs(view, kMostRivalRows);
  take_fastest_orders(pairs);
  const std::set<const CaseView*> dense = dense_cases(view);
  const auto on_all_pairs = std::stable_partition(
      pairs.begin(), pairs.end(), [&](const RivalPair& pair) { return !dense.contains(pair.where); });
  return {contests_of({pairs.begin(), on_all_pairs}), contests_of({on_all_pairs, pairs.end()})};
}

}  // namespace

std::string rivals_sentence(const View& view) {
  const AllContests contests = all_contests(view);
  std::string said = contests_text(contests.same);
  if (contests.dense.empty()) return said;
  if (!said.empty()) said += " ";
  return said + "Dense attention on all pairs, which is another function than windows: " +
         contests_text(contests.dense);
}

std::vector<Outcome> rival_outcomes(const View& view) {
  std::vector<Outcome> outcomes;
  const AllContests contests = all_contests(view);
  const auto add = [&](const std::vector<Contest>& all, const char* function) {
    for (const auto& [kernel, rivals] : all) {
      const AgainstRival& strongest = rivals.front();
      outcomes.push_back({.what = kernel + function,
                          .against = short_rival_text(strongest.rival),
                          .tally = strongest.tally,
                          .who = rivals.size() > 1 ? "its strongest rival" : ""});
    }
  };
  add(contests.same, "");
  add(contests.dense, " on all pairs");
  return outcomes;
}

}  // namespace hilbench
