#include "harness/plan/site.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "harness/launched/agree.hpp"
#include "kernels/base/error.hpp"

namespace hilbench {
namespace {

bool wants_gpu(const Sweep& sweep) {
  const std::vector<SweepCase> cases = cases_of(sweep);
  return std::any_of(cases.begin(), cases.end(),
                     [](const SweepCase& swept) { return swept.work.device != DeviceKind::cpu; });
}

}  // namespace

Host host_for(const Sweep& sweep, const std::optional<int>& ordinal) {
  Host host = inspect_host();
  if (!wants_gpu(sweep)) return host;
  const GpuSurvey survey = survey_gpus();
  const auto index = static_cast<std::size_t>(ordinal.value_or(0));
  host.gpu_absence = survey.absence;
  if (ordinal && index >= survey.gpus.size())
    throw EnvironmentError(
        {.what = fmt::format("no device cuda:{}", index),
         .where = "--device",
         .why = survey.absence.empty() ? fmt::format("GPUs here: {}", survey.gpus.size()) : survey.absence,
         .remedy = "see `hilbench list devices`"});
  if (index < survey.gpus.size()) host.gpu = survey.gpus[index];
  const bool alike = std::all_of(survey.gpus.begin(), survey.gpus.end(),
                                 [&](const Gpu& gpu) { return gpu.name == survey.gpus.front().name; });
  host.gpus = alike ? static_cast<int>(survey.gpus.size()) : 1;
  return host;
}

Host host_for_process(const Sweep& sweep, int local_rank) {
  Host host = inspect_host();
  if (!wants_gpu(sweep)) return host;
  const GpuSurvey survey = survey_gpus();
  host.gpu_absence = survey.absence;
  host.gpu = gpu_of_process(survey.gpus, local_rank);
  return host;
}

Host planned_host(Host host, const std::optional<std::int64_t>& memory_bytes) {
  host.named_memory_bytes = memory_bytes;
  return host;
}

Host host_to_plan_for(const Sweep& sweep, const std::optional<int>& ordinal,
                      const std::optional<std::int64_t>& memory_bytes) {
  Host host = planned_host(host_for(sweep, ordinal), memory_bytes);
  const std::vector<SweepCase> cases = cases_of(sweep);
  const bool asked = std::any_of(cases.begin(), cases.end(), [](const SweepCase& swept) {
    return swept.work.device == DeviceKind::cuda;
  });
  if (host.gpu || !asked || !memory_bytes) return host;
  host.gpu = Gpu{.name = "a GPU that is not here",
                 .compute_capability = 90,
                 .multiprocessors = 132,
                 .clock_ghz = 1.98,
                 .memory_bytes = *memory_bytes};
  host.gpu_is_assumed = true;
  return host;
}

}  // namespace hilbench
