// Results against one reference over several cases.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "reports/view/format.hpp"
#include "reports/view/margins.hpp"
#include "reports/view/pairing.hpp"

namespace hilbench {

struct Tally {
  std::map<Verdict, std::size_t> verdicts;
  std::size_t cases = 0, in_one_process = 0;
  double low = 0, high = 0;  // of the ratios
  double margin = 0;         // the largest
  Measured last;             // of the case added last

  void add(const Measured& ratio) {
    last = ratio;
    low = cases == 0 ? ratio.ratio : std::min(low, ratio.ratio);
    high = std::max(high, ratio.ratio);
    margin = std::max(margin, ratio.margin);
    in_one_process += ratio.processes == 1;
    ++verdicts[ratio.verdict];
    ++cases;
  }
  void add(const Tally& other) {
    if (other.cases == 0) return;
    last = other.last;
    low = cases == 0 ? other.low : std::min(low, other.low);
    high = std::max(high, other.high);
    margin = std::max(margin, other.margin);
    in_one_process += other.in_one_process;
    for (const auto& [verdict, count] : other.verdicts) verdicts[verdict] += count;
    cases += other.cases;
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
  // Of one case with its interval.
  std::string ratios() const {
    if (cases == 1) return ratio_text(last.ratio, last.ci);
    const std::string lowest = number_text(low), highest = number_text(high);
    return lowest == highest ? lowest : lowest + " to " + highest;
  }
  std::string within() const { return margin_text(margin); }
  // "Faster in 2 of 4 cases, slower in 0, nothing shown in 2"; of one case "Faster".
  std::string verdict() const {
    const std::size_t faster = with(Verdict::faster), slower = with(Verdict::slower),
                      equal = with(Verdict::equivalent), unknown = with(Verdict::inconclusive);
    const std::string equal_words = fmt::format("qual within {}", within());
    if (cases == 1)
      return faster > 0 ? "Faster" : slower > 0 ? "Slower" : equal > 0 ? "E" + equal_words : "Nothing shown";
    const auto in_all = [&](const std::string& words) {
      return fmt::format("{} in all {} cases", words, cases);
    };
    if (faster == cases) return in_all("Faster");
    if (slower == cases) return in_all("Slower");
    if (equal == cases) return in_all("E" + equal_words);
    if (unknown == cases) return fmt::format("Nothing shown in {} cases", cases);
    std::string text;
    if (faster + slower == 0) {
      text = fmt::format("E{} in {} of {} cases", equal_words, equal, cases);
    } else {
      text = faster >= slower ? fmt::format("Faster in {} of {} cases, slower in {}", faster, cases, slower)
                              : fmt::format("Slower in {} of {} cases, faster in {}", slower, cases, faster);
      if (equal > 0) text += fmt::format(", e{} in {}", equal_words, equal);
    }
    if (unknown > 0) text += fmt::format(", nothing shown in {}", unknown);
    return text;
  }
  // "B is faster than A in 2 of 3 cases, ...": the variant against the reference, whose time / the variant's
  // the ratios are. `text` and `against` are their names in the sentence, `short_text` and `short_against` in
  // the ratio.
  std::string compared(std::string_view text, std::string_view against, std::string_view short_text,
                       std::string_view short_against) const {
    const std::string ratio = fmt::format("time of {} / time of {}: {}", short_against, short_text, ratios());
    if (cases > 1) {
      const bool nothing = with(Verdict::inconclusive) == cases;
      return fmt::format(
          "{}{} is faster than {} in {} of {} cases, slower in {}, within {} in {} and "
          "inconclusive in {} ({}).",
          nothing ? "Nothing is shown: " : "", text, against, with(Verdict::faster), cases,
          with(Verdict::slower), within(), with(Verdict::equivalent), with(Verdict::inconclusive), ratio);
    }
    if (with(Verdict::faster) + with(Verdict::slower) > 0)
      return fmt::format("{} is {} than {} ({}).", text, with(Verdict::faster) > 0 ? "faster" : "slower",
                         against, ratio);
    if (with(Verdict::equivalent) > 0)
      return fmt::format("{} is within {} of {} ({}).", text, within(), against, ratio);
    return fmt::format("Nothing is shown of {} against {} ({}).", text, against, ratio);
  }
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
