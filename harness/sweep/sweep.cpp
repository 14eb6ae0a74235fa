#include "harness/sweep/sweep.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>

#include "harness/counters/counters.hpp"
#include "harness/sweep/embedded.hpp"
#include "harness/sweep/parts.hpp"
#include "kernels/base/files/files.hpp"
#include "kernels/base/files/npy.hpp"
#include "kernels/base/text/error.hpp"
#include "kernels/base/text/text.hpp"
#include "kernels/base/text/yaml.hpp"
#include "reports/claims/claims_file.hpp"

namespace hilbench {
namespace {

namespace fs = std::filesystem;

using Entries = std::map<std::string, YamlValue>;

constexpr double kLongestSeconds = 1e7;
constexpr std::size_t kLongestSweepName = 100;

Entries entries_of(const YamlValue& map, const std::vector<std::string>& allowed) {
  Entries entries;
  for (auto& [name, value] : map.entries(allowed)) entries.emplace(name, value);
  return entries;
}

std::optional<YamlValue> entry(const Entries& entries, const std::string& name) {
  const auto at = entries.find(name);
  return at == entries.end() ? std::nullopt : std::optional<YamlValue>(at->second);
}

std::string parse_sweep_name(const YamlValue& value) {
  const std::string name = value.text();
  const bool plain = name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_-") == std::string::npos;
  if (name.empty() || name.size() > kLongestSweepName || !plain)
    value.fail(fmt::format("name '{}' cannot name a folder", one_line(name, 80)),
               "expects 1 to 100 of a-z, 0-9, _ and -");
  return name;
}

// One line, as it stands in headings and lists.
std::string parse_question(const YamlValue& value) {
  constexpr std::size_t kLongest = 300;
  std::string question = value.text();
  while (!question.empty() && question.back() == '\n') question.pop_back();  // of a folded block
  if (question.empty() || question.size() > kLongest || question.find('\n') != std::string::npos)
    value.fail("not a question of one line", fmt::format("expects 1 to {} characters", kLongest),
               "question: Does Hilbert order help my lengths?");
  return question;
}

// The rest of `measure` is parsed.
void parse_steady(const Entries& entries, Measure& measure) {
  constexpr double kShortest_s = 0.1, kLongest_s = 60;
  constexpr double kWindows = 3;  // that a sample may take: a trial, and a window that was too short
  const auto steady = entry(entries, "steady"), seconds = entry(entries, "steady_s");
  if (steady) measure.steady = steady->boolean();
  if (seconds) {
    if (!measure.steady)
      seconds->fail("only `steady: true` has it", "", "measure: {steady: true, steady_s: 2}");
    measure.steady_s = seconds->number(0, kLongest_s);
    if (measure.steady_s < kShortest_s)
      seconds->fail(fmt::format("{} is out of range", measure.steady_s),
                    fmt::format("expects {} to {} seconds", kShortest_s, kLongest_s));
  }
  if (!measure.steady) return;
  if (measure.cache == CacheState::cold)
    steady->fail("steady samples have warm caches",
                 "`cache: cold` evicts them before each execution, so executions are not back to back",
                 "leave one of the two out");
  if (measure.timeout_s < kWindows * measure.steady_s)
    steady->fail(fmt::format("a sample would count as hung after timeout_s, {} s", measure.timeout_s),
                 fmt::format("it may take {} s", kWindows * measure.steady_s));
}

Measure parse_measure(const YamlValue& value) {
  static constexpr std::string_view kCaches[] = {"warm", "cold"};
  const Entries entries =
      entries_of(value, {"interval", "budget_s", "min_rounds", "cache", "steady", "steady_s", "seed",
                         "processes", "margin", "timeout_s", "oversubscribe"});
  Measure measure;
  if (const auto v = entry(entries, "interval")) {
    measure.interval = v->number(0, 1);
    if (measure.interval == 1) v->fail("1 is out of range", "expects a number above 0 and below 1");
  }
  if (const auto v = entry(entries, "margin")) {
    measure.margin = v->number(0, 1);
    if (measure.margin == 1) v->fail("1 is out of range", "expects a number above 0 and below 1");
  }
  if (const auto v = entry(entries, "budget_s")) measure.budget_s = v->number(0, kLongestSeconds);
  if (const auto v = entry(entries, "timeout_s")) measure.timeout_s = v->number(0, kLongestSeconds);
  if (const auto v = entry(entries, "oversubscribe")) measure.oversubscribe = v->boolean();
  if (const auto v = entry(entries, "min_rounds")) measure.min_rounds = v->integer(3, 100'000);
  if (const auto v = entry(entries, "processes")) measure.processes = v->integer(1, kMaxProcesses);
  if (const auto v = entry(entries, "seed"))
    measure.seed = static_cast<std::uint64_t>(v->integer(0, std::int64_t{1} << 62));
  if (const auto v = entry(entries, "cache")) measure.cache = static_cast<CacheState>(v->choice(kCaches));
  parse_steady(entries, measure);
  return measure;
}

// Checks one tensor file against every case that will run, and returns its path.
fs::path parse_tensor(const YamlValue& value, const fs::path& folder, bool is_q,
                      const std::vector<SweepCase>& cases) {
  const fs::path file = (folder / value.text()).lexically_normal();
  const auto checked = [&](auto read) {
    try {
      return read(file);
    } catch (const UsageError& error) {
      value.fail("tensor cannot be used", error.what());
    }
  };
  // The shape is read first: the values of a file that no case can use are never read.
  const std::vector<std::int64_t> shape = checked(read_npy_shape);
  for (const SweepCase& each : cases) {
    const Case& work = each.work;
    const std::vector<std::int64_t> expected = {work.batch, work.sequence_length,
                                                is_q ? work.heads : work.kv_heads, work.head_dim};
    if (!each.skipped && shape != expected)
      value.fail("tensor of another shape",
                 fmt::format("({}) in the file, a case has [batch, sequence, heads, head_dim] ({})",
                             fmt::join(shape, ", "), fmt::join(expected, ", ")));
  }
  checked(check_npy_floats);
  return file;
}

Inputs parse_inputs(const YamlValue& value, const Sweep& sweep) {
  static constexpr std::string_view kSources[] = {"random", "npy"};
  const Entries entries = entries_of(value, {"source", "q", "k", "v", "d_o", "score_scale", "data"});
  Inputs inputs;
  if (const auto source = entry(entries, "source"))
    inputs.source = static_cast<InputSource>(source->choice(kSources));
  if (inputs.source == InputSource::random) {
    for (const char* name : {"q", "k", "v", "d_o"})
      if (const auto tensor = entry(entries, name))
        tensor->fail("only `source: npy` reads files", "",
                     "inputs: {source: npy, q: q.npy, k: k.npy, v: v.npy}");
    return inputs;
  }
  for (const char* name : {"q", "k", "v"})
    if (!entries.contains(name))
      value.fail(fmt::format("{} missing", name), "`source: npy` needs the files q, k and v");
  for (const SweepCase& each : sweep.cases)
    if (!each.skipped && (each.work.score_scale != 1 || each.work.data != DataKind::normal))
      entries.at("source").fail("the files say what the inputs are",
                                "score_scale and data are those of random inputs", "leave them out");
  const fs::path folder = fs::absolute(sweep.file).parent_path();
  inputs.q = parse_tensor(entries.at("q"), folder, true, sweep.cases);
  inputs.k = parse_tensor(entries.at("k"), folder, false, sweep.cases);
  inputs.v = parse_tensor(entries.at("v"), folder, false, sweep.cases);
  if (const auto d_o = entry(entries, "d_o")) inputs.d_o = parse_tensor(*d_o, folder, true, sweep.cases);
  return inputs;
}

std::vector<std::string> parse_counters(const YamlValue& value) {
  std::vector<std::string> known;  // sets for different kinds of device may share a name
  for (const CounterSet& set : counter_sets())
    if (std::find(known.begin(), known.end(), set.name) == known.end()) known.push_back(set.name);
  std::vector<std::string> sets;
  for (const YamlValue& item : value.is_list() ? value.items() : value.scalar_or_items()) {
    const std::string name = item.text();
    if (std::find(known.begin(), known.end(), name) == known.end())
      fail_unknown(item, "counter set", name, known);
    if (std::find(sets.begin(), sets.end(), name) == sets.end()) sets.push_back(name);
  }
  return sets;
}

std::vector<std::string> parse_claim_names(const YamlValue& value) {
  std::vector<std::string> names;
  for (const YamlValue& item : value.is_list() ? value.items() : value.scalar_or_items()) {
    const std::string name = item.text();
    if (std::find(claim_names().begin(), claim_names().end(), name) == claim_names().end())
      fail_unknown(item, "claim", name, claim_names());
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

// Ids leave out defaults. The traversal's was head_major once, the sharding's contiguous: sweeps of that time
// keep their reference.
std::string former_id(Variant variant) {
  if (variant.kernel().traversal == "head_major") variant.change().traversal = KernelChoice{}.traversal;
  if (variant.ring.sharding == Sharding::contiguous) variant.ring.sharding = Variant{}.ring.sharding;
  return variant_id(variant);
}

std::string chosen_reference(const Sweep& sweep, const std::optional<YamlValue>& value) {
  std::vector<std::string> ids;
  for (const Variant& variant : sweep.variants) ids.push_back(variant_id(variant));
  const std::string id = value ? value->text() : "dilated/linear";
  if (std::find(ids.begin(), ids.end(), id) != ids.end()) return id;
  for (const Variant& variant : sweep.variants)
    if (former_id(variant) == id) return variant_id(variant);
  if (value) fail_unknown(*value, "variant", id, ids);
  return ids.front();
}

// Another device or number of threads computes the same case.
bool changes_no_case(std::span<const AxisOverride> overrides) {
  return std::ranges::all_of(overrides, [](const AxisOverride& axis) {
    return axis.name == "device" || axis.name == "threads" || axis.name == "pages";
  });
}

Sweep parse_with(const std::string& text, const fs::path& file, const SweepOverrides& overrides,
                 MaskFiles masks) {
  const std::string place = file.string();
  const YamlNode document = parse_yaml(text, place);
  const YamlValue root(document, place, "");
  const Entries entries = entries_of(root, {"name", "title", "question", "description", "axes", "cases",
                                            "skip_when", "variants", "baselines", "external", "kernels",
                                            "reference", "claims", "chain", "measure", "counters", "inputs"});
  const std::vector<AxisOverride> axis_overrides = parse_overrides(overrides);

  Sweep sweep;
  sweep.file = file;
  sweep.text = text;
  const auto name = entry(entries, "name");
  if (!name) root.fail("name missing", "it names the result folder", "name: quick");
  sweep.name = parse_sweep_name(*name);
  if (const auto v = entry(entries, "title")) sweep.title = v->text();
  if (const auto v = entry(entries, "question")) sweep.question = parse_question(*v);
  if (const auto v = entry(entries, "description")) sweep.description = v->text();
  if (const auto v = entry(entries, "skip_when")) sweep.skip_when = Condition::parse(v->text(), v->where());
  sweep.cases =
      parse_cases({entry(entries, "axes"), entry(entries, "cases"), entry(entries, "inputs"), masks},
                  axis_overrides, root, sweep.skip_when);
  sweep.external_use = overrides.external_use;
  if (const auto v = entry(entries, "external")) sweep.externals = parse_externals(*v, file);
  if (const auto v = entry(entries, "kernels")) parse_kernels(*v, sweep);
  parse_variants({entry(entries, "axes"), entry(entries, "variants"), entry(entries, "baselines")},
                 axis_overrides, root, sweep);
  sweep.reference = chosen_reference(sweep, entry(entries, "reference"));
  if (const auto v = entry(entries, "claims")) sweep.claims = parse_claim_names(*v);
  if (const auto v = entry(entries, "measure")) sweep.measure = parse_measure(*v);
  if (const auto v = entry(entries, "chain")) parse_chain(*v, changes_no_case(axis_overrides), sweep);
  if (const auto v = entry(entries, "counters")) sweep.counters = parse_counters(*v);
  if (const auto v = entry(entries, "inputs")) sweep.inputs = parse_inputs(*v, sweep);
  return sweep;
}

}  // namespace

Sweep parse_sweep(const std::string& text, const fs::path& file, const SweepOverrides& overrides) {
  return parse_with(text, file, overrides, MaskFiles(file));
}

Sweep parse_embedded(const EmbeddedSweep& sweep, const SweepOverrides& overrides) {
  return parse_with(std::string(sweep.text), std::string(sweep.name()), overrides, MaskFiles(sweep));
}

Sweep load_sweep(const fs::path& file, const SweepOverrides& overrides) {
  return parse_sweep(read_text(file, "sweep file", kMostSweepBytes), file, overrides);
}

}  // namespace hilbench
