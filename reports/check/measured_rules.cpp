// The rules on how the records were measured.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "reports/check/rules.hpp"
#include "reports/records/student.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

Chosen chosen(const std::vector<Record>& records, const std::function<bool(const Record&)>& condition) {
  Chosen found;
  for (const Record& record : records)
    if (condition(record)) found.push_back(&record);
  return found;
}

bool is_ok(const Record& record) {
  return record.status == Status::ok;
}

std::string name_of(const Record& record) {
  return record.case_id + " " + record.variant_id;
}

// "40 records, most often: REASON"
std::string most_frequent(const Chosen& some) {
  std::map<std::string, std::size_t> counts;
  for (const Record* record : some) ++counts[record->reason];
  const auto most = std::max_element(counts.begin(), counts.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return fmt::format("{}, most often: {}", plural(some.size(), "record", "records"), most->first);
}

// Whether K and V are stored in the variant's order. boxes_wgmma leaves them where they are: then there is
// nothing that a random order could control, and no price of a permutation. Rows of a global order are made
// where they belong, which has no price either.
bool moves_rows(const Record& record) {
  return record.permute_ns || record.variant.ring.order_span == OrderSpan::global;
}

// A kernel variant whose order is judged against the reference.
bool is_judged_order(const Record& record) {
  return is_ok(record) && !record.twin && record.speedup && record.kind == ImplementationKind::kernel &&
         moves_rows(record) && record.variant.kernel().order != "linear" &&
         record.variant.kernel().order != "random";
}

bool is_control(const Record& record) {
  return is_ok(record) && record.kind == ImplementationKind::kernel &&
         (record.variant.kernel().order == "random" || record.variant.kernel().rows == KeyRows::gathered);
}

constexpr std::int64_t kFirstSchemaWithAfter = 3;

std::size_t processes_needed(const Record& record) {
  return record.work.device == DeviceKind::cuda ? kProcessesOnGpu : kProcessesOnCpu;
}

}  // namespace

std::size_t processes_of(const Record& record) {
  if (!record.time) return 0;
  const auto& rounds = record.time->process_rounds;
  return static_cast<std::size_t>(
      std::count_if(rounds.begin(), rounds.end(), [](std::int64_t count) { return count > 0; }));
}

std::string some_of(const Chosen& some, std::size_t all) {
  return fmt::format("{} of {}, the first {}", some.size(), plural(all, "record", "records"),
                     name_of(*some.front()));
}

void check_schema(const std::vector<Record>& records, CheckLines& lines) {
  const Chosen old = chosen(records, [](const Record& record) {
    return record.schema < kRecordSchema || (record.time && record.time->process_rounds.empty());
  });
  if (old.empty())
    return add_ok(lines, fmt::format("schema: {} of schema {}", plural(records.size(), "record", "records"),
                                     kRecordSchema));
  add_not_ok(lines, fmt::format("schema: {}, measured by an older version; measure again",
                                some_of(old, records.size())));
}

// Ids are made of the parameters, by which the tables and the model go. An option that a case lacks stands in
// the id of the skipped variant alone.
void check_names(const std::vector<Record>& records, CheckLines& lines) {
  const Chosen other = chosen(records, [](const Record& record) {
    if (record.status == Status::skipped) return false;
    std::string variant = variant_id(record.variant);
    if (record.twin) variant += kTwinSuffix;
    return record.case_id != case_id(record.work) || record.variant_id != variant;
  });
  if (other.empty()) return add_ok(lines, "names: those of the parameters");
  const Record& first = *other.front();
  add_not_ok(lines,
             fmt::format("names: not those of the parameters in {}, which are those of {} {}; measure again",
                         some_of(other, records.size()), case_id(first.work), variant_id(first.variant)));
}

void check_failed(const std::vector<Record>& records, CheckLines& lines) {
  const auto of_status = [&](Status status) {
    return chosen(records, [status](const Record& record) { return record.status == status; });
  };
  const Chosen failed = of_status(Status::failed);
  if (!failed.empty())
    add_not_ok(lines, fmt::format("failed: {}: {}; `run` with --retry-failed, or report the error",
                                  some_of(failed, records.size()), failed.front()->reason));
  else if (of_status(Status::ok).empty())
    add_not_ok(lines, "failed: no record is ok; measure cases that this machine can run");
  else
    add_ok(lines, "failed: no record");
  for (const Status status : {Status::invalid, Status::skipped})
    if (const Chosen some = of_status(status); !some.empty())
      add_note(lines, fmt::format("{}: {}", to_string(status), most_frequent(some)));
}

