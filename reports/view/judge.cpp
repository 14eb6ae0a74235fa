#include "reports/view/judge.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "reports/records/stats.hpp"

namespace hilbench {
namespace {

constexpr std::uint64_t kSeed = 1;

void judge_against(const Record& reference, Record& record) {
  const bool comparable = reference.status == Status::ok && record.status == Status::ok && reference.time &&
                          record.time && record.verify && &record != &reference &&
                          record.time->process_rounds == reference.time->process_rounds &&
                          foreign_processes(record) + foreign_processes(reference) == 0;
  if (!comparable) return;
  const auto rounds = [](const Record& of) { return Rounds{of.time->samples_ns, of.time->process_rounds}; };
  const Ratio ratio = paired_ratio(rounds(reference), rounds(record), kSeed);
  const bool other_function = record.variant.order_scope == OrderScope::tokens;
  record.speedup = {.against = reference.variant_id,
                    .ratio = ratio.value,
                    .ci = ratio.ci,
                    .processes = std::ssize(record.time->process_rounds),
                    .margin = record.margin,
                    .verdict = other_function ? Verdict::different_function : verdict_of(ratio.ci)};
}

}  // namespace

void judge(std::vector<Record>& records) {
  std::map<std::string, std::string> names;  // the reference of each case; schema 1 names it in some records
  for (const Record& record : records)
    if (!record.reference.empty()) names[record.case_id] = record.reference;
  std::map<std::string, const Record*> references;
  for (const Record& record : records)
    if (const auto name = names.find(record.case_id);
        name != names.end() && name->second == record.variant_id)
      references[record.case_id] = &record;
  for (Record& record : records) {
    record.speedup.reset();
    if (const auto found = references.find(record.case_id); found != references.end())
      judge_against(*found->second, record);
  }
}

}  // namespace hilbench
