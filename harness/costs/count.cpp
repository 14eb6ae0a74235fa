#include "harness/costs/count.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "harness/device/callgrind.hpp"
#include "harness/run/build_info.hpp"
#include "harness/run/make_task.hpp"
#include "harness/run/stop_signal.hpp"
#include "kernels/base/files/files.hpp"
#include "kernels/base/process/answering_program.hpp"
#include "kernels/base/process/child_process.hpp"
#include "kernels/base/process/pipe.hpp"
#include "kernels/base/text/error.hpp"
#include "kernels/base/text/json.hpp"
#include "kernels/base/text/text.hpp"

namespace hilbench {
namespace {

constexpr std::size_t kMostPartBytes = std::size_t{64} << 20;

// "valgrind-3.19.0"; empty if there is none.
std::string valgrind_version() try {
  Pipe out;
  const ChildProcess valgrind({.words = {"valgrind", "--version"}, .streams = {-1, out.write_end(), -1}});
  out.close_write();
  const std::string text = read_all(out.read_end());
  return text.substr(0, text.find('\n'));
} catch (const CannotStart&) {
  return "";
}

InstructionCounter find_callgrind() {
  if (const std::string absence = callgrind_absence(); !absence.empty()) return {.absence = absence};
  const std::string version = valgrind_version();
  if (!version.starts_with("valgrind-"))
    return {.absence = "no valgrind on the PATH; install the package valgrind"};
  return {InstructionSource::callgrind, "callgrind of " + version, ""};
}

InstructionCounter find_hardware() {
  const CounterSet set = instruction_counter_set();
  const Counter counter = count(
                              set, 1, [] {}, [] {})
                              .at(set.events.front().name);
  if (!counter.value) return {.absence = counter.reason};
  return {InstructionSource::hardware, "perf event " + set.events.front().event, ""};
}

// The variants of the comparison that can be counted, with one thread. The case keeps its own number of
// threads, by which its work is cut into tiles.
ComparisonTask counted_task(const Sweep& sweep, const Comparison& comparison, const Site& site) {
  ComparisonTask task = make_task(sweep, comparison, site, {});
  std::erase_if(task.records, [&task](const Record& record) {
    // The instructions of another program are not those of the process that is counted.
    return record.twin || record.kind == ImplementationKind::baseline ||
           find_external(task.externals, record.kernel) != nullptr;
  });
  for (Record& record : task.records) record.threads = 1;
  task.reference.reset();
  task.counters.clear();
  return task;
}

// valgrind is what /proc/self/exe would be for its child.
std::filesystem::path this_program() {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error)
    throw EnvironmentError(
        {.what = "cannot find this program", .where = "/proc/self/exe", .why = error.message()});
  return program;
}

nlohmann::json ask_for_counts(const ComparisonTask& task, const InstructionCounter& counter,
                              const std::filesystem::path& parts) {
  const bool by_callgrind = counter.source == InstructionSource::callgrind;
  std::vector<std::string> command;
  if (by_callgrind) {
    for (const char* word : {"valgrind", "--tool=callgrind", "--quiet", "--instr-atstart=no"})
      command.emplace_back(word);
    command.push_back("--callgrind-out-file=" + parts.string());
  }
  command.push_back(this_program().string());
  command.push_back("count-executions");
  AnsweringProgram child(by_callgrind ? "callgrind" : "count-executions", command,
                         std::filesystem::current_path(),
                         {{"OMP_NUM_THREADS", "1"}, {"HILBENCH_BF16", "widened"}});
  const nlohmann::json request = {{"task", to_json(task)}, {"by", by_callgrind ? "callgrind" : "hardware"}};
  const double limit_s = task.measure.timeout_s * static_cast<double>(task.records.size());
  const auto watch = [&](double seconds) {
    if (stop_signal() != 0) throw Interrupted{};
    if (seconds > limit_s)
      throw EnvironmentError({.what = "counting instructions takes too long",
                              .where = task.records.front().case_id,
                              .why = fmt::format("no answer after {:g} s", limit_s),
                              .remedy = "a larger `timeout_s` under `measure`, or --instructions none"});
  };
  try {
    return parse_json(child.ask(request.dump(), watch), "the counts");
  } catch (const EnvironmentError&) {
    if (stop_signal() != 0) throw Interrupted{};  // Ctrl-C ends the child too
    throw;
  } catch (const UsageError& error) {
    throw EnvironmentError({.what = "no counts", .where = task.records.front().case_id, .why = error.what()});
  }
}

struct Counts {
  std::map<std::string, CostValue> of_variants;
  std::string instruction_set, bf16_products;
};

CostValue cost_of(const nlohmann::json& answer, const std::filesystem::path& parts) {
  if (answer.contains("instructions")) return {answer.at("instructions").get<double>(), ""};
  if (!answer.contains("part")) return {.reason = answer.value("reason", "no answer")};
  const std::string file = fmt::format("{}.{}", parts.string(), answer.at("part").get<int>());
  const std::optional<double> total = callgrind_total(read_text(file, "callgrind's output", kMostPartBytes));
  // Outside of valgrind, and if the marks do not work, nothing is counted.
  if (!total || *total == 0) return {.reason = "callgrind counted nothing"};
  return {total, ""};
}

Counts count_once(const ComparisonTask& task, const InstructionCounter& counter) {
  const TemporaryFolder folder;
  const std::filesystem::path parts = folder.path() / "part";
  const nlohmann::json answer = ask_for_counts(task, counter, parts);
  Counts counts{.instruction_set = answer.at("instruction_set"), .bf16_products = answer.at("bf16_products")};
  for (const nlohmann::json& variant : answer.at("variants"))
    counts.of_variants[variant.at("variant")] = cost_of(variant, parts);
  return counts;
}

// The largest difference of two counts of one program, as a share.
double spread(const Counts& a, const Counts& b) {
  double most = 0;
  for (const auto& [variant, cost] : a.of_variants) {
    const auto other = b.of_variants.find(variant);
    if (other == b.of_variants.end() || !cost.value || !other->second.value) continue;
    most = std::max(most, std::abs(*cost.value - *other->second.value) / *cost.value);
  }
  return most;
}

CostBasis basis_of(const InstructionCounter& counter, const Counts& counts) {
  const BuildInfo& build = build_info();
  return {{"counter", counter.version},
          {"instruction_set", counts.instruction_set},
          {"bf16_products", counts.bf16_products},
          {"compiler", std::string(build.compiler)},
          {"flags", std::string(build.flags)},
          {"sanitizers", std::string(build.sanitizers)},
          {"highway", std::string(build.highway)}};
}

void enter(CostTable& table, const std::string& case_id, const Counts& counts) {
  for (CostRow& row : table.variants)
    if (const auto found = counts.of_variants.find(row.name);
        row.group == case_id && found != counts.of_variants.end())
      row.costs[std::string(cost::kInstructions)] = found->second;
}

void give_reason(CostTable& table, const InstructionCounter& counter) {
  for (CostRow& row : table.variants) {
    CostValue& cost = row.costs[std::string(cost::kInstructions)];
    if (cost.value) continue;
    if (!row.skip.empty())
      cost.reason = row.skip;
    else if (row.needs_a_gpu)
      cost.reason = "instructions are counted on processors only";
    else if (counter.source == InstructionSource::none)
      cost.reason = counter.absence;
  }
}

}  // namespace

