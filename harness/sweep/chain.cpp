// `chain:` of a sweep file.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "harness/counters/counters.hpp"
#include "harness/sweep/parts.hpp"
#include "kernels/orders/locality.hpp"
#include "reports/records/record_names.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

constexpr double kLargestClaim = 1e6;
constexpr std::size_t kLongestChange = 200;

const Variant& variant_of(const YamlValue& value, const Sweep& sweep, const std::string& id) {
  std::vector<std::string> ids;
  for (const Variant& variant : sweep.variants) {
    if (variant_id(variant) == id) return variant;
    ids.push_back(variant_id(variant));
  }
  fail_unknown(value, "variant", id, ids);
}

// The options in which two kernels differ; an order and its parameters are one option.
std::vector<std::string_view> changed_options(const Variant& a, const Variant& b) {
  std::vector<std::string_view> changed;
  const KernelChoice &from = a.kernel(), &to = b.kernel();
  const auto order = [](const KernelChoice& kernel) {
    return std::tie(kernel.order, kernel.order_param, kernel.order_box, kernel.order_chunk,
                    kernel.order_file);
  };
  if (from.name != to.name) changed.emplace_back("kernel");
  if (order(from) != order(to)) changed.emplace_back("order");
  if (std::tie(from.traversal, from.traversal_param) != std::tie(to.traversal, to.traversal_param))
    changed.emplace_back("traversal");
  for (const VariantOption& option : variant_fields())
    if (option.get(a) != option.get(b)) changed.push_back(option.name);
  return changed;
}

// Between programs only words can say what changed.
void expect_one_change(const YamlValue& value, const Variant& before, const Variant& after) {
  if (before.is_baseline() || after.is_baseline()) return;
  const std::vector<std::string_view> changed = changed_options(before, after);
  if (changed.size() > 1)
    value.fail(fmt::format("{} differs from {} in {}", variant_id(after), variant_id(before),
                           fmt::join(changed, " and ")),
               "a step of a chain changes one option", "put a step between them");
}

// NAME of the first step, then {NAME: what it changes}.
ChainStep parse_step(const YamlValue& value, bool first) {
  if (first) return {value.text(), ""};
  const auto entries = value.is_map() ? value.entries() : std::vector<std::pair<std::string, YamlValue>>{};
  if (entries.size() != 1)
    value.fail("a step after the first is a variant with what it changes", "",
               "- dilated/hilbert: the order is a Hilbert curve");
  std::string change = entries.front().second.text();
  const bool blank = change.find_first_not_of(' ') == std::string::npos;
  if (blank || change.size() > kLongestChange || change.find('\n') != std::string::npos)
    entries.front().second.fail("no change in words",
                                fmt::format("expects one line of at most {} bytes", kLongestChange));
  return {entries.front().first, std::move(change)};
}

void parse_steps(const YamlValue& value, Sweep& sweep) {
  constexpr std::size_t kFewest = 2, kMost = 20;
  const std::vector<YamlValue> items = value.items();
  if (items.size() < kFewest || items.size() > kMost)
    value.fail(fmt::format("a chain of {} steps", items.size()),
               fmt::format("expects {} to {}", kFewest, kMost));
  const Variant* before = nullptr;
  for (const YamlValue& item : items) {
    ChainStep step = parse_step(item, before == nullptr);
    const Variant& variant = variant_of(item, sweep, step.variant);
    for (const ChainStep& other : sweep.chain.steps)
      if (other.variant == step.variant) item.fail(fmt::format("the step {} comes twice", step.variant));
    if (before != nullptr) expect_one_change(item, *before, variant);
    before = &variant;
    sweep.chain.steps.push_back(std::move(step));
  }
  sweep.chain.end = sweep.chain.steps.size() - 1;
}

void parse_end(const YamlValue& value, Chain& chain) {
  const std::string id = value.text();
  const auto step = std::ranges::find(chain.steps, id, &ChainStep::variant);
  if (step == chain.steps.begin() || step == chain.steps.end()) {
    std::vector<std::string> ids;
    for (const ChainStep& each : std::span(chain.steps).subspan(1)) ids.push_back(each.variant);
    fail_unknown(value, "step after the first", id, ids);
  }
  chain.end = static_cast<std::size_t>(step - chain.steps.begin());
}

// One number, or one for each case in the sequence of the file; 0 where nothing was claimed.
void parse_claimed(const YamlValue& value, bool as_written, std::vector<SweepCase>& cases) {
  const std::vector<YamlValue> items = value.is_list() ? value.items() : std::vector{value};
  std::vector<double> numbers;
  for (const YamlValue& item : items)
    numbers.push_back(item.is_text("0") || item.is_text("0.0") ? 0 : item.number(0, kLargestClaim));
  if (!as_written) return;  // these are other cases
  if (numbers.size() != cases.size())
    value.fail(fmt::format("{} for {}", plural(numbers.size(), "number", "numbers"),
                           plural(cases.size(), "case", "cases")),
               "expects what was claimed of each case, in their sequence; 0: nothing");
  for (std::size_t i = 0; i < cases.size(); ++i) cases[i].claimed = numbers[i];
}

