#include "harness/launched/agree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "harness/run/environment.hpp"
#include "harness/run/resume.hpp"
#include "kernels/base/text/error.hpp"
#include "kernels/base/text/hash.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

using Json = nlohmann::json;

// Returns the values of all processes. If one has none, all throw the Error of the first such process.
std::vector<Json> gather_values(LaunchedProcesses& processes, const std::function<Json()>& own) {
  Json mine;
  try {
    mine["value"] = own();
  } catch (const Error& error) {
    mine = {{"error", error.what()}, {"code", static_cast<int>(error.code())}};
  } catch (const std::exception& error) {
    mine = {{"error", error.what()}, {"code", static_cast<int>(ExitCode::environment)}};
  }
  std::vector<Json> values;
  std::vector<Json> failed;
  std::size_t first = 0;
  for (const std::string& text :
       processes.gather(mine.dump(-1, ' ', false, Json::error_handler_t::replace))) {
    Json told = Json::parse(text);
    if (told.contains("error")) {
      if (failed.empty()) first = values.size();
      failed.push_back(told);
    }
    values.push_back(told.value("value", Json()));
  }
  if (failed.empty()) return values;
  const bool alike =
      failed.size() == values.size() &&
      std::all_of(failed.begin(), failed.end(), [&](const Json& each) { return each == failed.front(); });
  throw Error(failed.front().at("code").get<ExitCode>(),
              {.what = alike ? "all ranks" : fmt::format("rank {} of {}", first, values.size()),
               .why = failed.front().at("error").get<std::string>()});
}

// Throws if the value of `key` on some rank differs from rank 0's.
void expect_alike(const std::vector<Json>& values, const char* key, const char* what, const char* remedy) {
  for (std::size_t rank = 1; rank < values.size(); ++rank)
    if (values[rank].at(key).at("hash") != values[0].at(key).at("hash"))
      throw UsageError({.what = fmt::format("rank {} of {} {} than rank 0", rank, values.size(), what),
                        .where = values[rank].at(key).at("name").get<std::string>(),
                        .why = fmt::format("rank 0 has {}", values[0].at(key).at("name").get<std::string>()),
                        .remedy = remedy});
}

Json facts_of(const Identity& identity) {
  return {{"name", identity.name}, {"hash", identity.hash}};
}

Json gpu_facts(const Site& site) {
  if (!site.gpu) return nullptr;
  return {{"name", site.gpu->name}, {"uuid", site.gpu->uuid}, {"memory", site.gpu->memory_bytes}};
}

// All processes must have the same kind of GPU.
void check_gpus(const std::vector<Json>& values) {
  for (std::size_t rank = 0; rank < values.size(); ++rank) {
    const Json &gpu = values[rank].at("gpu"), &first = values[0].at("gpu");
    const auto refuse = [&](const std::string& why) {
      throw UsageError({.what = fmt::format("rank {} of {} {}", rank, values.size(), why),
                        .remedy = "start one process for each GPU, or choose --device cpu"});
    };
    if (gpu.is_null() != first.is_null())
      refuse(gpu.is_null() ? "finds no GPU, rank 0 does" : "finds a GPU, rank 0 does not");
    if (!gpu.is_null() && gpu.at("name") != first.at("name"))
      refuse(fmt::format("has an {}, rank 0 an {}", gpu.at("name").get<std::string>(),
                         first.at("name").get<std::string>()));
  }
}

// The site that every process plans for.
Site common_site(Site own, const std::vector<Json>& values) {
  own.processes = static_cast<int>(values.size());
  std::vector<std::string> uuids;
  for (const Json& value : values)
    if (own.gpu) uuids.push_back(value.at("gpu").at("uuid"));
  count_own_gpus(uuids, own);
  for (const Json& value : values) own.hosts.push_back(value.at("host"));
  own.host.cores = values[0].at("cores");
  own.host.allowed_cores = values[0].at("allowed_cores");
  own.host.quota_cores = values[0].at("quota_cores");
  own.host.nominal_ghz = values[0].at("ghz");
  for (const Json& value : values) {
    own.host.available_memory_bytes =
        std::min(own.host.available_memory_bytes, value.at("memory").get<std::int64_t>());
    if (own.gpu)
      own.gpu->memory_bytes =
          std::min(own.gpu->memory_bytes, value.at("gpu").at("memory").get<std::int64_t>());
  }
  return own;
}

// The plan as text. Equal texts measure the same.
std::string text_of(const Sweep& sweep, const Plan& plan) {
  std::string text;
  for (const Comparison& comparison : plan.comparisons) {
    text += fingerprint(sweep, comparison) + "\n";
    for (const PlannedVariant& planned : comparison.variants)
      text += fmt::format("{} {} {} {}\n", planned.variant_id,
                          planned.implementation != nullptr ? planned.implementation->name : "",
                          planned.ring_groups, planned.skip.value_or(""));
  }
  return text;
}

void expect_one_process_each(const Sweep& sweep) {
  if (sweep.measure.processes > 1)
    throw UsageError({.what = fmt::format("measure.processes is {}", sweep.measure.processes),
                      .where = sweep.file.string(),
                      .why = "under an MPI launcher each rank is one process from start to end",
                      .remedy = "--processes 1, then repeat the run with --append-process"});
}

}  // namespace

void count_own_gpus(const std::vector<std::string>& uuids, Site& site) {
  std::map<std::string, std::size_t> ranks;  // by GPU
  for (std::size_t rank = 0; rank < uuids.size(); ++rank) {
    const auto [at, own] = ranks.emplace(uuids[rank], rank);
    if (own) continue;
    site.no_further_gpu = fmt::format("rank {} of {} has the GPU of rank {}; start one process for each GPU",
                                      rank, uuids.size(), at->second);
    break;
  }
  site.gpus = static_cast<int>(ranks.size());
}

AgreedRun agree(LaunchedProcesses& processes, const Planner& planner) {
  AgreedRun run;
  const std::vector<Json> facts = gather_values(processes, [&]() -> Json {
    run.sweep = planner.load();
    expect_one_process_each(run.sweep);
    run.site = planner.inspect(run.sweep, processes.local_rank());
    return {{"build", facts_of(build_identity())},
            {"sweep", {{"name", run.sweep.file.string()}, {"hash", hash_text(run.sweep.text)}}},
            {"instructions", facts_of(instructions_identity(run.site.host.simd))},
            {"cores", run.site.host.cores},
            {"allowed_cores", run.site.host.allowed_cores},
            {"quota_cores", run.site.host.quota_cores},
            {"ghz", run.site.host.nominal_ghz},
            {"memory", run.site.host.available_memory_bytes},
            {"host", processes.first_on_host()},
            {"gpu", gpu_facts(run.site)}};
  });
  expect_alike(facts, "build", "has another build", "start the same hilbench on all ranks");
  expect_alike(facts, "sweep", "has another sweep", "start all ranks with the same file");
  expect_alike(facts, "instructions", "computes with other instructions",
               "start all ranks on processors of one kind, with the same HILBENCH_BF16");
  check_gpus(facts);
  run.site = common_site(run.site, facts);
  const std::vector<Json> plans = gather_values(processes, [&]() -> Json {
    run.plan = planner.plan(run.sweep, run.site);
    return {{"plan",
             {{"name", plural(run.plan.comparisons.size(), "case", "cases")},
              {"hash", hash_text(text_of(run.sweep, run.plan))}}}};
  });
  expect_alike(plans, "plan", "has another plan",
               "start all ranks with the same options, environment and files");
  processes.open(run.sweep.measure.timeout_s);
  return run;
}

}  // namespace hilbench
