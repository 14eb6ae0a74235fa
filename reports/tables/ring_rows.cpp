#include "reports/tables/ring_rows.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

namespace hilbench {
namespace {

// The number of devices, or of CPU threads that the ranks share.
double resources(const Record& record) {
  return static_cast<double>(record.work.device == DeviceKind::cuda
                                 ? record.work.ring_size
                                 : std::max<std::int64_t>(1, record.threads));
}

Case one_rank(Case work) {
  work.ring_size = 1;
  return work;
}

bool timed(const Record& record) {
  return record.status == Status::ok && record.time && record.time->median_ns > 0;
}

bool has_row(const Record* record) {
  return timed(*record) && record->variant_id != "peak";
}

using Records = std::vector<const Record*>;

// Among the records on one rank for which `belongs` is true: the same variant, otherwise one with the same
// order and traversal; null if there is none.
template <class Belongs>
const Record* one_rank_record(const Records& alone, const Record& ring, const Belongs& belongs) {
  const Record* found = nullptr;
  for (const Record* record : alone) {
    if (!belongs(*record) || !timed(*record) || record->kind != ring.kind || record->kernel != ring.kernel)
      continue;
    if (record->variant_id == ring.variant_id) return record;
    if (found == nullptr && one_rank_id(record->variant) == one_rank_id(ring.variant)) found = record;
  }
  return found;
}

// True if `alone` does the work of one rank of `ring`: the same pattern, or one whose segments grow with the
// sequence; the same FLOPs to within 1 %; the same threads per rank.
bool per_rank_work(const Record& ring, const Record& alone) {
  constexpr double kSameFlops = 0.01;
  if (!ring.flops || !alone.flops || *ring.flops <= 0) return false;
  const auto ranks = static_cast<double>(ring.work.ring_size);
  if (std::abs(*alone.flops * ranks / *ring.flops - 1) > kSameFlops) return false;
  if (resources(alone) * ranks != resources(ring)) return false;
  Case a = one_rank(ring.work), b = alone.work;
  if (a.pattern.size() != b.pattern.size()) return false;
  const auto length_ratio = static_cast<double>(a.sequence_length) / static_cast<double>(b.sequence_length);
  for (std::size_t i = 0; i < a.pattern.size(); ++i) {
    const Branch &of_ring = a.pattern[i], &of_one = b.pattern[i];
    const double ratio =
        static_cast<double>(of_ring.segment_length) / static_cast<double>(of_one.segment_length);
    if (of_ring.dilation != of_one.dilation || (ratio != 1 && ratio != length_ratio)) return false;
  }
  a.sequence_length = b.sequence_length, a.pattern = b.pattern, a.threads = b.threads;
  return a == b;
}

std::optional<Measured> scaled(std::optional<Measured> measured, double factor) {
  if (measured) {
    measured->ratio *= factor;
    measured->ci = {measured->ci.low * factor, measured->ci.high * factor};
  }
  return measured;
}

// `alone`: all records on one rank.
RingRow row_of(const Records& alone, const Record& record) {
  RingRow row{.record = &record};
  if (record.work.ring_size == 1 || !timed(record)) return row;
  const Record* total = one_rank_record(alone, record, [&](const Record& other) {
    return other.flops == record.flops && other.threads == record.threads &&
           other.work == one_rank(record.work);
  });
  const Record* per_rank =
      one_rank_record(alone, record, [&](const Record& other) { return per_rank_work(record, other); });
  if (total != nullptr) {
    row.speedup = unpaired_time_ratio(*total, record);
    row.efficiency = scaled(row.speedup, resources(*total) / resources(record));
  }
  if (per_rank != nullptr) row.same_per_rank = unpaired_time_ratio(*per_rank, record);
  return row;
}

// By variant in the order of the rows, then by ring size.
void sort_by_variant(std::vector<RingRow>& rows) {
  std::vector<std::string> order;  // of the variants
  for (const RingRow& row : rows)
    if (std::find(order.begin(), order.end(), row.record->variant_id) == order.end())
      order.push_back(row.record->variant_id);
  const auto place = [&](const RingRow& row) {
    return std::pair(std::find(order.begin(), order.end(), row.record->variant_id) - order.begin(),
                     row.record->work.ring_size);
  };
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const RingRow& a, const RingRow& b) { return place(a) < place(b); });
}

}  // namespace

std::vector<RingRow> ring_rows(const View& view) {
  Records alone;
  std::vector<std::string> families;  // of cases, without the ring size, that some ring computed
  std::map<std::string, std::vector<const CaseView*>> cases;
  for (const CaseView& of_case : view.cases) {
    const std::string family = case_id(one_rank(*of_case.work));
    cases[family].push_back(&of_case);
    if (of_case.work->ring_size == 1)
      alone.insert(alone.end(), of_case.records.begin(), of_case.records.end());
    else if (std::any_of(of_case.records.begin(), of_case.records.end(), has_row) &&
             std::find(families.begin(), families.end(), family) == families.end())
      families.push_back(family);
  }
  std::map<std::pair<std::string, std::string>, const PredictedRing*> predictions;
  for (const PredictedRing& one : view.predictions) predictions[{case_id(one.work), one.variant_id}] = &one;
  std::vector<RingRow> rows;
  for (const std::string& family : families) {
    std::vector<RingRow> of_family;
    for (const CaseView* of_case : cases[family])
      for (const Record* record : of_case->records)
        if (has_row(record)) of_family.push_back(row_of(alone, *record));
    sort_by_variant(of_family);
    for (RingRow& row : of_family)
      if (const auto found = predictions.find({row.record->case_id, row.record->variant_id});
          found != predictions.end())
        row.predicted = found->second;
    rows.insert(rows.end(), of_family.begin(), of_family.end());
  }
  return rows;
}

}  // namespace hilbench
