#include "reports/tables/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "reports/tables/variant_rows.hpp"
#include "reports/view/format.hpp"
#include "reports/view/pairing.hpp"

namespace hilbench {
namespace {

Cell data(std::optional<double> value) {
  return {data_text(value)};
}

std::string amortised_text(const Record& record) {
  if (!amortised_speedup(record, 1)) return "";
  return fmt::format("{} / {} / {}", number_text(*amortised_speedup(record, 1), 3),
                     number_text(*amortised_speedup(record, 10), 3),
                     number_text(*amortised_speedup(record, 100), 3));
}

template <class Get>
std::optional<double> of_time(const VariantRow& row, Get get) {
  if (!row.record->time) return std::nullopt;
  return get(*row.record->time);
}
template <class Get>
std::optional<double> of_speedup(const VariantRow& row, Get get) {
  if (!row.record->speedup) return std::nullopt;
  return get(*row.record->speedup);
}

Cell speedup_cell(const VariantRow& row) {
  const auto& speedup = row.record->speedup;
  return text_cell(speedup ? ratio_text(speedup->ratio, speedup->ci) : "");
}

Cell verdict_cell(const VariantRow& row) {
  const Record& record = *row.record;
  if (const std::string said = verdict_text(record); !said.empty())
    return text_cell(said, record.speedup ? tone_of(record.speedup->verdict) : Tone::muted);
  const bool reference = std::any_of(
      row.where->records.begin(), row.where->records.end(),
      [&](const Record* other) { return other->speedup && other->speedup->against == record.variant_id; });
  return text_cell(reference ? "reference" : "", Tone::muted);
}

Cell error_cell(const VariantRow& row) {
  const auto& verify = row.record->verify;
  if (!verify) return text_cell("");
  const RowCheck& worst = worst_check(*verify);
  return text_cell(fmt::format("{:.1e} of {:.1e}", worst_share(worst) * worst.tolerance, worst.tolerance));
}

std::vector<ColumnOf<VariantRow>> identity_columns() {
  return {{{"case", "case", Align::left, Show::data},
           [](const VariantRow& r) { return text_cell(r.record->case_id); }},
          {{"variant", "variant"}, [](const VariantRow& r) { return text_cell(r.record->variant_id); }},
          {{"speedup_text", "speedup [95 %]", Align::right, Show::page}, speedup_cell},
          {{"kernel", "kernel that ran"}, [](const VariantRow& r) { return text_cell(r.record->kernel); }}};
}

std::string joules_text(const Record& record) {
  if (!record.energy) return "";
  return record.energy->samples_j.empty() ? "unknown" : number_text(record.energy->median_j);
}

// Pages have them only if some record is steady.
std::vector<ColumnOf<VariantRow>> energy_columns(std::span<const CaseView> cases) {
  using R = const VariantRow&;
  std::vector<ColumnOf<VariantRow>> columns;
  if (any_steady(cases)) {
    columns.push_back({{"steady", "steady", Align::right, Show::page},
                       [](R r) { return text_cell(r.record->time ? steady_text(*r.record) : ""); }});
    columns.push_back({{"energy", "J per run", Align::right, Show::page},
                       [](R r) { return text_cell(joules_text(*r.record)); }});
  }
  columns.push_back({{"steady_s", "", Align::right, Show::data}, [](R r) {
                       return data(r.record->steady_s > 0 ? std::optional(r.record->steady_s) : std::nullopt);
                     }});
  columns.push_back({{"joules_per_run", "", Align::right, Show::data}, [](R r) {
                       const std::optional<Energy>& energy = r.record->energy;
                       return data(energy && !energy->samples_j.empty() ? std::optional(energy->median_j)
                                                                        : std::nullopt);
                     }});
  return columns;
}

std::vector<ColumnOf<VariantRow>> speed_columns() {
  using R = const VariantRow&;
  return {
      {{"time", "time, median [95 %]", Align::right, Show::page},
       [](R r) {
         return text_cell(r.record->time ? time_text(r.record->time->median_ns, r.record->time->ci_ns) : "");
       }},
      {{"time_ns", "", Align::right, Show::data},
       [](R r) { return data(of_time(r, [](const Timing& t) { return t.median_ns; })); }},
      {{"time_ns_low", "", Align::right, Show::data},
       [](R r) { return data(of_time(r, [](const Timing& t) { return t.ci_ns.low; })); }},
      {{"time_ns_high", "", Align::right, Show::data},
       [](R r) { return data(of_time(r, [](const Timing& t) { return t.ci_ns.high; })); }},
      {{"rounds", "", Align::right, Show::data},
       [](R r) { return data(of_time(r, [](const Timing& t) { return double(t.samples_ns.size()); })); }},
      {{"against", "", Align::left, Show::data},
       [](R r) { return text_cell(r.record->speedup ? r.record->speedup->against : ""); }},
      {{"speedup", "", Align::right, Show::data},
       [](R r) { return data(of_speedup(r, [](const Measured& s) { return s.ratio; })); }},
      {{"speedup_low", "", Align::right, Show::data},
       [](R r) { return data(of_speedup(r, [](const Measured& s) { return s.ci.low; })); }},
      {{"speedup_high", "", Align::right, Show::data},
       [](R r) { return data(of_speedup(r, [](const Measured& s) { return s.ci.high; })); }},
      {{"processes", "", Align::right, Show::data},
       [](R r) { return data(of_speedup(r, [](const Measured& s) { return double(s.processes); })); }},
      {{"margin", "", Align::right, Show::data},
       [](R r) { return data(of_speedup(r, [](const Measured& s) { return s.margin; })); }},
      {{"verdict", "verdict"}, verdict_cell},
      {{"rate", "rate", Align::right, Show::page},
       [](R r) { return text_cell(rate_of_record(*r.where, *r.record)); }},
      {{"tflops", "", Align::right, Show::data}, [](R r) { return data(r.record->tflops); }},
      {{"of_peak", "share of peak", Align::right, Show::page},
       [](R r) { return text_cell(peak_share_text(*r.where, *r.record)); }},
      {{"peak_fraction", "", Align::right, Show::data},
       [](R r) { return data(peak_fraction(*r.where, *r.record)); }},
      {{"peak_flops_per_s", "", Align::right, Show::data},
       [](R r) { return data(r.where->peak_flops_per_s); }},
  };
}

std::vector<ColumnOf<VariantRow>> cost_columns() {
  using R = const VariantRow&;
  return {
      {{"permute", "time of one permutation", Align::right, Show::page},
       [](R r) { return text_cell(r.record->permute_ns ? time_text(*r.record->permute_ns) : ""); }},
      {{"permute_ns", "", Align::right, Show::data}, [](R r) { return data(r.record->permute_ns); }},
      {{"amortised", "speedup if a permutation serves 1 / 10 / 100 uses", Align::right, Show::page},
       [](R r) { return text_cell(amortised_text(*r.record)); }},
      {{"speedup_permuted_1", "", Align::right, Show::data},
       [](R r) { return data(amortised_speedup(*r.record, 1)); }},
      {{"speedup_permuted_10", "", Align::right, Show::data},
       [](R r) { return data(amortised_speedup(*r.record, 10)); }},
      {{"speedup_permuted_100", "", Align::right, Show::data},
       [](R r) { return data(amortised_speedup(*r.record, 100)); }},
      {{"error", "largest error of what is allowed", Align::right, Show::page}, error_cell},
      {{"max_abs", "", Align::right, Show::data},
       [](R r) {
         return data(r.record->verify ? std::optional(worst_check(*r.record->verify).max_abs) : std::nullopt);
       }},
      {{"tolerance", "", Align::right, Show::data},
       [](R r) {
         return data(r.record->verify ? std::optional(worst_check(*r.record->verify).tolerance)
                                      : std::nullopt);
       }},
      {{"rows_verified", "", Align::right, Show::data},
       [](R r) {
         return data(r.record->verify ? std::optional(double(compared_rows(*r.record->verify)))
                                      : std::nullopt);
       }},
      {{"memory", "memory", Align::right, Show::page},
       [](R r) { return text_cell(r.record->memory_bytes ? bytes_text(*r.record->memory_bytes) : ""); }},
      {{"memory_bytes", "", Align::right, Show::data}, [](R r) { return data(r.record->memory_bytes); }},
      {{"reason", "", Align::left, Show::data}, [](R r) { return text_cell(r.record->reason); }},
  };
}

template <class Source>
void append(std::vector<ColumnOf<Source>>& columns, std::vector<ColumnOf<Source>> more) {
  for (auto& column : more) columns.push_back(std::move(column));
}

}  // namespace

std::optional<double> amortised_speedup(const Record& record, double uses) {
  if (!record.speedup || !record.permute_ns || !record.time) return std::nullopt;
  return record.speedup->ratio * record.time->median_ns /
         (record.time->median_ns + *record.permute_ns / uses);
}

std::optional<double> peak_fraction(const CaseView& where, const Record& record) {
  if (!record.tflops || !where.peak_flops_per_s || record.variant_id == "peak") return std::nullopt;
  return *record.tflops * 1e12 / *where.peak_flops_per_s;
}

bool is_above_peak(const CaseView& where, const Record& record) {
  constexpr double kMostOfPeak = 1.05;
  return peak_fraction(where, record).value_or(0) > kMostOfPeak;
}

std::string peak_share_text(const CaseView& where, const Record& record) {
  const std::optional<double> share = peak_fraction(where, record);
  if (!share) return "";
  return percent_text(*share) + (is_above_peak(where, record) ? " (peak measured too low)" : "");
}

std::string rate_of_record(const CaseView& where, const Record& record) {
  if (!record.tflops) return "";
  const std::string rate = rate_text(*record.tflops * 1e12);
  if (record.variant_id != "peak" || !where.peak_flops_per_s) return rate;
  const std::string judging = rate_text(*where.peak_flops_per_s);
  return judging == rate ? rate : fmt::format("{} judges; {} in these rounds", judging, rate);
}

std::string verdict_text(const Record& record) {
  if (!record.speedup)
    return record.time && foreign_processes(record) > 0 ? "withheld: another process used the GPU" : "";
  return verdict_words(record.speedup->verdict, record.speedup->processes, record.speedup->margin);
}

Table comparison_table(std::span<const CaseView> cases) {
  std::vector<ColumnOf<VariantRow>> columns = identity_columns();
  columns.push_back({{"status", "status"}, [](const VariantRow& r) {
                       return text_cell(std::string(to_string(r.record->status)), tone_of(r.record->status));
                     }});
  append(columns, speed_columns());
  append(columns, energy_columns(cases));
  append(columns, cost_columns());
  return make_table<VariantRow>("comparison", "", columns, variant_rows(cases));
}

}  // namespace hilbench