void check_verification(const std::vector<Record>& records, CheckLines& lines) {
  const Chosen outputs =
      chosen(records, [](const Record& record) { return is_ok(record) && record.verify.has_value(); });
  Chosen unverified, external, untold, once;
  for (const Record* record : outputs) {
    const Verification& verify = *record->verify;
    const std::optional<std::int64_t>& probed = verify.probed_rows;
    const bool rival = record->kind == ImplementationKind::baseline;
    const bool after = record->schema < kFirstSchemaWithAfter || (verify.after && verify.after->rows > 0);
    const bool has_probe = record->work.dropout == 0 || record->work.pass == Pass::forward;
    if (verify.before.rows <= 0 || !after || (!probed && !rival && has_probe))
      unverified.push_back(record);
    else if (!probed && has_probe)
      external.push_back(record);
    else if (probed && *probed <= 0)
      untold.push_back(record);
    if (after && verify.once) once.push_back(record);
  }
  if (unverified.empty())
    add_ok(lines, fmt::format("verification: of {}", plural(outputs.size(), "output", "outputs")));
  else
    add_not_ok(lines, fmt::format("verification: outputs or keys were not looked at in {}; measure again",
                                  some_of(unverified, records.size())));
  if (!external.empty())
    add_note(lines, fmt::format("verification: no keys were counted in external programs: {}",
                                some_of(external, records.size())));
  if (!once.empty())
    add_note(lines, fmt::format("verification: verified once, on the inputs that were timed, because the "
                                "program takes no others: {}",
                                some_of(once, records.size())));
  if (!untold.empty())
    add_note(lines,
             fmt::format("verification: rows read too many keys to show a missing or doubled one in {}",
                         some_of(untold, records.size())));
}

// It said which protocol it speaks.
bool is_program(const Record& record) {
  if (!record.environment->is_object()) return false;
  const auto library = record.environment->find("library");
  return library != record.environment->end() && library->is_object() && library->contains("protocol");
}

// Executions of a request of the program that it does not time: they go before those that it times.
double untimed_of(const Record& record) {
  if (!is_program(record)) return 0;
  const auto& library = record.environment->at("library");
  return library.contains("untimed") && library.at("untimed") == 1 ? 1 : 0;
}

// What programs report, and what passed by other clocks meanwhile.
void check_clocks(const std::vector<Record>& records, CheckLines& lines) {
  Chosen programs, unheld;
  const Record* least = nullptr;
  const auto share = [](const Record* record) {
    const Requests& requests = *record->requests;
    const bool busy = requests.busy_ns && requests.busy_reported_ns;
    const double passed = busy ? *requests.busy_ns
                               : requests.wall_ns - requests.waited_ns -
                                     static_cast<double>(requests.count) * requests.empty_ns;
    const double untimed = untimed_of(*record) * static_cast<double>(requests.count);
    const double took = requests.reported_ns *
                        (1 + untimed / static_cast<double>(std::max<std::int64_t>(requests.executions, 1)));
    return passed > 0 ? (busy ? *requests.busy_reported_ns : took) / passed : 1;
  };
  for (const Record& record : records) {
    if (is_ok(record) && !record.requests && record.schema >= kFirstSchemaWithAfter && is_program(record))
      unheld.push_back(&record);
    if (!is_ok(record) || !record.requests || record.requests->count == 0) continue;
    programs.push_back(&record);
    if (least == nullptr || share(&record) < share(least)) least = &record;
  }
  if (!unheld.empty())
    add_not_ok(lines, fmt::format("clocks: nothing is known of the requests to {}; measure again",
                                  some_of(unheld, records.size())));
  if (programs.empty()) return;
  constexpr double kLeast = 0.5;
  const std::string text =
      fmt::format("clocks: of {}; the times that {} reports are {:.0f} % of what {} in its requests",
                  plural(programs.size(), "program", "programs"), name_of(*least), 100 * share(least),
                  least->requests->busy_ns ? "its GPU was busy" : "passed");
  if (share(least) >= kLeast || (least->work.device == DeviceKind::cuda && !least->requests->busy_ns))
    return add_ok(lines, text);
  add_not_ok(lines, text + "; its clock leaves out more than half");
}

