#include "reports/tables/counters_beside_ratios.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "reports/tables/comparison.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

struct Row {
  const CaseView* where = nullptr;
  const Record* record = nullptr;
};

std::optional<double> quotient(std::optional<double> above, std::optional<double> below) {
  if (!above || !below || *below <= 0) return std::nullopt;
  return *above / *below;
}

std::optional<double> dram_bytes(const Record& record) {
  const auto read = counter_value(record, "dram_read_bytes"),
             written = counter_value(record, "dram_write_bytes");
  if (!read || !written) return std::nullopt;
  return *read + *written;
}

// A number that explains a time: its names, and how to get it from a record.
struct Explaining {
  std::string_view key, title;
  std::string_view words;  // its name in a sentence; empty: in the table only
  std::optional<double> (*of)(const Row&);
};

template <const char* name>
std::optional<double> plain(const Row& row) {
  return counter_value(*row.record, name);
}
constexpr char kL2First[] = "l2_first_hit_rate", kL2[] = "l2_read_hit_rate", kL1[] = "l1_load_hit_rate",
               kSectors[] = "l1_sectors_per_load", kTensor[] = "tensor_pipe_use",
               kLlc[] = "llc_read_hit_rate", kL1d[] = "l1d_read_hit_rate", kIpc[] = "instructions_per_cycle";

constexpr std::array<Explaining, 11> kExplaining = {{
    {"dram_of_compulsory", "DRAM bytes / compulsory bytes", "DRAM bytes per compulsory byte",
     [](const Row& row) { return quotient(dram_bytes(*row.record), row.record->min_bytes); }},
    {"dram_of_copy", "DRAM rate / copy bandwidth", "share of the copy bandwidth",
     [](const Row& row) -> std::optional<double> {
       if (!row.record->time) return std::nullopt;
       const auto per_s = quotient(dram_bytes(*row.record), row.record->time->median_ns * 1e-9);
       return quotient(per_s, row.where->copy_bytes_per_s);
     }},
    {"l2_read_hit_rate", "L2 read hit rate", "L2 read hit rate", plain<kL2>},
    {"l2_first_hit_rate", "L2 hit rate, first slice", "", plain<kL2First>},
    {"l2_reads_per_flop", "L2 read bytes per kFLOP", "L2 read bytes per kFLOP",
     [](const Row& row) -> std::optional<double> {
       const auto sectors = counter_value(*row.record, "l2_read_sectors");
       if (!sectors) return std::nullopt;
       return quotient(*sectors * 32 * 1e3, row.record->flops);
     }},
    {"l1_load_hit_rate", "L1 load hit rate", "", plain<kL1>},
    {"l1_sectors_per_load", "L1 sectors / load request", "L1 sectors per load request", plain<kSectors>},
    {"tensor_pipe_use", "tensor pipe (%)", "", plain<kTensor>},
    {"llc_read_hit_rate", "last-level hit rate", "last-level hit rate", plain<kLlc>},
    {"l1d_read_hit_rate", "L1 hit rate", "L1 hit rate", plain<kL1d>},
    {"instructions_per_cycle", "instructions / cycle", "", plain<kIpc>},
}};

bool explained(const Row& row) {
  return std::any_of(kExplaining.begin(), kExplaining.end(),
                     [&](const Explaining& figure) { return figure.of(row).has_value(); });
}

const Record* reference_of(const CaseView& of_case) {
  for (const Record* record : of_case.records)
    if (record->speedup)
      for (const Record* other : of_case.records)
        if (other->variant_id == record->speedup->against) return other;
  return nullptr;
}

// The subject of the sentence: plain hilbert, otherwise the first kernel variant with a speedup.
const Record* subject_of(const CaseView& of_case) {
  const Record* first = nullptr;
  for (const Record* record : of_case.records) {
    if (record->kind != ImplementationKind::kernel || !record->speedup) continue;
    if (record->variant_id == record->variant.name() + "/hilbert") return record;
    if (!first) first = record;
  }
  return first;
}

