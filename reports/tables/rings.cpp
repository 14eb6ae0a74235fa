#include "reports/tables/rings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "reports/tables/ring_rows.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

std::optional<double> counter_of(const RingRow& row, const char* name) {
  return counter_value(*row.record, name);
}

ColumnOf<RingRow> counter_time(const char* key, const char* title, const char* counter) {
  return {{key, title, Align::right, Show::page}, [counter](const RingRow& r) {
            const auto ns = counter_of(r, counter);
            return Cell{ns ? time_text(*ns) : ""};
          }};
}

void add_ratio(std::vector<ColumnOf<RingRow>>& columns, const std::string& key, const char* title,
               std::optional<Measured> RingRow::*ratio) {
  const auto data = [ratio](auto get) {
    return [ratio, get](const RingRow& r) {
      return Cell{data_text(r.*ratio ? std::optional(get(*(r.*ratio))) : std::nullopt)};
    };
  };
  columns.push_back({{key + "_text", title, Align::right, Show::page}, [ratio](const RingRow& r) {
                       return Cell{r.*ratio ? ratio_text((r.*ratio)->ratio, (r.*ratio)->ci) : ""};
                     }});
  columns.push_back({{key, "", Align::right, Show::data}, data([](const Measured& m) { return m.ratio; })});
  columns.push_back(
      {{key + "_low", "", Align::right, Show::data}, data([](const Measured& m) { return m.ci.low; })});
  columns.push_back(
      {{key + "_high", "", Align::right, Show::data}, data([](const Measured& m) { return m.ci.high; })});
}

void add_prediction(std::vector<ColumnOf<RingRow>>& columns) {
  const auto data = [&](const char* key, auto get) {
    columns.push_back({{key, "", Align::right, Show::data}, [get](const RingRow& r) {
                         return Cell{r.predicted ? data_text(get(*r.predicted)) : ""};
                       }});
  };
  columns.push_back({{"predicted", "predicted [95 %]", Align::right, Show::page}, [](const RingRow& r) {
                       if (!r.predicted) return Cell{};
                       return Cell{time_text(r.predicted->ns, r.predicted->ci_ns) +
                                   (r.predicted->fitted ? " (model fitted on it)" : "")};
                     }});
  data("predicted_ns", [](const PredictedRing& f) { return std::optional(f.ns); });
  data("predicted_ns_low", [](const PredictedRing& f) { return std::optional(f.ci_ns.low); });
  data("predicted_ns_high", [](const PredictedRing& f) { return std::optional(f.ci_ns.high); });
  data("predicted_overlap", [](const PredictedRing& f) { return f.hidden; });
  columns.push_back({{"predicted_fitted", "", Align::left, Show::data}, [](const RingRow& r) {
                       return Cell{r.predicted ? (r.predicted->fitted ? "true" : "false") : ""};
                     }});
}

ColumnOf<RingRow> data_column(const char* key, std::optional<double> (*value)(const RingRow&)) {
  return {{key, "", Align::right, Show::data},
          [value](const RingRow& r) { return Cell{data_text(value(r))}; }};
}

// Bytes that the links counted, and their ratio to what the transport sent.
void add_nvlink(std::vector<ColumnOf<RingRow>>& columns) {
  columns.push_back({{"nvlink", "over NVLink", Align::right, Show::page}, [](const RingRow& r) {
                       const auto bytes = counter_of(r, "nvlink_received_data_bytes");
                       return Cell{bytes ? bytes_text(*bytes) : ""};
                     }});
  columns.push_back(data_column(
      "nvlink_data_bytes", [](const RingRow& r) { return counter_of(r, "nvlink_received_data_bytes"); }));
  columns.push_back(
      {{"nvlink_per_byte", "over NVLink / bytes sent", Align::right, Show::page}, [](const RingRow& r) {
         const auto ratio = counter_of(r, "nvlink_data_per_ring_byte");
         return Cell{ratio ? number_text(*ratio, 4) : ""};
       }});
  columns.push_back(data_column("nvlink_data_per_ring_byte",
                                [](const RingRow& r) { return counter_of(r, "nvlink_data_per_ring_byte"); }));
}

bool emulated_link(const Record& record) {
  return record.variant.ring.outer_link == OuterLink::emulated_host;
}

// What the link between groups is, and what a rank sends over it.
void add_links(std::vector<ColumnOf<RingRow>>& columns) {
  columns.push_back({{"outer_link", "link between groups", Align::right}, [](const RingRow& r) {
                       const auto rate = counter_of(r, "ring_link_between");
                       const std::string text = rate ? number_text(*rate, 3) + " GB/s" : "";
                       if (!emulated_link(*r.record)) return Cell{text};
                       return Cell{text.empty() ? "emulated" : "emulated, " + text};
                     }});
  columns.push_back(data_column("link_between_gb_per_s",
                                [](const RingRow& r) { return counter_of(r, "ring_link_between"); }));
  columns.push_back(data_column("link_inside_gb_per_s",
                                [](const RingRow& r) { return counter_of(r, "ring_link_inside"); }));
}

