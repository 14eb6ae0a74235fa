#include "reports/view/judge.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "reports/records/finish_statistics.hpp"
#include "reports/records/verdicts.hpp"
#include "reports/view/margins.hpp"
#include "reports/view/pairing.hpp"

namespace hilbench {
namespace {

// A record against the reference of its case.
struct Judged {
  Record* record = nullptr;
  const Record* reference = nullptr;
  Effect effect;
  double margin = 0;
};

// The reference of each case.
std::unordered_map<std::string_view, const Record*> references_of(const std::vector<Record>& records) {
  const ReferenceNames names = reference_names(records);
  std::unordered_map<std::string_view, const Record*> references;
  for (const Record& record : records)
    if (const auto name = names.find(record.case_id);
        name != names.end() && name->second == record.variant_id && !record.twin)
      references[record.case_id] = &record;
  return references;
}

std::vector<Judged> pairs_of(std::vector<Record>& records) {
  const auto references = references_of(records);
  std::vector<Judged> pairs;
  for (Record& record : records) {
    const auto reference = references.find(record.case_id);
    if (reference == references.end() || reference->second == &record || !record.verify) continue;
    if (const auto effect = time_effect(*reference->second, record))
      pairs.push_back({&record, reference->second, *effect, record.margin});
  }
  return pairs;
}

void set_margins(std::vector<Judged>& pairs) {
  TwinDistances twins;
  for (const Judged& pair : pairs)
    if (pair.record->twin) twins.add(*pair.record, pair.reference->time->median_ns, pair.effect.centre);
  const Record* last = nullptr;  // pairs of one case follow each other and have the same noise
  std::optional<double> noise;
  for (Judged& pair : pairs) {
    if (pair.reference != last) noise = twins.noise(*pair.record, pair.reference->time->median_ns);
    last = pair.reference;
    pair.margin = std::max(pair.margin, noise.value_or(0));
  }
}

bool of_family(const Record& record) {
  return !record.twin && record.kind == ImplementationKind::kernel && !computes_other_function(record);
}

void set_speedup(const Judged& pair, Verdict verdict) {
  const Ratio ratio = ratio_of(pair.effect);
  const bool other_function =
      computes_other_function(*pair.record) || computes_other_function(*pair.reference);
  pair.record->speedup = {.ratio = ratio.value,
                          .ci = ratio.ci,
                          .processes = pair.effect.processes,
                          .verdict = other_function ? Verdict::different_function : verdict,
                          .margin = pair.margin,
                          .against = pair.reference->variant_id};
}

}  // namespace

ReferenceNames reference_names(const std::vector<Record>& records) {
  ReferenceNames names;
  for (const Record& record : records)
    if (!record.reference.empty()) names.try_emplace(record.case_id, record.reference);
  return names;
}

void judge(std::vector<Record>& records) {
  finish_statistics(records);
  for (Record& record : records) record.speedup.reset();
  std::vector<Judged> pairs = pairs_of(records);
  set_margins(pairs);
  std::vector<Effect> family;
  std::vector<double> margins;
  for (const Judged& pair : pairs)
    if (of_family(*pair.record)) family.push_back(pair.effect), margins.push_back(pair.margin);
  const std::vector<Verdict> verdicts = verdicts_of(family, margins);
  auto next = verdicts.begin();
  for (const Judged& pair : pairs)
    set_speedup(pair, of_family(*pair.record) ? *next++ : verdict_of(pair.effect, pair.margin));
}

}  // namespace hilbench
