#include "harness/launched/hosted_ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <stdexcept>
#include <utility>

#include "kernels/base/text/error.hpp"
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

std::unique_ptr<RankResources> HostedRanks::joined_resources(const Ring& ring) {
  std::unique_ptr<RankResources> resources;
  if (!on_gpus_) {
    resources = cpu_rank_resources({transport_}, threads_of_a_rank(bench_->threads, ring.ranks()));
    resources->join(0);
    return resources;
  }
  try {
    resources = cuda_rank_resources(transport_, *bench_->device, processes_.timeout_s(), nccl_blocks(ring));
    resources->join(0);
  } catch (const TransportError&) {
    throw;
  } catch (const std::exception& error) {  // the other ranks are still joining
    throw TransportError(
        fmt::format("rank {} of {}: {}", transport_->rank(), transport_->size(), error.what()));
  }
  return resources;
}

ProcessAnswer HostedRanks::answer(const MakeRing& make) {
  const bool all_can = !on_gpus_ || all_have_benches();
  if (bench_ == nullptr) throw std::runtime_error(fault_);
  if (!all_can) return {};  // a rank that cannot join answers with its error
  const auto record = std::find_if(records_.begin(), records_.end(),
                                   [&](const Record& each) { return each.variant_id == make.variant_id; });
  if (record == records_.end())
    throw std::logic_error("a command for a variant that the comparison does not have");
  Member& member = ranks_[make.ring];
  const Ring ring = ring_of(*record);
  member.resources = joined_resources(ring);
  member.rank = std::make_unique<RingRank>(*bench_, ring, record->kernel, *member.resources, 0);
  const std::string host = host_identity();
  return {.clock = on_gpus_ ? bench_->device->gpu_uuid() : host,
          .timer = member.resources->timer(),
          .host = host};
}

ProcessAnswer HostedRanks::answer(const AskRing& ask) {
  return {.rank_answer = ranks_.at(ask.ring).rank->answer(ask.command)};
}

ProcessAnswer HostedRanks::answer(const TellDeviceBytes& tell) {
  return {.device_bytes = ranks_.at(tell.ring).resources->device_bytes()};
}

ProcessAnswer HostedRanks::answer(const DropRing& drop) {
  ranks_.erase(drop.ring);
  return {};
}

ProcessAnswer HostedRanks::answer(const ObserveDevice&) {
  if (!leads()) bench_->device->observe();
  return {};
}

ProcessAnswer HostedRanks::answer(const TellDeviceState&) {
  return {.device_state = leads() ? nlohmann::json() : bench_->device->state()};
}

ProcessAnswer HostedRanks::obey(const ProcessCommand& command) noexcept {
  const bool exchanges = moves_data(command);
  const auto fail = [&](const char* why) -> ProcessAnswer {
    const std::string reason = fmt::format("rank {} of {}: {}", transport_->rank(), transport_->size(), why);
    if (exchanges) {
      transport_->abort(reason);
      processes_.set_broken(transport_->failure());
    }
    return {.error = reason};
  };
  try {
    return std::visit([this](const auto& one) { return answer(one); }, command);
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