// The result of random order of the same kernel, the negative control.
std::string control_text(const CaseView& of_case, const Record& subject) {
  for (const Record* record : of_case.records)
    if (record->speedup && record->variant_id == subject.variant.name() + "/random")
      return fmt::format("; random order, the control: {}, {}",
                         ratio_text(record->speedup->ratio, record->speedup->ci), verdict_text(*record));
  return "; random order was not measured";
}

// The first columns: variant, speedup and DRAM traffic.
std::vector<ColumnOf<Row>> ratio_columns() {
  using R = const Row&;
  return {
      {{"case", "", Align::left, Show::data}, [](R r) { return Cell{r.record->case_id}; }},
      {{"variant", "variant"}, [](R r) { return Cell{r.record->variant_id}; }},
      {{"speedup_text", "speedup [95 %]", Align::right, Show::page},
       [](R r) {
         const auto& speedup = r.record->speedup;
         return Cell{speedup ? ratio_text(speedup->ratio, speedup->ci) : ""};
       }},
      {{"speedup", "", Align::right, Show::data},
       [](R r) {
         return Cell{data_text(r.record->speedup ? std::optional(r.record->speedup->ratio) : std::nullopt)};
       }},
      {{"dram_bytes", "DRAM bytes", Align::right, Show::page},
       [](R r) {
         const auto bytes = dram_bytes(*r.record);
         return Cell{bytes ? bytes_text(*bytes) : ""};
       }},
      {{"dram_bytes", "", Align::right, Show::data},
       [](R r) { return Cell{data_text(dram_bytes(*r.record))}; }},
  };
}

}  // namespace

std::vector<CounterFigure> counter_figures(const CaseView& where, const Record& record) {
  std::vector<CounterFigure> figures;
  for (const Explaining& figure : kExplaining)
    figures.push_back({figure.key, figure.title, figure.of({&where, &record})});
  return figures;
}

Table explained_table(std::span<const CaseView> cases) {
  std::vector<Row> rows;
  for (const CaseView& of_case : cases)
    for (const Record* record : of_case.records)
      if (const Row row{&of_case, record}; record->status == Status::ok && record->time && explained(row))
        rows.push_back(row);
  std::vector<ColumnOf<Row>> columns = ratio_columns();
  if (cases.size() > 1)
    columns.insert(columns.begin(), {{"work", "case (segment/dilation)", Align::wrapped, Show::page},
                                     [](const Row& r) { return Cell{whole_case_text(*r.where->work)}; }});
  for (const Explaining& figure : kExplaining) {
    if (std::none_of(rows.begin(), rows.end(), [&](const Row& row) { return figure.of(row).has_value(); }))
      continue;
    columns.push_back({{std::string(figure.key), std::string(figure.title), Align::right, Show::page},
                       [&figure](const Row& r) {
                         const auto value = figure.of(r);
                         return Cell{value ? number_text(*value, 3) : ""};
                       }});
    columns.push_back({{std::string(figure.key), "", Align::right, Show::data},
                       [&figure](const Row& r) { return Cell{data_text(figure.of(r))}; }});
  }
  return make_table<Row>("explained", "Counters that explain the speedups", columns, rows);
}

std::string explanation(const CaseView& of_case) {
  const Record *reference = reference_of(of_case), *subject = subject_of(of_case);
  if (!reference || !subject) return "";
  std::vector<std::string> figures;
  for (const Explaining& figure : kExplaining) {
    const auto mine = figure.of({&of_case, subject}), theirs = figure.of({&of_case, reference});
    if (figure.words.empty() || !mine || !theirs) continue;
    figures.push_back(
        fmt::format("{} {} against {}", figure.words, number_text(*mine, 3), number_text(*theirs, 3)));
  }
  if (figures.empty()) return "";
  return fmt::format("{0} against {2}: speedup {1} ({3}{4}). Counters: {5}.", subject->variant_id,
                     ratio_text(subject->speedup->ratio, subject->speedup->ci), reference->variant_id,
                     verdict_text(*subject), control_text(of_case, *subject), fmt::join(figures, "; "));
}

}  // namespace hilbench
