#include "harness/commands/profile.hpp"

#include <fmt/format.h>

#include "harness/measure/bench.hpp"
#include "harness/ring/thread_ranks.hpp"
#include "harness/run/make_task.hpp"
#include "harness/worker/bench_inputs.hpp"
#include "harness/worker/make_variant.hpp"
#include "kernels/base/process/nvtx.hpp"
#include "kernels/base/text/error.hpp"

namespace hilbench {
namespace {

void profile_once(const ComparisonTask& task, const Record& record) {
  Bench bench(task, thread_rings());
  ComparisonPrograms programs(task);
  set_inputs(bench, programs);
  const std::unique_ptr<PreparedVariant> prepared = make_variant(bench, record, programs);
  prepared->run();
  bench.device->synchronize();
  const NvtxRange in_case(record.case_id), in_variant(record.variant_id), in_phase("profile");
  bench.device->profile([&] { prepared->run(); });
}

}  // namespace

std::string profile_variant(const Sweep& sweep, const Plan& plan, const Site& site,
                            const std::string& variant_id) {
  std::string skip;
  bool no_gpu = false;
  for (const Comparison& comparison : plan.comparisons) {
    for (const PlannedVariant& planned : comparison.variants) {
      if (planned.variant_id != variant_id) continue;
      if (planned.skip) {
        skip = *planned.skip;
        no_gpu = no_gpu || (comparison.work.device == DeviceKind::cuda && !site.gpu);
        continue;
      }
      const ComparisonTask task = make_task(sweep, comparison, site, {});
      for (const Record& record : task.records)
        if (record.variant_id == variant_id) profile_once(task, record);
      return comparison.case_id;
    }
  }
  if (no_gpu)
    throw EnvironmentError(
        {.what = fmt::format("no GPU to run '{}' on", variant_id), .where = "--profile", .why = skip});
  throw UsageError({.what = fmt::format("no case runs the variant '{}'", variant_id),
                    .where = "--profile",
                    .why = skip,
                    .remedy = "`hilbench plan` lists cases and variants"});
}

}  // namespace hilbench
