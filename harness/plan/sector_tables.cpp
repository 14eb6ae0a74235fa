#include "harness/plan/sector_tables.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "baselines/derived_sectors.hpp"
#include "kernels/base/text/error.hpp"
#include "kernels/case/pattern.hpp"
#include "reports/terminal/table_text.hpp"

namespace hilbench {
namespace {

SectorRow row_of(const Comparison& comparison, const PlannedVariant& planned, const Gpu& gpu) {
  SectorRow row{.case_id = comparison.case_id, .variant_id = planned.variant_id};
  const Case& work = comparison.work;
  const Implementation* implementation = streamed_implementation(work, planned.variant, gpu);
  if (Refusal reason = why_no_sectors(work, planned.variant, implementation, gpu)) {
    row.unknown = *reason;
    return row;
  }
  row.kernel = implementation->name;
  row.queries = count_work(work).covered_rows;
  try {
    row.analysis = analyse_blocks(work, planned.variant.kernel(), *implementation, gpu);
  } catch (const UsageError& error) {
    row.unknown = planned.skip.value_or(error.what());
  }
  return row;
}

std::string count_text(std::int64_t count) {
  return count == 0 ? "-" : fmt::format("{}", count);
}

std::string mib(double sectors) {
  return fmt::format("{:.4g}", sectors * static_cast<double>(kSectorBytes) / 0x1p20);
}

Table paths_table(const std::vector<SectorRow>& rows) {
  Table table{.name = "sectors", .columns = {{"case", "case"}, {"variant", "variant"}, {"kernel", "kernel"}}};
  for (std::size_t i = 0; i < kMemoryPaths; ++i) {
    const std::string path(to_string(static_cast<MemoryPath>(i)));
    table.columns.push_back({path, path, Align::right});
  }
  table.columns.push_back({"read_mib", "MiB read", Align::right});
  table.columns.push_back({"per_query", "a query", Align::right});
  table.columns.push_back({"order", "order", Align::wrapped});
  for (const SectorRow& row : rows) {
    std::vector<Cell>& cells = table.rows.emplace_back();
    cells = {{row.case_id}, {row.variant_id}, {row.kernel}};
    if (row.analysis) {
      for (const Asked& asked : row.analysis->own.of) cells.push_back({count_text(asked.sectors)});
      const auto read = static_cast<double>(row.analysis->own.read());
      cells.push_back({mib(read)});
      cells.push_back({fmt::format("{:.4g}", read / row.queries)});
      cells.push_back({row.analysis->sentence()});
    } else {
      cells.resize(table.columns.size() - 1);
      cells.push_back({"not known: " + row.unknown});
    }
  }
  return table;
}

nlohmann::json json_of(const SectorRow& row) {
  nlohmann::json json = {{"case", row.case_id}, {"variant", row.variant_id}};
  if (!row.analysis) {
    json["unknown"] = row.unknown;
    return json;
  }
  const BlockAnalysis& analysis = *row.analysis;
  json["kernel"] = row.kernel;
  for (std::size_t i = 0; i < kMemoryPaths; ++i)
    json["sectors"][std::string(to_string(static_cast<MemoryPath>(i)))] = analysis.own.of[i].sectors;
  json["load_requests"] = analysis.own.l1_loads().requests;
  json["copy_instructions"] = analysis.own.copy_instructions;
  json["queries"] = row.queries;
  json["analysis"] = {{"view", to_string(analysis.view)},
                      {"tiles", analysis.tiles},
                      {"changed_tiles", analysis.changed_tiles},
                      {"blocks", analysis.blocks},
                      {"changed_blocks", analysis.changed_blocks},
                      {"moved_tiles", analysis.moved_tiles},
                      {"shared_lines", analysis.shared_lines},
                      {"moved_queries", analysis.moved_queries},
                      {"read_ratio", analysis.read_ratio()},
                      {"most_ratio", analysis.most_ratio()},
                      {"sentence", analysis.sentence()}};
  return json;
}

}  // namespace

std::vector<SectorRow> sector_rows(const Plan& plan, const Gpu& gpu) {
  std::vector<SectorRow> rows;
  for (const Comparison& comparison : plan.comparisons)
    for (const PlannedVariant& planned : comparison.variants)
      if (!planned.twin) rows.push_back(row_of(comparison, planned, gpu));
  return rows;
}

std::string sector_table(const std::vector<SectorRow>& rows, const Gpu& gpu, const Screen& screen) {
  return fmt::format(
      "Sectors of {} bytes that one execution asks for on {} (compute capability {}), derived, not "
      "measured.\n{}"
      "tma, copies, tables, loads, stores: by boxes, by cp.async, of tables, by loads, O and LSE. order: "
      "what "
      "a cache of {}-byte lines sees, against linear order.\n",
      kSectorBytes, gpu.name, gpu.capability_text(), table_text(paths_table(rows), screen), kLineBytes);
}

std::string sector_json(const std::vector<SectorRow>& rows, const Gpu& gpu) {
  nlohmann::json json = {{"gpu", gpu.name}, {"source", "derived"}, {"rows", nlohmann::json::array()}};
  for (const SectorRow& row : rows) json["rows"].push_back(json_of(row));
  return json.dump(1) + "\n";
}

}  // namespace hilbench