// The ring, its time, and the bytes that it sent.
std::vector<ColumnOf<RingRow>> time_columns() {
  return {
      {{"work", "case (segment/dilation)", Align::left, Show::page},
       [](const RingRow& r) { return Cell{whole_case_text(r.record->work)}; }},
      {{"case", "", Align::left, Show::data}, [](const RingRow& r) { return Cell{r.record->case_id}; }},
      {{"variant", "variant"}, [](const RingRow& r) { return Cell{r.record->variant_id}; }},
      {{"ring_algorithm", "algorithm"}, [](const RingRow& r) { return Cell{r.record->ring_algorithm}; }},
      {{"ring_size", "ranks", Align::right},
       [](const RingRow& r) { return Cell{std::to_string(r.record->work.ring_size)}; }},
      {{"time", "time, median [95 %]", Align::right, Show::page},
       [](const RingRow& r) { return Cell{time_text(r.record->time->median_ns, r.record->time->ci_ns)}; }},
      data_column("time_ns", [](const RingRow& r) { return std::optional(r.record->time->median_ns); }),
      data_column("time_ns_low", [](const RingRow& r) { return std::optional(r.record->time->ci_ns.low); }),
      data_column("time_ns_high", [](const RingRow& r) { return std::optional(r.record->time->ci_ns.high); }),
      {{"bytes", "bytes sent", Align::right, Show::page},
       [](const RingRow& r) { return Cell{r.record->comm_bytes ? bytes_text(*r.record->comm_bytes) : ""}; }},
      data_column("comm_bytes", [](const RingRow& r) { return r.record->comm_bytes; }),
      data_column("comm_bytes_between", [](const RingRow& r) { return r.record->comm_bytes_between; }),
  };
}

// Computation and exchange, each alone, and the hidden share of the exchange.
void add_parts(std::vector<ColumnOf<RingRow>>& columns) {
  const std::vector<ColumnOf<RingRow>> parts = {
      counter_time("compute", "computation alone", "ring_compute_ns"),
      data_column("compute_ns", [](const RingRow& r) { return counter_of(r, "ring_compute_ns"); }),
      counter_time("exchange", "exchange alone", "ring_exchange_ns"),
      data_column("exchange_ns", [](const RingRow& r) { return counter_of(r, "ring_exchange_ns"); }),
      {{"overlap_text", "share of exchange hidden", Align::right, Show::page},
       [](const RingRow& r) {
         const auto share = counter_of(r, "ring_overlap");
         return Cell{share ? percent_text(*share) : ""};
       }},
      data_column("overlap", [](const RingRow& r) { return counter_of(r, "ring_overlap"); }),
  };
  columns.insert(columns.end(), parts.begin(), parts.end());
}

void add_memory(std::vector<ColumnOf<RingRow>>& columns) {
  columns.push_back({{"rank_memory", "memory per rank", Align::right, Show::page}, [](const RingRow& r) {
                       const auto bytes = counter_of(r, "ring_rank_memory");
                       return Cell{bytes ? bytes_text(*bytes) : ""};
                     }});
  columns.push_back(
      data_column("rank_memory_bytes", [](const RingRow& r) { return counter_of(r, "ring_rank_memory"); }));
}

}  // namespace

std::string rings_sentence(const View& view) {
  std::map<std::int64_t, std::map<std::string, RingRow>> fastest;  // by ring size and case
  for (const RingRow& row : ring_rows(view)) {
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
                             "Time of one rank / time of the fastest ring on the same work (above 1, the "
                             "ring is faster): {}.",
                             fmt::join(parts, "; "));
}

Table rings_table(const View& view) {
  const std::vector<RingRow> rows = ring_rows(view);
  const bool nvlink = std::any_of(rows.begin(), rows.end(), [](const RingRow& row) {
    return counter_of(row, "nvlink_received_data_bytes").has_value();
  });
  std::vector<ColumnOf<RingRow>> columns = time_columns();
  if (nvlink) add_nvlink(columns);
  if (std::any_of(rows.begin(), rows.end(), [](const RingRow& row) { return emulated_link(*row.record); }))
    add_links(columns);
  add_parts(columns);
  add_ratio(columns, "speedup", "speedup over one rank, same work [95 %]", &RingRow::speedup);
  add_ratio(columns, "efficiency", "efficiency, same work [95 %]", &RingRow::efficiency);
  add_ratio(columns, "efficiency_per_rank", "efficiency, same work per rank [95 %]", &RingRow::same_per_rank);
  add_prediction(columns);
  add_memory(columns);
  return make_table<RingRow>("rings", "", columns, rows);
}

Table rings_page_table(const View& view) {
  Table table = rings_table(view);
  for (std::size_t i = 0; i < table.columns.size(); ++i)
    if (std::all_of(table.rows.begin(), table.rows.end(),
                    [i](const auto& row) { return row[i].text.empty(); }))
      table.columns[i].show = Show::data;
  return table;
}

}  // namespace hilbench
