#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "harness/counters/counters.hpp"

namespace hilbench {
namespace {

Counter absent(const std::string& unit, std::string_view source, std::string reason) {
  return {.unit = unit, .source = std::string(source), .reason = std::move(reason)};
}

Counter present(const RawCount& count, const std::string& unit, std::string_view source, int passes) {
  return {.value = *count.value,
          .unit = unit,
          .source = fmt::format("{}{}{}", source, count.scaled ? ", scaled" : "", count.fake ? ", fake" : ""),
          .passes = passes,
          .ranks = count.ranks};
}

RawCount find_raw(const RawCounts& raw, const std::string& name) {
  const auto found = raw.find(name);
  if (found == raw.end()) return {.reason = fmt::format("{} was not counted", name)};
  return found->second;
}

// The sum of `names`. If one of them is missing, so is the sum, with the reason of the first.
RawCount add_up(const RawCounts& raw, const std::vector<std::string>& names) {
  RawCount sum{.value = 0};
  for (const std::string& name : names) {
    const RawCount part = find_raw(raw, name);
    if (!part.value) return {.reason = fmt::format("needs {}: {}", name, part.reason)};
    sum.value = *sum.value + *part.value;
    sum.scaled = sum.scaled || part.scaled;
    sum.fake = sum.fake || part.fake;
  }
  return sum;
}

Counter derive(const DerivedCounter& derived, const RawCounts& raw, std::string_view source, int passes) {
  const RawCount numerator = add_up(raw, derived.numerator);
  const RawCount denominator =
      derived.denominator.empty() ? RawCount{.value = 1} : add_up(raw, derived.denominator);
  for (const RawCount& part : {numerator, denominator})
    if (!part.value) return absent(derived.unit, source, part.reason);
  if (*denominator.value == 0)
    return absent(derived.unit, source, fmt::format("{} is 0", fmt::join(derived.denominator, " + ")));
  const RawCount ratio = {.value = derived.offset + derived.scale * *numerator.value / *denominator.value,
                          .scaled = numerator.scaled || denominator.scaled,
                          .fake = numerator.fake || denominator.fake};
  Counter counter = present(ratio, derived.unit, source, passes);
  check_share(derived.name, counter);
  return counter;
}

RawCount over_ranks(const CounterEvent& event, const std::vector<RawCounts>& ranks) {
  if (event.ranks == OverRanks::none)
    return {.reason = "the ranks of a ring wait for each other while each begins to count"};
  RawCount all;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const RawCount own = find_raw(ranks[rank], event.name);
    if (!own.value) {
      const bool alike = std::all_of(ranks.begin(), ranks.end(), [&](const RawCounts& other) {
        return find_raw(other, event.name).reason == own.reason;
      });
      return {.reason = alike ? own.reason : fmt::format("rank {}: {}", rank, own.reason)};
    }
    all.ranks.push_back(*own.value);
    all.scaled = all.scaled || own.scaled;
    all.fake = all.fake || own.fake;
  }
  if (all.ranks.empty()) return {.reason = "no rank counted"};
  all.value = std::accumulate(all.ranks.begin(), all.ranks.end(), 0.0);
  if (event.ranks == OverRanks::mean) *all.value /= static_cast<double>(all.ranks.size());
  return all;
}

}  // namespace

RawCounts over_ranks(const CounterSet& set, const std::vector<RawCounts>& ranks) {
  RawCounts counts;
  for (const CounterEvent& event : set.events) counts[event.name] = over_ranks(event, ranks);
  return counts;
}

std::map<std::string, Counter> finish_counters(const CounterSet& set, const RawCounts& raw,
                                               std::string_view source, int passes) {
  std::map<std::string, Counter> counters;
  for (const CounterEvent& event : set.events) {
    const RawCount count = find_raw(raw, event.name);
    counters[event.name] =
        count.value ? present(count, event.unit, source, passes) : absent(event.unit, source, count.reason);
  }
  for (const DerivedCounter& derived : set.derived)
    counters[derived.name] = derive(derived, raw, source, passes);
  return counters;
}

}  // namespace hilbench