void check_twins(const std::vector<Record>& records, CheckLines& lines) {
  std::set<std::string_view> with_twin;
  for (const Record& record : records)
    // A twin may be skipped because the variants left no memory for it: nothing can be done about that.
    if (record.twin && (is_ok(record) || record.status == Status::skipped)) with_twin.insert(record.case_id);
  const Chosen references = chosen(records, [](const Record& record) {
    return is_ok(record) && !record.twin && record.reference == record.variant_id;
  });
  Chosen alone = references;
  std::erase_if(alone, [&](const Record* record) { return with_twin.count(record->case_id) > 0; });
  if (alone.empty())
    return add_ok(lines, fmt::format("twins: of {}", plural(references.size(), "reference", "references")));
  add_not_ok(lines,
             fmt::format("twins: {} of {} without one, the first {}; measure again", alone.size(),
                         plural(references.size(), "reference", "references"), name_of(*alone.front())));
}

void check_controls(const std::vector<Record>& records, CheckLines& lines) {
  using OfKernel = std::pair<std::string_view, std::string_view>;  // case, kernel
  std::set<OfKernel> controlled, judged;
  for (const Record& record : records)
    if (is_control(record)) controlled.emplace(record.case_id, record.kernel);
  Chosen without;
  for (const Record& record : records) {
    const OfKernel of_kernel = {record.case_id, record.kernel};
    if (!is_judged_order(record) || !judged.insert(of_kernel).second) continue;
    if (!controlled.contains(of_kernel)) without.push_back(&record);
  }
  if (without.empty())
    return add_ok(lines, fmt::format("controls: beside the orders of {}",
                                     plural(judged.size(), "case and kernel", "cases and kernels")));
  add_not_ok(lines,
             fmt::format("controls: {} of {} have none, the first {}; measure order random, or linear "
                         "with `rows: gathered`, beside it",
                         without.size(), plural(judged.size(), "case and kernel", "cases and kernels"),
                         name_of(*without.front())),
             "orders without a control beside them");
}

void check_processes(const std::vector<Record>& records, CheckLines& lines) {
  const Chosen few = chosen(records, [](const Record& record) {
    return is_ok(record) && processes_of(record) < processes_needed(record);
  });
  if (few.empty())
    return add_ok(lines, fmt::format("processes: {} or more on a GPU, {} or more on a processor",
                                     kProcessesOnGpu, kProcessesOnCpu));
  const Record& first = *few.front();
  add_not_ok(lines,
             fmt::format("processes: too few in {}, which has {}; `run` again with --processes {}",
                         some_of(few, records.size()), processes_of(first), processes_needed(first)),
             fmt::format("{}, where {} show how much processes differ",
                         plural(processes_of(first), "process", "processes"), processes_needed(first)));
}

// A steady sample is seconds of executions: one of them is no single round.
void check_rounds(const std::vector<Record>& records, CheckLines& lines) {
  const Chosen single = chosen(records, [](const Record& record) {
    if (!is_ok(record) || !record.time || record.steady_s > 0) return false;
    const std::vector<std::int64_t>& rounds = record.time->process_rounds;
    return std::find(rounds.begin(), rounds.end(), 1) != rounds.end();
  });
  if (single.empty()) return add_ok(lines, "rounds: 2 or more in each process");
  add_note(lines,
           fmt::format("rounds: a process has only one in {}, so one disturbed execution spoils its "
                       "time; `run` again with a larger --budget, which the processes share",
                       some_of(single, records.size())),
           "single rounds");
}

void check_injected(const std::vector<Record>& records, CheckLines& lines) {
  const Chosen some = chosen(records, [](const Record& record) { return record.injected != 0; });
  if (some.empty()) return add_ok(lines, "injected: nothing");
  add_not_ok(lines,
             fmt::format("injected: work was added to {}; results of a gate's test are no results",
                         some_of(some, records.size())),
             "injected work");
}

void check_noise(const std::vector<Record>& records, CheckLines& lines) {
  const Chosen twins =
      chosen(records, [](const Record& record) { return record.twin && record.speedup.has_value(); });
  if (twins.empty()) return add_note(lines, "noise: no twin has an interval");
  const auto excludes_1 = [](const Record* record) {
    return record->speedup->ci.low > 1 || record->speedup->ci.high < 1;
  };
  const auto outside = static_cast<std::size_t>(std::count_if(twins.begin(), twins.end(), excludes_1));
  const std::string text = fmt::format("noise: the 95 % intervals of {} of {} exclude 1", outside,
                                       plural(twins.size(), "twin", "twins"));
  if (binomial_at_least(outside, twins.size(), kTwinRate) >= kTwinAlarm) return add_ok(lines, text);
  add_not_ok(lines, text + ", more than by chance; stop other programs, fix the clocks, and measure again",
             "equal things that differ more than by chance");
}

}  // namespace hilbench
