#include "harness/external/comparison_programs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/external/kernel_layout.hpp"
#include "kernels/machine/gpu.hpp"

namespace hilbench {
namespace {

// UUIDs of the GPUs that a program may see. They are the task's GPU and, for a ring, the next GPUs of this
// machine, at most one for each rank. Empty for a case on the CPU, and if there is no such GPU.
std::vector<std::string> gpus_of(const ComparisonTask& task) {
  const Case& work = task.records.front().work;
  if (work.device != DeviceKind::cuda) return {};
  std::vector<std::string> uuids;
  for (const Gpu& gpu : survey_gpus().gpus) uuids.push_back(gpu.uuid);
  const auto own = static_cast<std::size_t>(task.device_ordinal);
  if (own >= uuids.size()) return {};
  std::rotate(uuids.begin(), uuids.begin() + task.device_ordinal, uuids.end());
  uuids.resize(std::min(uuids.size(), static_cast<std::size_t>(work.ring_size)));
  return uuids;
}

}  // namespace

bool ComparisonPrograms::has(const Record& record) const {
  const External* program = find_external(task_.externals, record.kernel);
  return program != nullptr &&
         (program->kind == ImplementationKind::baseline) == record.variant.is_baseline();
}

void ComparisonPrograms::start_all() {
  for (const Record& record : task_.records)
    if (has(record)) started_[record.variant_id] = start(record);
}

void ComparisonPrograms::greet(const Record& record) {
  started_[record.variant_id] = {greeted(record), nullptr};
}

void ComparisonPrograms::set_inputs(InputFileSets::Tensors tensors, InputFileSets::Forward forward,
                                    std::int64_t at_once) {
  at_once_ = at_once;
  const Record& record = task_.records.front();
  files_.emplace(std::move(tensors), std::move(forward), record.work, static_cast<int>(record.threads));
}

std::unique_ptr<ExternalProgram> ComparisonPrograms::load(const Record& record) {
  std::unique_ptr<ExternalProgram> program = greeted(record);
  const Case& work = record.work;
  if (record.variant.is_baseline()) {
    program->load(files_->of(InputSet::second));
    return program;
  }
  const KernelChoice& choice = record.variant.kernel();
  const std::int64_t tile_rows = program->tile_rows();
  if (tile_rows == 0 && !chosen_by_program(choice))
    throw Unsupported(fmt::format("traversal {}: {} says no tile_rows in hello, so it gets no tiles",
                                  choice.traversal, record.kernel));
  const StoredOrder order = stored_order(work, choice);
  const KernelLayout layout = kernel_layout(work, choice, order, tile_rows, {.at_once = at_once_});
  program->load(files_->of(InputSet::second, order), layout.request);
  return program;
}

ComparisonPrograms::Started ComparisonPrograms::start(const Record& record) {
  try {
    return {std::make_unique<ExternalProgram>(record.kernel, *find_external(task_.externals, record.kernel),
                                              record.work, static_cast<int>(record.threads), gpus(),
                                              task_.fork_server, task_.measure.cache),
            nullptr};
  } catch (...) {
    return {nullptr, std::current_exception()};
  }
}

std::unique_ptr<ExternalProgram> ComparisonPrograms::greeted(const Record& record) {
  const auto at = started_.find(record.variant_id);
  Started started = at == started_.end() ? start(record) : std::move(at->second);
  if (at != started_.end()) started_.erase(at);
  if (started.fault) std::rethrow_exception(started.fault);
  started.program->greet();
  return std::move(started.program);
}

const std::vector<std::string>& ComparisonPrograms::gpus() {
  if (!gpus_) gpus_ = gpus_of(task_);
  return *gpus_;
}

}  // namespace hilbench
