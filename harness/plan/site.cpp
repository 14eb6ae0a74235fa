#include "harness/plan/site.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/base/text/error.hpp"
#include "kernels/ring/transport/peer.hpp"

namespace hilbench {
namespace {

bool some_case(const Sweep& sweep, const auto& wanted) {
  return std::any_of(sweep.cases.begin(), sweep.cases.end(),
                     [&](const SweepCase& swept) { return wanted(swept.work.device); });
}

bool has_rings(const Sweep& sweep) {
  return std::any_of(sweep.cases.begin(), sweep.cases.end(),
                     [](const SweepCase& swept) { return swept.work.ring_size > 1; });
}

// For a single process: the GPU that is named, or the first.
void choose_gpu(const GpuSurvey& survey, const std::optional<int>& ordinal, bool rings, Site& site) {
  const auto index = static_cast<std::size_t>(ordinal.value_or(0));
  if (ordinal && index >= survey.gpus.size())
    throw EnvironmentError(
        {.what = fmt::format("no device cuda:{}", index),
         .where = "--device",
         .why = survey.absence.empty() ? fmt::format("GPUs here: {}", survey.gpus.size()) : survey.absence,
         .remedy = "see `hilbench list devices`"});
  if (index < survey.gpus.size()) site.gpu = survey.gpus[index];
  const bool alike = std::all_of(survey.gpus.begin(), survey.gpus.end(),
                                 [&](const Gpu& gpu) { return gpu.name == survey.gpus.front().name; });
  site.gpus = alike ? static_cast<int>(survey.gpus.size()) : 1;
  if (site.gpus < 2 || !rings) return;
  std::vector<int> ordinals;
  for (const Gpu& gpu : survey.gpus) ordinals.push_back(gpu.ordinal);
  site.unlinked = unlinked_gpus(ordinals);
}

// For a plan without a run: assumes a GPU with the memory that is named, and one GPU for each process.
void assume_gpus(const Sweep& sweep, const SiteOptions& options, Site& site) {
  const bool asked = some_case(sweep, [](DeviceKind device) { return device == DeviceKind::cuda; });
  if (!site.gpu && asked && options.memory_bytes) {
    site.gpu = Gpu{.name = "a GPU that is not here",
                   .compute_capability = 90,
                   .multiprocessors = 132,
                   .clock_ghz = 1.98,
                   .memory_bytes = *options.memory_bytes};
    site.gpu_is_assumed = true;
  }
  site.processes = options.processes;
  if (site.processes > 1 && site.gpu) site.gpus = site.processes;  // `run` will check it
}

}  // namespace

Site find_site(const Sweep& sweep, const SiteOptions& options) {
  Site site{.host = inspect_host(), .named_memory_bytes = options.memory_bytes};
  if (some_case(sweep, [](DeviceKind device) { return device != DeviceKind::cpu; })) {
    const GpuSurvey survey =
        options.planned_gpu ? GpuSurvey{.gpus = {*options.planned_gpu}, .absence = ""} : survey_gpus();
    site.gpu_absence = survey.absence;
    if (options.local_rank)
      site.gpu = gpu_of_process(survey.gpus, *options.local_rank);
    else
      choose_gpu(survey, options.gpu, has_rings(sweep), site);
  }
  site.gpu_is_assumed = options.planned_gpu && site.gpu;
  if (options.use == SiteUse::plan_only) assume_gpus(sweep, options, site);
  return site;
}

std::optional<Gpu> gpu_of_process(const std::vector<Gpu>& gpus, int local_rank) {
  if (gpus.empty()) return std::nullopt;
  return gpus[static_cast<std::size_t>(local_rank) % gpus.size()];
}

}  // namespace hilbench
