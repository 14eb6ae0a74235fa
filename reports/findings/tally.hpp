// Results against one reference over several cases.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "reports/view/format.hpp"
#include "reports/view/margins.hpp"
#include "reports/view/pairing.hpp"

namespace hilbench {

struct Tally {
  std::map<Verdict, std::size_t> verdicts;
  std::size_t cases = 0, in_one_process = 0;
  double low = 0, high = 0;  // of the ratios
  double margin = 0;         // the largest

  void add(const Measured& ratio) {
    low = cases == 0 ? ratio.ratio : std::min(low, ratio.ratio);
    high = std::max(high, ratio.ratio);
    margin = std::max(margin, ratio.margin);
    in_one_process += ratio.processes == 1;
    ++verdicts[ratio.verdict];
    ++cases;
  }
  std::size_t with(Verdict verdict) const {
    const auto found = verdicts.find(verdict);
    return found == verdicts.end() ? 0 : found->second;
  }
  // "faster in 1, slower in 0, inconclusive in 2"
  std::string sides() const {
    return fmt::format("faster in {}, slower in {}, inconclusive in {}", with(Verdict::faster),
                       with(Verdict::slower), with(Verdict::inconclusive));
  }
  std::string ratios() const {
    const std::string first = number_text(low), last = number_text(high);
    return first == last ? first : first + " to " + last;
  }
  std::string within() const { return margin_text(margin); }
  // What the ratios cannot show; empty if several processes measured each.
  std::string one_process() const {
    if (in_one_process == 0) return "";
    return fmt::format(
        "Of these ratios, {} measured by one process only, from which no equality can be shown.",
        in_one_process == cases
            ? "all were"
            : fmt::format("{} of {} {}", in_one_process, cases, in_one_process == 1 ? "was" : "were"));
  }
  // `sentence`, which gives the ratios, and what they cannot show.
  std::string with_one_process(std::string sentence) const {
    const std::string more = one_process();
    return more.empty() ? sentence : sentence + " " + more;
  }
};

}  // namespace hilbench
