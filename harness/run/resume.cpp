#include "harness/run/resume.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <utility>

#include "harness/run/environment.hpp"
#include "kernels/base/text/error.hpp"
#include "kernels/base/text/hash.hpp"
#include "kernels/base/text/json.hpp"

namespace hilbench {
namespace {

std::string_view settings_of(std::string_view fingerprint) {
  return fingerprint.substr(0, fingerprint.find(':'));
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

}  // namespace

std::string fingerprint(const Sweep& sweep, const Comparison& comparison) {
  std::string text = fmt::format("{}|{}|{}", comparison.case_id, comparison.threads, comparison.gpu);
  const Measure& measure = sweep.measure;
  text += sweep.reference + "|";
  text += fmt::format("{} {} {} {} {} {} {}|", measure.interval, measure.budget_s, measure.min_rounds,
                      static_cast<int>(measure.cache), measure.seed, measure.margin, measure.timeout_s);
  if (measure.steady) text += fmt::format("steady {}|", measure.steady_s);
  if (measure.rounds_bend) text += "rounds bend|";
  if (measure.oversubscribe) text += "oversubscribe|";
  for (const std::filesystem::path& file : {sweep.inputs.q, sweep.inputs.k, sweep.inputs.v})
    text += file_version(file) + "|";
  for (const std::string& set : sweep.counters) text += set + "|";
  for (const auto& [name, external] : sweep.externals)
    text += fmt::format("{} {} {}|", name, fmt::join(external.command, " "),
                        sweep.external_use == ExternalUse::allowed);
  std::vector<std::string> variants;
  for (const PlannedVariant& planned : comparison.variants) {
    const KernelChoice& kernel = planned.variant.kernel();
    variants.push_back(hash_text(fmt::format("{} {} {} {}{}", planned.variant_id, kernel.traversal,
                                             kernel.order_chunk, kernel.order_file_hash, planned.transport)));
  }
  return fmt::format("{}:{}", hash_text(text), fmt::join(variants, ","));
}

bool covers(std::string_view stored, std::string_view wanted) {
  if (settings_of(stored) != settings_of(wanted)) return false;
  for (std::size_t at = settings_of(wanted).size() + 1; at < wanted.size(); at += 17)
    if (stored.find(wanted.substr(at, 16), settings_of(stored).size()) == std::string_view::npos)
      return false;
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
                                      const Standing& standing, Processes processes) {
  if (settings_of(stored) != settings_of(asked))
    return Mismatch{"measured with other settings", "measure, inputs or counters have changed since"};
  if (!covers(stored, asked))
    return Mismatch{"without some of the variants that are asked for now",
                    "variants of a case are measured together, or not at all"};
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
              find_mismatch(stored->fingerprint, asked, standing, processes))
        throw UsageError({.what = fmt::format("the store holds {} {}", comparison.case_id, fault->how),
                          .where = folder.string(),
                          .why = fault->why,
                          .remedy = "use --fresh to start over, or -o for another folder"});
    standings.push_back(standing);
  }
  return standings;
}

}  // namespace hilbench
