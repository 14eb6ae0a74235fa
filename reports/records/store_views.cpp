#include "reports/records/store_views.hpp"

#include <fmt/format.h>

#include <array>

namespace hilbench {
namespace {

struct View {
  const char* name;
  const char* select;
};

// `r.json` is a record without its environment, of which `e.json` has the members that records share
// (store_environment.hpp).
constexpr View kResults = {"results", R"(SELECT
  json_extract(r.json, '$.sweep') AS sweep, r.case_id, r.variant_id, r.twin,
  coalesce(json_extract(r.json, '$.asked.injected'), 0) AS injected, r.kind, r.status, r.reason,
  json_extract(r.json, '$.asked.reference') AS reference,
  json_extract(r.json, '$.params.kernel') AS kernel, json_extract(r.json, '$.params."order"') AS order_name,
  json_extract(r.json, '$.params.order_scope') AS order_scope,
  json_extract(r.json, '$.params.traversal') AS traversal,
  json_extract(r.json, '$.params.device') AS device, json_extract(r.json, '$.params.dtype') AS dtype,
  json_extract(r.json, '$.params.sequence_length') AS sequence_length,
  json_extract(r.json, '$.params.batch') AS batch, json_extract(r.json, '$.params.heads') AS heads,
  json_extract(r.json, '$.params.kv_heads') AS kv_heads, json_extract(r.json, '$.params.head_dim') AS head_dim,
  json_extract(r.json, '$.params.causal') AS causal, json_extract(r.json, '$.params.ring_size') AS ring_size,
  json_extract(r.json, '$.params.threads') AS threads,
  r.time_median_ns, json_extract(r.json, '$.time_ns.ci[0]') AS time_low_ns,
  json_extract(r.json, '$.time_ns.ci[1]') AS time_high_ns,
  json_array_length(r.json, '$.time_ns.samples') AS processes,
  json_extract(r.json, '$.time_ns.timer') AS timer, json_extract(r.json, '$.energy_j.median') AS energy_median_j,
  json_extract(r.json, '$.flops') AS flops, json_extract(r.json, '$.min_bytes') AS min_bytes,
  json_extract(r.json, '$.tflops') AS tflops, json_extract(r.json, '$.memory_bytes') AS memory_bytes,
  json_extract(r.json, '$.comm_bytes') AS comm_bytes,
  CASE WHEN json_extract(r.json, '$.verify.after.worst') > json_extract(r.json, '$.verify.worst')
    THEN json_extract(r.json, '$.verify.after.worst') ELSE json_extract(r.json, '$.verify.worst')
  END AS verify_worst,
  json_extract(e.json, '$.host.cpu') AS cpu, json_extract(e.json, '$.device.name') AS gpu_name,
  json_extract(e.json, '$.device_state.driver') AS gpu_driver,
  json_extract(e.json, '$.device_state.power_limit_w') AS gpu_power_limit_w,
  json_extract(e.json, '$.device_state.sm_mhz[0]') AS gpu_sm_mhz_least,
  json_extract(e.json, '$.device_state.sm_mhz[1]') AS gpu_sm_mhz_most,
  (SELECT value FROM meta WHERE key = 'hostname') AS hostname,
  json_extract(e.json, '$.build.commit') AS build_commit,
  json_extract(r.json, '$.environment."/time"') AS measured_at,
  json_extract(r.json, '$.params') AS params, json_extract(r.json, '$.counters') AS counters
FROM record AS r LEFT JOIN environment AS e ON e.id = r.environment_id
ORDER BY r.comparison_id, r.id)"};

constexpr View kSamples = {"samples", R"(SELECT
  r.case_id, r.variant_id, r.twin, process.key AS process, sample.key AS round, sample.value AS time_ns,
  json_extract(r.json, '$.energy_j.samples[' || process.key || '][' || sample.key || ']') AS energy_j
FROM record AS r, json_each(r.json, '$.time_ns.samples') AS process, json_each(process.value) AS sample
ORDER BY r.comparison_id, r.id, process.key, sample.key)"};

}  // namespace

bool is_store_view(std::string_view name) {
  return name == kResults.name || name == kSamples.name;
}

void make_views(SqliteConnection& db) {
  for (const View& view : {kResults, kSamples}) {
    const std::string sql = fmt::format("CREATE VIEW {} AS {}", view.name, view.select);
    const auto known = db.value(fmt::format("SELECT sql FROM sqlite_master WHERE name = '{}'", view.name));
    if (known == sql) continue;
    db.execute(fmt::format("BEGIN; DROP VIEW IF EXISTS {}; {}; COMMIT", view.name, sql));
  }
}

}  // namespace hilbench
