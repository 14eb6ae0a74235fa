#include "harness/run/resume.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "harness/run/environment.hpp"
#include "kernels/base/text/error.hpp"
#include "kernels/base/text/hash.hpp"
#include "kernels/base/text/json.hpp"
#include "kernels/base/text/text.hpp"

namespace hilbench {
namespace {

struct Parts {
  std::string_view settings, variants, text;  // see fingerprint(); `text` is empty if an older build wrote it
};

Parts parts_of(std::string_view fingerprint) {
  const auto cut = [&fingerprint] {
    const std::size_t end = std::min(fingerprint.find(':'), fingerprint.size());
    const std::string_view part = fingerprint.substr(0, end);
    fingerprint.remove_prefix(std::min(end + 1, fingerprint.size()));
    return part;
  };
  const std::string_view settings = cut(), variants = cut();
  return {settings, variants, fingerprint};
}

// Name, size and time of an input file. The content may be too large to be read once more.
std::string file_version(const std::filesystem::path& file) {
  if (file.empty()) return "";
  std::error_code size_error, time_error;
  const std::uintmax_t bytes = std::filesystem::file_size(file, size_error);
  const auto changed = std::filesystem::last_write_time(file, time_error);
  if (size_error || time_error)
    throw UsageError({.what = "cannot read the inputs",
                      .where = file.string(),
                      .why = (size_error ? size_error : time_error).message()});
  return fmt::format("{} {} {}", file.string(), bytes, changed.time_since_epoch().count());
}

std::string external_key(const std::string& name, const External& external) {
  return (external.kind == ImplementationKind::kernel ? "kernel " : "external ") + name;
}

// The command; of a kernel of the user also the version of each file that it names, which may be built anew.
std::string external_version(const External& external) {
  const std::string command = fmt::format("{}", fmt::join(external.command, " "));
  if (external.kind != ImplementationKind::kernel) return command;
  std::string versions;
  std::vector<std::filesystem::path> files = {external.library};
  for (const std::string& word : external.command) files.push_back(external.folder / word);
  std::error_code error;
  for (const std::filesystem::path& file : files)
    if (std::filesystem::is_regular_file(file, error)) versions += file_version(file);
  return fmt::format("{} {}{}", hash_text(versions), command, external.library.filename().string());
}

std::string hash_of(const PlannedVariant& planned) {
  const KernelChoice& kernel = planned.variant.kernel();
  return hash_text(fmt::format("{} {} {} {}{}", planned.variant_id, kernel.traversal, kernel.order_chunk,
                               kernel.order_file_hash, planned.transport));
}

// Flat, with the names that sweeps have. What is at its default and came later is left out.
nlohmann::json settings_json(const Sweep& sweep, const Comparison& comparison) {
  const Measure& measure = sweep.measure;
  nlohmann::json all = {{"case", comparison.case_id},
                        {"threads", comparison.threads},
                        {"gpu", comparison.gpu},
                        {"reference", sweep.reference},
                        {"measure.interval", measure.interval},
                        {"measure.budget_s", measure.budget_s},
                        {"measure.min_rounds", measure.min_rounds},
                        {"measure.cache", measure.cache == CacheState::cold ? "cold" : "warm"},
                        {"measure.seed", measure.seed},
                        {"measure.margin", measure.margin},
                        {"measure.timeout_s", measure.timeout_s},
                        {"counters", fmt::format("{}", fmt::join(sweep.counters, " "))},
                        {"inputs.q", file_version(sweep.inputs.q)},
                        {"inputs.k", file_version(sweep.inputs.k)},
                        {"inputs.v", file_version(sweep.inputs.v)}};
  if (measure.steady) all["measure.steady_s"] = measure.steady_s;
  if (measure.rounds_bend) all["--budget"] = true;
  if (measure.oversubscribe) all["measure.oversubscribe"] = true;
  if (!measure.protocols.empty()) {
    std::vector<std::string> protocols;
    for (const Protocol& protocol : measure.protocols) protocols.push_back(protocol_text(protocol));
    all["chain.protocol"] = fmt::format("{}", fmt::join(protocols, "; "));
    all["chain.end"] = sweep.chain.steps[sweep.chain.end].variant;
  }
  for (const auto& [name, external] : sweep.externals)
    all[external_key(name, external)] =
        fmt::format("{}{}", external_version(external),
                    sweep.external_use == ExternalUse::allowed ? "" : " (without --allow-external)");
  return all;
}

constexpr std::string_view kNotGiven = "not given";

// "measure.seed was 1 and is 2", "--budget is given now", "kernel mine has changed: libmine.so".
std::string change_of(const std::string& name, const std::string& before, const std::string& now) {
  constexpr std::size_t kHash = 16;  // digits of the version of a file, before its name
  if (before == kNotGiven && now == "true") return name + " is given now";
  if (now == kNotGiven && before == "true") return name + " is not given now";
  const bool of_file = name.starts_with("kernel ") && before.size() > kHash && now.size() > kHash &&
                       before.substr(kHash) == now.substr(kHash);
  if (of_file) return fmt::format("{} has changed:{}", name, now.substr(kHash));
  return fmt::format("{} was {} and is {}", name, before, now);
}

std::string difference(std::string_view stored, std::string_view asked) {
  constexpr std::size_t kNamed = 3;
  constexpr std::size_t kShown = 60;  // of a value
  const nlohmann::json before = nlohmann::json::parse(stored, nullptr, false);
  const nlohmann::json now = nlohmann::json::parse(asked, nullptr, false);
  if (!before.is_object() || !now.is_object()) return "measure, inputs or counters have changed since";
  const auto text = [](const nlohmann::json& of, const std::string& name) {
    const auto found = of.find(name);
    if (found == of.end() || *found == "") return std::string(kNotGiven);
    const std::string value = found->is_string() ? found->get<std::string>() : found->dump();
    return one_line(value, kShown);
  };
  std::set<std::string> names;
  for (const nlohmann::json& each : {before, now})
    for (const auto& [name, value] : each.items()) names.insert(name);
  std::erase_if(names, [&](const std::string& name) { return text(before, name) == text(now, name); });
  std::vector<std::string> said;
  for (const std::string& name : names)
    if (said.size() < kNamed)
      said.push_back(change_of(one_line(name, kShown), text(before, name), text(now, name)));
  if (names.size() > kNamed) said.push_back(fmt::format("and {} more", names.size() - kNamed));
  return said.empty() ? "measure, inputs or counters have changed since"
                      : fmt::format("{}", fmt::join(said, ", "));
}

}  // namespace

std::string fingerprint(const Sweep& sweep, const Comparison& comparison) {
  const std::string settings =
      settings_json(sweep, comparison).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  std::vector<std::string> variants;
  for (const PlannedVariant& planned : comparison.variants) variants.push_back(hash_of(planned));
  return fmt::format("{}:{}:{}", hash_text(settings), fmt::join(variants, ","), settings);
}

bool covers(std::string_view stored, std::string_view wanted) {
  const Parts there = parts_of(stored), asked = parts_of(wanted);
  if (there.settings != asked.settings) return false;
  for (std::size_t at = 0; at < asked.variants.size(); at += 17)
    if (there.variants.find(asked.variants.substr(at, 16)) == std::string_view::npos) return false;
  return true;
}

std::string maker_of(const Site& site) {
  const Identity build = build_identity(), instructions = instructions_identity(site.host.simd);
  return nlohmann::json{{"build", {{"name", build.name}, {"hash", build.hash}}},
                        {"processor", {{"name", site.host.cpu}}},
                        {"instructions", {{"name", instructions.name}}}}
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void expect_same_maker(const Store& store, const std::string& maker, const std::filesystem::path& folder) {
  const std::map<std::string, std::string> meta = store.meta();
  if (!meta.contains("sweep")) return;  // nothing was measured yet
  const auto refuse = [&](const std::string& what, const std::string& why) {
    throw UsageError(
        {.what = "the results in the folder were measured " + what,
         .where = folder.string(),
         .why = why,
         .remedy = "use --fresh to start over, -o for another folder, or --mix-builds to add to them"});
  };
  const auto stored = meta.find("maker");
  if (stored == meta.end()) refuse("by an older hilbench", "it noted no build");
  const auto before = parse_json(stored->second, "the maker in the store"), now = parse_json(maker, "it");
  for (const auto& [part, what] : {std::pair{"build", "by another build"},
                                   {"processor", "on another processor"},
                                   {"instructions", "with other instructions (HILBENCH_BF16)"}}) {
    const auto at = before.find(part);
    if (at != before.end() && *at == now.at(part)) continue;
    const bool named = at != before.end() && at->contains("name") && at->at("name").is_string();
    const std::string there = named ? at->at("name") : "an unknown one";
    const std::string here = now.at(part).at("name");
    refuse(what, there == here ? fmt::format("both are {}, but the programs differ", here)
                               : fmt::format("there {}, here {}", there, here));
  }
}

void expect_same_sweep(const Store& store, const std::string& sweep, const std::filesystem::path& folder) {
  const std::map<std::string, std::string> meta = store.meta();
  const auto stored = meta.find("sweep");
  if (stored == meta.end() || stored->second == sweep) return;
  throw UsageError({.what = "the results in the folder are of another sweep",
                    .where = folder.string(),
                    .why = fmt::format("there '{}', here '{}'", one_line(stored->second, 60), sweep),
                    .remedy = "give another folder with -o, or use --fresh to start over"});
}

std::vector<Record> stored_records(const Store& store, const Comparison& comparison) {
  std::vector<Record> records = store.records_of(comparison.case_id);
  std::erase_if(records, [&](const Record& record) {
    return std::none_of(
        comparison.variants.begin(), comparison.variants.end(),
        [&](const PlannedVariant& planned) { return planned.variant_id == record.variant_id; });
  });
  return records;
}

namespace {

bool all_skipped(const std::vector<Record>& records) {
  return std::all_of(records.begin(), records.end(),
                     [](const Record& record) { return record.status == Status::skipped; });
}

// Whether the comparison is measured again from its first process, because a variant of it has failed. Only
// a run that measures the same in as many processes may do so by itself: a commit replaces all records.
bool measured_again(const StoredComparison& stored, const std::vector<Record>& records,
                    std::string_view asked, Processes processes, Retry retry) {
  const bool failed = std::any_of(records.begin(), records.end(),
                                  [](const Record& record) { return record.status == Status::failed; });
  if (!failed) return false;
  if (retry == Retry::always) return true;
  const bool as_many =
      processes == Processes::of_sweep || (processes == Processes::one && stored.processes == 1);
  return as_many && !stored.retried && covers(asked, stored.fingerprint);
}

// How far the comparison has come, and how far this run takes it.
Standing standing_of(const StoredComparison& stored, const std::vector<Record>& records,
                     std::string_view asked, Processes processes, Retry retry) {
  if (!measured_again(stored, records, asked, processes, retry))
    return {.measured = stored.processes, .retried = stored.retried};
  return {.wanted = stored.processes, .retried = true, .replaces = stored.processes};
}

// Why the stored comparison cannot be kept or extended.
struct Mismatch {
  std::string how, why;
};
std::optional<Mismatch> find_mismatch(std::string_view stored, std::string_view asked,
                                      const Comparison& comparison, const Standing& standing,
                                      Processes processes) {
  const Parts there = parts_of(stored), now = parts_of(asked);
  if (there.settings != now.settings)
    return Mismatch{"measured with other settings", difference(there.text, now.text)};
  for (const PlannedVariant& planned : comparison.variants)
    if (there.variants.find(hash_of(planned)) == std::string_view::npos)
      return Mismatch{"without some of the variants that are asked for now",
                      fmt::format("{} is not there, or had other options; variants of a case are measured "
                                  "together, or not at all",
                                  planned.variant_id)};
  if (processes != Processes::of_sweep && standing.replaces > 1)
    return Mismatch{fmt::format("measured by {} processes", standing.replaces),
                    "this run measures one, and trying again replaces all of them"};
  if (!standing.done() && !covers(asked, stored))
    return Mismatch{"with more variants than are asked for now",
                    "a further process has to measure the same variants"};
  return std::nullopt;
}

}  // namespace

std::vector<Standing> find_standing(const Store& store, const Sweep& sweep, const Plan& plan,
                                    Processes processes, Retry retry, const std::filesystem::path& folder) {
  std::vector<Standing> standings;
  for (const Comparison& comparison : plan.comparisons) {
    std::optional<StoredComparison> stored = store.comparison(comparison.case_id);
    // Records of variants that this run leaves out count too.
    const std::vector<Record> records = store.records_of(comparison.case_id);
    if (comparison.runnable() && all_skipped(records)) stored.reset();  // the reason is gone
    const std::string asked = fingerprint(sweep, comparison);
    Standing standing = stored && comparison.runnable()
                            ? standing_of(*stored, records, asked, processes, retry)
                            : Standing{.measured = stored ? stored->processes : 0};
    if (comparison.runnable() && processes == Processes::of_sweep)
      standing.wanted = std::max({standing.wanted, standing.measured, sweep.measure.processes});
    if (comparison.runnable() && processes == Processes::one_more) standing.wanted = standing.measured + 1;
    if (stored)
      if (const std::optional<Mismatch> fault =
              find_mismatch(stored->fingerprint, asked, comparison, standing, processes))
        throw UsageError({.what = fmt::format("the store holds {} {}", comparison.case_id, fault->how),
                          .where = folder.string(),
                          .why = fault->why,
                          .remedy = "use --fresh to start over, or -o for another folder"});
    standings.push_back(standing);
  }
  return standings;
}

}  // namespace hilbench
