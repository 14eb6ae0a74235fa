#include "harness/plan/sector_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "baselines/derived_sectors.hpp"
#include "harness/plan/window_plan.hpp"
#include "kernels/base/text/error.hpp"
#include "kernels/case/pattern.hpp"
#include "reports/terminal/table_text.hpp"

namespace hilbench {
namespace {

SectorRow row_of(const Comparison& comparison, const PlannedVariant& planned, const Gpu* gpu,
                 BlockAnalyser& analyser) {
  SectorRow row{.case_id = comparison.case_id, .variant_id = planned.variant_id};
  const Case& work = comparison.work;
  row.device = work.device;
  const StreamDevice device = work.device == DeviceKind::cuda
                                  ? stream_device(*gpu)
                                  : StreamDevice{.multiprocessors = comparison.threads};
  const Implementation* implementation = streamed_implementation(work, planned.variant, device);
  if (Refusal reason = why_no_sectors(work, planned.variant, implementation, device)) {
    row.unknown = *reason;
    return row;
  }
  row.kernel = implementation->name;
  row.queries = count_work(work).covered_rows;
  try {
    KernelChoice choice = computed_choice(planned);
    if (planned.key_tiles == KeyTiles::automatic)  // the plan did not come so far
      if (const auto tiles = counted_tiles(work, choice, *implementation)) choice.tiles = tiles->kind;
    row.analysis = analyser.analyse(work, choice, *implementation, device);
  } catch (const UsageError& error) {
    row.unknown = planned.skip.value_or(error.what());
  }
  return row;
}

std::string count_text(std::int64_t count) {
  return count == 0 ? "-" : fmt::format("{}", count);
}

std::string mib(double count, const StreamUnit& unit) {
  return fmt::format("{:.4g}", count * static_cast<double>(unit.bytes) / 0x1p20);
}

Table paths_table(const std::vector<SectorRow>& rows, DeviceKind device) {
  Table table{.name = "sectors", .columns = {{"case", "case"}, {"variant", "variant"}, {"kernel", "kernel"}}};
  std::vector<MemoryPath> paths;
  for (std::size_t i = 0; i < kMemoryPaths; ++i) paths.push_back(static_cast<MemoryPath>(i));
  if (device == DeviceKind::cpu)
    paths = {MemoryPath::tables, MemoryPath::loads, MemoryPath::stores, MemoryPath::clears};
  for (const MemoryPath each : paths) {
    const std::string path(to_string(each));
    table.columns.push_back({path, path, Align::right});
  }
  table.columns.push_back({"read_mib", "MiB read", Align::right});
  table.columns.push_back({"per_query", "a query", Align::right});
  table.columns.push_back({"order", "order", Align::wrapped});
  for (const SectorRow& row : rows) {
    if (row.device != device) continue;
    std::vector<Cell>& cells = table.rows.emplace_back();
    cells = {{row.case_id}, {row.variant_id}, {row.kernel}};
    if (row.analysis) {
      for (const MemoryPath path : paths) cells.push_back({count_text(row.analysis->own[path].sectors)});
      const auto read = static_cast<double>(row.analysis->own.read());
      cells.push_back({mib(read, row.analysis->unit)});
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
  json["unit_bytes"] = analysis.unit.bytes;
  for (std::size_t i = 0; i < kMemoryPaths; ++i)
    json["sectors"][std::string(to_string(static_cast<MemoryPath>(i)))] = analysis.own.of[i].sectors;
  json["load_requests"] = analysis.own.l1_loads().requests;
  json["copy_instructions"] = analysis.own.copy_instructions;
  json["store_requests"] = analysis.own.l1_stores().requests;
  json["tma_store_sectors"] = analysis.own.tma_stores.sectors;
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

std::vector<SectorRow> sector_rows(const Plan& plan, const Gpu* gpu) {
  std::vector<SectorRow> rows;
  BlockAnalyser analyser;
  for (const Comparison& comparison : plan.comparisons)
    for (const PlannedVariant& planned : comparison.variants)
      if (!planned.twin) rows.push_back(row_of(comparison, planned, gpu, analyser));
  return rows;
}

std::string sector_table(const std::vector<SectorRow>& rows, const Gpu* gpu, const Screen& screen) {
  const auto any = [&](DeviceKind device) {
    return std::any_of(rows.begin(), rows.end(), [&](const SectorRow& row) { return row.device == device; });
  };
  std::string text;
  if (any(DeviceKind::cuda))
    text += fmt::format(
        "Sectors of {} bytes that one execution asks for on {} (compute capability {}), derived, not "
        "measured.\n{}"
        "tma, copies, tables, loads, stores, clears: by boxes, by cp.async, of tables, by loads, O and LSE, "
        "those of rows without a query. order: what a cache of {}-byte lines sees, against linear order.\n",
        kSectorBytes, gpu->name, gpu->capability_text(),
        table_text(paths_table(rows, DeviceKind::cuda), screen), StreamUnit().line_bytes);
  if (any(DeviceKind::cpu))
    text += fmt::format(
        "Lines of 64 bytes that one execution asks for on the processors here, derived, not measured.\n{}"
        "tables, loads, stores, clears: of tables, rows of Q, K and V, O and LSE, those of rows without a "
        "query. order: what a cache sees, against linear order.\n",
        table_text(paths_table(rows, DeviceKind::cpu), screen));
  return text;
}

std::string sector_json(const std::vector<SectorRow>& rows, const Gpu* gpu) {
  nlohmann::json json = {{"source", "derived"}, {"rows", nlohmann::json::array()}};
  if (gpu != nullptr) json["gpu"] = gpu->name;
  for (const SectorRow& row : rows) json["rows"].push_back(json_of(row));
  return json.dump(1) + "\n";
}

}  // namespace hilbench
