// Rings against one rank: time, bytes and overlap by ring size, and what the ranks are worth.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "reports/tables/tables.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

struct RingRow {
  const Record* record = nullptr;
  std::optional<Measured> speedup;         // over one rank on the same work
  std::optional<Measured> efficiency;      // the same by what the ring has more of
  std::optional<Measured> same_per_rank;   // one rank on the work of one rank / the ring
  const RingForecast* forecast = nullptr;  // of this ring, where there is one
};
using R = const RingRow&;

// What a record ran on: devices, or CPU threads that its ranks share.
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

using Records = std::vector<const Record*>;

// Of records on one rank that `belongs` picks: the same variant, else one with the same order and traversal.
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

// Whether `alone` runs what one rank of `ring` runs: the same pattern, or one that reaches as far over its
// sequence, as many FLOPs to within 1 %, the same threads a rank.
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

// All ring sizes of one piece of work side by side, work that no ring computed left out.
std::vector<RingRow> ring_rows(const View& view) {
  Records alone;
  std::vector<std::string> families;  // that some ring computed, as they come
  std::map<std::string, std::vector<const CaseView*>> cases;
  for (const CaseView& of_case : view.cases) {
    const std::string family = case_id(one_rank(*of_case.work));
    cases[family].push_back(&of_case);
    if (of_case.work->ring_size == 1)
      alone.insert(alone.end(), of_case.records.begin(), of_case.records.end());
    else if (std::find(families.begin(), families.end(), family) == families.end())
      families.push_back(family);
  }
  std::map<std::pair<std::string, std::string>, const RingForecast*> forecasts;
  for (const RingForecast& one : view.forecasts) forecasts[{case_id(one.work), one.variant_id}] = &one;
  std::vector<RingRow> rows;
  for (const std::string& family : families) {
    std::vector<RingRow> of_family;
    for (const CaseView* of_case : cases[family])
      for (const Record* record : of_case->records)
        if (timed(*record) && record->variant_id != "peak") of_family.push_back(row_of(alone, *record));
    std::vector<std::string> order;  // variants as they come
    for (R row : of_family)
      if (std::find(order.begin(), order.end(), row.record->variant_id) == order.end())
        order.push_back(row.record->variant_id);
    const auto place = [&](R row) {
      return std::pair(std::find(order.begin(), order.end(), row.record->variant_id) - order.begin(),
                       row.record->work.ring_size);
    };
    std::stable_sort(of_family.begin(), of_family.end(), [&](R a, R b) { return place(a) < place(b); });
    for (RingRow& row : of_family)
      if (const auto found = forecasts.find({row.record->case_id, row.record->variant_id});
          found != forecasts.end())
        row.forecast = found->second;
    rows.insert(rows.end(), of_family.begin(), of_family.end());
  }
  return rows;
}

std::optional<double> counter_of(R row, const char* name) {
  const auto found = row.record->counters.find(name);
  return found == row.record->counters.end() ? std::nullopt : found->second.value;
}

ColumnOf<RingRow> counter_time(const char* key, const char* title, const char* counter) {
  return {{key, title, Align::right, Show::page}, [counter](R r) {
            const auto ns = counter_of(r, counter);
            return Cell{ns ? time_text(*ns) : ""};
          }};
}

void add_ratio(std::vector<ColumnOf<RingRow>>& columns, const std::string& key, const char* title,
               std::optional<Measured> RingRow::*ratio) {
  const auto data = [ratio](auto get) {
    return [ratio, get](R r) {
      return Cell{data_text(r.*ratio ? std::optional(get(*(r.*ratio))) : std::nullopt)};
    };
  };
  columns.push_back({{key + "_text", title, Align::right, Show::page}, [ratio](R r) {
                       return Cell{r.*ratio ? ratio_text((r.*ratio)->ratio, (r.*ratio)->ci) : ""};
                     }});
  columns.push_back({{key, "", Align::right, Show::data}, data([](const Measured& m) { return m.ratio; })});
  columns.push_back(
      {{key + "_low", "", Align::right, Show::data}, data([](const Measured& m) { return m.ci.low; })});
  columns.push_back(
      {{key + "_high", "", Align::right, Show::data}, data([](const Measured& m) { return m.ci.high; })});
}

void add_forecast(std::vector<ColumnOf<RingRow>>& columns) {
  const auto data = [&](const char* key, auto get) {
    columns.push_back({{key, "", Align::right, Show::data},
                       [get](R r) { return Cell{r.forecast ? data_text(get(*r.forecast)) : ""}; }});
  };
  columns.push_back({{"predicted", "predicted [95 %]", Align::right, Show::page}, [](R r) {
                       if (!r.forecast) return Cell{};
                       return Cell{time_text(r.forecast->ns, r.forecast->ci_ns) +
                                   (r.forecast->fitted ? ", fitted on this" : "")};
                     }});
  data("predicted_ns", [](const RingForecast& f) { return std::optional(f.ns); });
  data("predicted_ns_low", [](const RingForecast& f) { return std::optional(f.ci_ns.low); });
  data("predicted_ns_high", [](const RingForecast& f) { return std::optional(f.ci_ns.high); });
  data("predicted_overlap", [](const RingForecast& f) { return f.hidden; });
  columns.push_back({{"predicted_fitted", "", Align::left, Show::data},
                     [](R r) { return Cell{r.forecast ? (r.forecast->fitted ? "true" : "false") : ""}; }});
}

ColumnOf<RingRow> data_column(const char* key, std::optional<double> (*value)(R)) {
  return {{key, "", Align::right, Show::data}, [value](R r) { return Cell{data_text(value(r))}; }};
}

