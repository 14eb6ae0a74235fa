#include "harness/launched/hosted_ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <stdexcept>
#include <utility>

#include "kernels/base/error.hpp"
#include "kernels/ring/persistent_run.hpp"

namespace hilbench {

HostedRanks::HostedRanks(LaunchedProcesses& processes, const Case& work, Bench* bench,
                         const std::vector<Record>& records, std::string fault)
    : processes_(processes),
      on_gpus_(work.device == DeviceKind::cuda),
      bench_(bench),
      records_(records),
      fault_(std::move(fault)),
      transport_(processes.ring(static_cast<int>(work.ring_size))) {}

// The GPU work of a failed ring does not end by itself, and memory cannot be freed before it ends.
HostedRanks::~HostedRanks() {
  if (processes_.broken().empty()) return;
  for (auto& [number, member] : ranks_)
    if (member.resources != nullptr) member.resources->abort(0, processes_.broken());
}

// Either all ranks join their GPUs or none does. A rank that waits for a missing one would wait until the
// timeout.
bool HostedRanks::all_have_benches() {
  const std::vector<std::string> faults = transport_->gather(fault_);
  return std::all_of(faults.begin(), faults.end(), [](const std::string& fault) { return fault.empty(); });
}

std::unique_ptr<RankResources> HostedRanks::joined_resources(const Record& record) {
  std::unique_ptr<RankResources> resources;
  if (!on_gpus_) {
    resources = cpu_rank_resources({transport_}, threads_of_a_rank(bench_->threads, record.work.ring_size));
    resources->join(0);
    return resources;
  }
  try {
    resources = cuda_rank_resources(transport_, *bench_->device, processes_.timeout_s(),
                                    nccl_blocks(ring_of(record)));
    resources->join(0);
  } catch (const TransportError&) {
    throw;
  } catch (const std::exception& error) {  // the other ranks are still joining
    throw TransportError(
        fmt::format("rank {} of {}: {}", transport_->rank(), transport_->size(), error.what()));
  }
  return resources;
}

ProcessAnswer HostedRanks::make(const ProcessOrder& order) {
  const bool all_can = !on_gpus_ || all_have_benches();
  if (bench_ == nullptr) throw std::runtime_error(fault_);
  if (!all_can) return {};  // a rank that cannot join answers with its error
  const auto record = std::find_if(records_.begin(), records_.end(),
                                   [&](const Record& each) { return each.variant_id == order.variant_id; });
  if (record == records_.end())
    throw std::logic_error("an order for a variant that the comparison does not have");
  Member& member = ranks_[order.ring];
  member.resources = joined_resources(*record);
  member.rank = std::make_unique<RingRank>(*bench_, *record, *member.resources, 0);
  const std::string host = host_identity();
  return {.clock = on_gpus_ ? bench_->device->gpu_uuid() : host,
          .timer = member.resources->timer(),
          .host = host};
}

ProcessAnswer HostedRanks::answer(const ProcessOrder& order) {
  const bool leads = transport_->rank() == 0;  // rank 0's own bench observes its device
  switch (order.action) {
    case ProcessAction::make_ring:
      return make(order);
    case ProcessAction::ask_ring:
      return {.rank_answer = ranks_.at(order.ring).rank->answer(order.rank_order)};
    case ProcessAction::device_bytes:
      return {.device_bytes = ranks_.at(order.ring).resources->device_bytes()};
    case ProcessAction::drop_ring:
      ranks_.erase(order.ring);
      return {};
    case ProcessAction::observe:
      if (!leads) bench_->device->observe();
      return {};
    case ProcessAction::device_state:
      return {.device_state = leads ? nlohmann::json() : bench_->device->state()};
    default:
      throw std::logic_error("an order that no ring knows");
  }
}

ProcessAnswer HostedRanks::obey(const ProcessOrder& order) noexcept {
  const bool exchanges = moves_data(order);
  const auto fail = [&](const char* why) -> ProcessAnswer {
    const std::string reason = fmt::format("rank {} of {}: {}", transport_->rank(), transport_->size(), why);
    if (exchanges) {
      transport_->abort(reason);
      processes_.set_broken(transport_->failure());
    }
    return {.error = reason};
  };
  try {
    return answer(order);
  } catch (const TransportError& error) {  // it names the ranks
    transport_->abort(error.what());
    processes_.set_broken(error.what());
    return {.error = error.what()};
  } catch (const std::bad_alloc&) {
    return fail("out of memory");
  } catch (const std::exception& error) {
    return fail(error.what());
  }
}

}  // namespace hilbench
