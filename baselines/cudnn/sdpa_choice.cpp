#include "baselines/cudnn/sdpa_choice.hpp"

#include <algorithm>
#include <exception>
#include <limits>

#include "kernels/cuda/runtime/device_memory.hpp"
#include "kernels/cuda/runtime/event.hpp"
#include "kernels/cuda/runtime/status.hpp"

namespace hilbench {
namespace {

// The fastest of this many samples counts. A sample has several executions, about kSample_ns.
constexpr int kSamples = 3;
constexpr double kMostExecutions = 20;
constexpr double kSample_ns = 2e7;
constexpr double kGain = 0.99;

double plan_ns(const CudnnSdpa& sdpa, std::size_t plan, const SdpaRows& rows, void* workspace) {
  cuda::Event begin, end;
  const auto sample = [&](int executions) {
    begin.record();
    for (int i = 0; i < executions; ++i) sdpa.run(plan, rows, workspace);
    end.record();
    return end.ns_since(begin) / executions;
  };
  sample(1);  // loads the plan's kernels
  double fastest = std::max(sample(1), 1.0);
  const int executions = static_cast<int>(std::clamp(kSample_ns / fastest, 1.0, kMostExecutions));
  for (int i = 0; i < kSamples; ++i) fastest = std::min(fastest, sample(executions));
  return fastest;
}

std::size_t free_bytes() {
  std::size_t free = 0, total = 0;
  HILBENCH_CUDA(cudaMemGetInfo(&free, &total));
  return free;
}

}  // namespace

SdpaChoice fastest_plan(const CudnnSdpa& sdpa, const SdpaRows& rows) {
  SdpaChoice choice;
  double fastest_ns = std::numeric_limits<double>::infinity();
  std::exception_ptr refusal;
  for (std::size_t i = 0; i < sdpa.plans().size(); ++i) {
    const auto bytes = static_cast<std::size_t>(sdpa.plans()[i].workspace_bytes);
    if (i > 0 && bytes > free_bytes() / 2) continue;
    const cuda::DeviceMemory<std::byte> workspace(bytes);
    try {
      const double ns = plan_ns(sdpa, i, rows, workspace.data());
      ++choice.timed;
      if (ns > kGain * fastest_ns) continue;
      fastest_ns = ns;
      choice.plan = i;
    } catch (const cuda::CudaError&) {
      throw;  // the device is lost
    } catch (const std::exception&) {
      if (!refusal) refusal = std::current_exception();
    }
  }
  if (choice.timed == 0 && refusal) std::rethrow_exception(refusal);
  return choice;
}

}  // namespace hilbench