// What hardware counted on the links, beside what the transport says that it sent.
void add_nvlink(std::vector<ColumnOf<RingRow>>& columns) {
  columns.push_back({{"nvlink", "over NVLink", Align::right, Show::page}, [](R r) {
                       const auto bytes = counter_of(r, "nvlink_received_data_bytes");
                       return Cell{bytes ? bytes_text(*bytes) : ""};
                     }});
  columns.push_back(
      data_column("nvlink_data_bytes", [](R r) { return counter_of(r, "nvlink_received_data_bytes"); }));
  columns.push_back({{"nvlink_per_byte", "over NVLink / sent", Align::right, Show::page}, [](R r) {
                       const auto ratio = counter_of(r, "nvlink_data_per_ring_byte");
                       return Cell{ratio ? number_text(*ratio, 4) : ""};
                     }});
  columns.push_back(data_column("nvlink_data_per_ring_byte",
                                [](R r) { return counter_of(r, "nvlink_data_per_ring_byte"); }));
}

}  // namespace

std::string rings_sentence(const View& view) {
  std::map<std::int64_t, std::map<std::string, RingRow>> fastest;  // by ring size and case
  for (R row : ring_rows(view)) {
    if (!row.speedup) continue;
    RingRow& of_case = fastest[row.record->work.ring_size][row.record->case_id];
    if (of_case.record == nullptr || row.record->time->median_ns < of_case.record->time->median_ns)
      of_case = row;
  }
  std::vector<std::string> parts;
  for (const auto& [ranks, cases] : fastest) {
    std::vector<double> ratios;
    for (const auto& [name, row] : cases) ratios.push_back(row.speedup->ratio);
    const auto [low, high] = std::minmax_element(ratios.begin(), ratios.end());
    parts.push_back(fmt::format("on {} ranks {} to {} in {}", ranks, number_text(*low, 3),
                                number_text(*high, 3), plural(cases.size(), "case", "cases")));
  }
  return parts.empty() ? ""
                       : fmt::format(
                             "Time of one rank over that of the fastest ring of a case, same work, above 1 "
                             "the ring is faster: {}.",
                             fmt::join(parts, "; "));
}

Table rings_table(const View& view) {
  const std::vector<RingRow> rows = ring_rows(view);
  const bool nvlink = std::any_of(rows.begin(), rows.end(), [](R row) {
    return counter_of(row, "nvlink_received_data_bytes").has_value();
  });
  std::vector<ColumnOf<RingRow>> columns = {
      {{"work", "case (segment/dilation)", Align::left, Show::page},
       [](R r) {
         return Cell{case_text(r.record->work) + (r.record->work.mask == Mask::causal ? ", causal" : "")};
       }},
      {{"case", "", Align::left, Show::data}, [](R r) { return Cell{r.record->case_id}; }},
      {{"variant", "variant"}, [](R r) { return Cell{r.record->variant_id}; }},
      {{"ring_algorithm", "runs as"}, [](R r) { return Cell{r.record->ring_algorithm}; }},
      {{"ring_size", "ranks", Align::right},
       [](R r) { return Cell{std::to_string(r.record->work.ring_size)}; }},
      {{"time", "time, median [95 %]", Align::right, Show::page},
       [](R r) { return Cell{time_text(r.record->time->median_ns, r.record->time->ci_ns)}; }},
      data_column("time_ns", [](R r) { return std::optional(r.record->time->median_ns); }),
      data_column("time_ns_low", [](R r) { return std::optional(r.record->time->ci_ns.low); }),
      data_column("time_ns_high", [](R r) { return std::optional(r.record->time->ci_ns.high); }),
      {{"bytes", "sent", Align::right, Show::page},
       [](R r) { return Cell{r.record->comm_bytes ? bytes_text(*r.record->comm_bytes) : ""}; }},
      data_column("comm_bytes", [](R r) { return r.record->comm_bytes; }),
  };
  if (nvlink) add_nvlink(columns);
  const std::vector<ColumnOf<RingRow>> parts = {
      counter_time("compute", "computation alone", "ring_compute_ns"),
      data_column("compute_ns", [](R r) { return counter_of(r, "ring_compute_ns"); }),
      counter_time("exchange", "exchange alone", "ring_exchange_ns"),
      data_column("exchange_ns", [](R r) { return counter_of(r, "ring_exchange_ns"); }),
      {{"overlap_text", "exchange hidden", Align::right, Show::page},
       [](R r) {
         const auto share = counter_of(r, "ring_overlap");
         return Cell{share ? percent_text(*share) : ""};
       }},
      data_column("overlap", [](R r) { return counter_of(r, "ring_overlap"); }),
  };
  columns.insert(columns.end(), parts.begin(), parts.end());
  add_ratio(columns, "speedup", "over one rank, same work [95 %]", &RingRow::speedup);
  add_ratio(columns, "efficiency", "efficiency, same work [95 %]", &RingRow::efficiency);
  add_ratio(columns, "efficiency_per_rank", "efficiency, same work a rank [95 %]", &RingRow::same_per_rank);
  add_forecast(columns);
  columns.push_back({{"rank_memory", "memory of a rank", Align::right, Show::page}, [](R r) {
                       const auto bytes = counter_of(r, "ring_rank_memory");
                       return Cell{bytes ? bytes_text(*bytes) : ""};
                     }});
  columns.push_back(data_column("rank_memory_bytes", [](R r) { return counter_of(r, "ring_rank_memory"); }));
  return make_table<RingRow>("rings", "", columns, rows);
}

}  // namespace hilbench