// What a chain may be of.
std::vector<std::string> quantities() {
  std::vector<std::string> names = {kOfTime, kOfMemory};
  for (const auto& [name, counter] : locality_counters({})) names.push_back(name);
  for (const CounterSet& set : counter_sets()) {
    for (const CounterEvent& event : set.events) names.push_back(event.name);
    for (const DerivedCounter& derived : set.derived) names.push_back(derived.name);
  }
  return names;
}

std::vector<std::string> parse_of(const YamlValue& value) {
  const std::vector<std::string> known = quantities();
  std::vector<std::string> of;
  for (const YamlValue& item : value.is_list() ? value.items() : std::vector{value}) {
    const std::string name = item.text();
    if (std::ranges::find(known, name) == known.end()) fail_unknown(item, "quantity", name, known);
    if (std::ranges::find(of, name) != of.end()) item.fail(fmt::format("{} comes twice", name));
    of.push_back(name);
  }
  if (of.empty()) value.fail("a chain of nothing", "expects time, memory or counters", "of: time");
  return of;
}

// The choices that `value` names, each once.
template <std::size_t size>
std::vector<std::size_t> choices_of(const YamlValue& value, const std::array<std::string_view, size>& names) {
  std::vector<std::size_t> chosen;
  for (const YamlValue& item : value.is_list() ? value.items() : std::vector{value}) {
    const std::size_t choice = item.choice(names);
    if (std::ranges::find(chosen, choice) != chosen.end())
      item.fail(fmt::format("{} comes twice", names[choice]));
    chosen.push_back(choice);
  }
  return chosen;
}

std::vector<std::int64_t> runs_of(const YamlValue& value) {
  constexpr std::int64_t kMostRuns = 1000;
  std::vector<std::int64_t> runs;
  for (const YamlValue& item : value.is_list() ? value.items() : std::vector{value}) {
    runs.push_back(item.integer(1, kMostRuns));
    if (std::ranges::count(runs, runs.back()) > 1) item.fail(fmt::format("{} comes twice", runs.back()));
  }
  return runs;
}

// The product of its lists, the last fastest. One run cannot be interleaved: it is `last`.
std::vector<Protocol> parse_protocol(const YamlValue& value) {
  static const std::vector<std::string> kKeys = {"runs", "end", "cache"};
  value.entries(kKeys);
  const auto required = [&](const char* name) {
    const auto found = value.find(name);
    if (!found)
      value.fail(fmt::format("{} missing", name), "a protocol has runs, end and cache",
                 "protocol: {runs: [1, 10], end: [first, last, interleaved], cache: [warm, cold]}");
    return *found;
  };
  std::vector<Protocol> protocols;
  const std::vector<std::int64_t> runs = runs_of(required("runs"));
  const std::vector<std::size_t> ends = choices_of(required("end"), kEndTurns),
                                 caches = choices_of(required("cache"), kCacheStates);
  for (const std::int64_t run : runs)
    for (const std::size_t end : ends)
      for (const std::size_t cache : caches) {
        const auto turn = static_cast<EndTurn>(end);
        if (run > 1 || turn != EndTurn::interleaved)
          protocols.push_back({.runs = run, .end = turn, .cache = static_cast<CacheState>(cache)});
      }
  if (protocols.empty())
    value.fail("one run of each cannot be interleaved",
               "interleaved executions take turns: expects more runs", "runs: [1, 10]");
  return protocols;
}

}  // namespace

void parse_chain(const YamlValue& value, bool as_written, Sweep& sweep) {
  static const std::vector<std::string> kKeys = {"claimed", "end", "of", "protocol", "steps"};
  const auto entries = value.entries(kKeys);
  const auto steps = value.find("steps");
  if (!steps || !steps->is_list())
    value.fail("a chain without steps", "expects a list of variants", "steps: [A, {B: what it changes}]");
  parse_steps(*steps, sweep);
  for (const auto& [name, entry] : entries) {
    if (name == "end") parse_end(entry, sweep.chain);
    if (name == "of") sweep.chain.of = parse_of(entry);
    if (name == "protocol") sweep.measure.protocols = parse_protocol(entry);
    if (name == "claimed") parse_claimed(entry, as_written, sweep.cases);
  }
  if (!sweep.measure.protocols.empty() && std::ranges::find(sweep.chain.of, kOfTime) == sweep.chain.of.end())
    value.fail("a protocol without times", "it says how the ends are timed", "of: time");
  const std::string& first = sweep.chain.steps.front().variant;
  if (sweep.reference != first)
    steps->fail(fmt::format("the reference is {}", sweep.reference),
                "a chain begins with the reference, which has a twin", fmt::format("reference: {}", first));
}

}  // namespace hilbench
