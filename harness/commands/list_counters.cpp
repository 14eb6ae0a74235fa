#include "harness/commands/list_counters.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <vector>

#include "harness/counters/counters.hpp"
#include "harness/counters/cupti_library.hpp"

namespace hilbench {
namespace {

// "= 1 - misses / reads", "= (tex_hits + fabric_hits) / reads"
std::string formula_of(const DerivedCounter& derived) {
  const auto sum = [](const std::vector<std::string>& names) {
    const std::string text = fmt::format("{}", fmt::join(names, " + "));
    return names.size() > 1 ? "(" + text + ")" : text;
  };
  const double factor = std::abs(derived.scale);
  std::string text = derived.offset != 0 ? fmt::format("= {} ", derived.offset) : "= ";
  if (derived.scale < 0)
    text += "- ";
  else if (derived.offset != 0)
    text += "+ ";
  if (factor != 1) text += fmt::format("{} * ", factor);
  text += sum(derived.numerator);
  return derived.denominator.empty() ? text : text + " / " + sum(derived.denominator);
}

// "CPU", "compute capability 8.0 to 8.9, 2 passes on GA100"
std::string scope_of(const CounterSet& set) {
  if (set.last == kCpuTarget) return target_name(kCpuTarget);
  std::string text = fmt::format("{} to {}.{}", target_name(set.first), set.last / 10, set.last % 10);
  for (const auto& [chip, passes] : set.passes)
    text += fmt::format(", {} {} on {}", passes, passes == 1 ? "pass" : "passes", chip);
  return text;
}

// Why `set` cannot be counted on this machine; "" if nothing is known against it without running work.
std::string unavailable_here(const CounterSet& set) {
  if (set.last == kCpuTarget) return "";  // each event is tried by itself
  const CounterTarget here = counter_target(DeviceKind::cuda);
  if (here < kCpuTarget) return "no CUDA device answers";
  if (here < set.first || set.last < here) return fmt::format("the device here has {}", target_name(here));
  return why_not_countable(set);
}

std::string list_counter_set(const CounterSet& set) {
  const std::string reason = unavailable_here(set);
  std::string text = fmt::format("{} ({}; {}): {}\n", set.name, set.backend, scope_of(set), set.help);
  if (!reason.empty()) text += fmt::format("  unavailable here: {}\n", reason);
  const bool try_events = set.last == kCpuTarget;
  const RawCounts tried = try_events ? open_counters(set, 1)->read() : RawCounts();
  std::vector<Line> lines;
  for (const CounterEvent& event : set.events) {
    const RawCount count = try_events ? tried.at(event.name) : RawCount{.value = 0};
    const std::string source = try_events ? "available" : event.event;
    lines.push_back({"  " + event.name, count.value ? fmt::format("{}, {}", source, event.unit)
                                                    : "unavailable here: " + count.reason});
  }
  for (const DerivedCounter& derived : set.derived)
    lines.push_back({"  " + derived.name, formula_of(derived)});
  return text + in_columns(lines);
}

}  // namespace

std::string list_counters(Shown shown) {
  std::string text;
  std::size_t elsewhere = 0;
  for (const CounterSet& set : counter_sets()) {
    if (shown == Shown::here && !unavailable_here(set).empty())
      ++elsewhere;
    else
      text += list_counter_set(set);
  }
  if (elsewhere > 0)
    text += fmt::format("{} more that this machine has not: hilbench list counters --all\n",
                        elsewhere == 1 ? "1 set" : fmt::format("{} sets", elsewhere));
  return text;
}

}  // namespace hilbench