std::optional<double> callgrind_total(std::string_view part) {
  constexpr std::string_view kKey = "\ntotals: ";
  const std::size_t at = part.rfind(kKey);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string number(part.substr(at + kKey.size(), 20));
  char* end = nullptr;
  const double total = std::strtod(number.c_str(), &end);
  if (end == number.c_str() || (*end != '\n' && *end != '\0')) return std::nullopt;
  return total;
}

CounterSet instruction_counter_set() {
  return counter_set("instructions", kCpuTarget);
}

InstructionCounter find_instruction_counter(InstructionSource wanted) {
  if (wanted == InstructionSource::none) return {.absence = "not asked for (--instructions none)"};
  InstructionCounter found;
  if (wanted != InstructionSource::hardware) found = find_callgrind();
  if (wanted == InstructionSource::hardware) found = find_hardware();
  if (found.source != InstructionSource::none) return found;
  if (wanted != InstructionSource::automatic)
    throw EnvironmentError({.what = "instructions cannot be counted this way here",
                            .where = "--instructions",
                            .why = found.absence});
  InstructionCounter hardware = find_hardware();
  if (hardware.source == InstructionSource::none)
    hardware.absence = fmt::format("callgrind: {}; hardware: {}", found.absence, hardware.absence);
  return hardware;
}

void count_instructions(CostTable& table, const Sweep& sweep, const Plan& plan, const Site& site,
                        const InstructionCounter& counter, Repeat repeat, const CountProgress& progress) {
  table.instructions = {.absence = counter.absence, .tolerance = kCallgrindTolerance};
  for (const Comparison& comparison : plan.comparisons) {
    if (counter.source == InstructionSource::none || comparison.work.device != DeviceKind::cpu) continue;
    const ComparisonTask task = counted_task(sweep, comparison, site);
    if (task.records.empty()) continue;
    progress(comparison.case_id);
    const Counts counts = count_once(task, counter);
    if (repeat == Repeat::twice)
      table.instructions.tolerance =
          std::max(table.instructions.tolerance, 2 * spread(counts, count_once(task, counter)));
    table.instructions.taken_with = basis_of(counter, counts);
    enter(table, comparison.case_id, counts);
  }
  give_reason(table, counter);
  if (table.instructions.taken_with.empty() && table.instructions.absence.empty())
    table.instructions.absence = "no case runs on a processor";
}

}  // namespace hilbench
