#include "harness/ring/thread_ranks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <mutex>
#include <new>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "harness/device/bound_threads.hpp"
#include "harness/ring/rank.hpp"
#include "harness/ring/rank_resources.hpp"
#include "harness/ring/thread_team.hpp"
#include "kernels/ring/persistent_run.hpp"
#include "kernels/ring/transport/peer.hpp"
#include "kernels/ring/transport/threads.hpp"

namespace hilbench {
namespace {

EmulatedLink link_of(const Ring& ring) {
  if (ring.variant().ring.outer_link != OuterLink::emulated_host) return {};
  return {.group_size = static_cast<int>(ring.ranks() / ring.groups())};
}

std::vector<Device*> devices_of(const Bench& bench) {
  std::vector<Device*> devices = {bench.device.get()};
  for (const auto& further : bench.further_devices) devices.push_back(further.get());
  return devices;
}

// True if the plan took NCCL where the sweep did not ask for it, because two GPUs have no link.
bool lacks_peer_link(const Record& record) {
  return record.work.device == DeviceKind::cuda && record.variant.ring.transport != TransportKind::nccl &&
         record.transport == to_string(TransportKind::nccl);
}

nlohmann::json missing_links(const Bench& bench) {
  std::vector<int> ordinals;
  for (const Device* device : devices_of(bench)) ordinals.push_back(device->gpu_ordinal().value_or(0));
  std::vector<std::string> pairs;
  for (const auto& [a, b] : unlinked_gpus(ordinals)) pairs.push_back(fmt::format("{} and {}", a, b));
  return {{"transport", "peer"},
          {"reason", fmt::format("no access to each other's memory: GPUs {}", fmt::join(pairs, ", "))}};
}

std::unique_ptr<RankResources> resources_for(Bench& bench, const Record& record, const Ring& ring) {
  const auto ranks = static_cast<int>(record.work.ring_size);
  if (record.work.device == DeviceKind::cpu) {
    std::vector<std::shared_ptr<Transport>> ends;
    for (auto& end : thread_transports(ranks, kRingTimeout_s, link_of(ring))) ends.push_back(std::move(end));
    return cpu_rank_resources(std::move(ends), threads_of_a_rank(bench.threads, ranks), record.work.pages);
  }
  const bool nccl = record.variant.ring.transport == TransportKind::nccl || lacks_peer_link(record);
  return cuda_rank_resources(ranks, devices_of(bench), nccl ? TransportKind::nccl : TransportKind::peer,
                             kRingTimeout_s, link_of(ring), nccl_blocks(ring));
}

class ThreadRanks final : public RingRanks {
 public:
  ThreadRanks(Bench& bench, const Record& record, const Ring& ring)
      : resources_(resources_for(bench, record, ring)),
        ranks_(static_cast<std::size_t>(resources_->ranks())),
        bound_(ranks_.size()),
        threads_(resources_->ranks()) {
    transport_ = resources_->describe();
    if (link_of(ring).present())
      transport_["outer_link"] = {
          {"emulated", true},
          {"through", record.work.device == DeviceKind::cuda ? "pinned host memory" : "a buffer in between"},
          {"chunk_bytes", kLinkChunkBytes}};
    if (lacks_peer_link(record)) transport_["instead_of"] = missing_links(bench);
    try {
      if (record.work.device == DeviceKind::cpu)
        bind_every_rank(threads_of_a_rank(bench.threads, resources_->ranks()));
      on_every_rank([&](int rank) { resources_->join(rank); });
      on_every_rank([&](int rank) {
        ranks_[static_cast<std::size_t>(rank)] =
            std::make_unique<RingRank>(bench, ring, record.kernel, *resources_, rank);
      });
    } catch (...) {
      leave();
      throw;
    }
  }
  ~ThreadRanks() override { leave(); }

  std::vector<RankAnswer> ask(const RankCommand& command) override {
    std::vector<RankAnswer> answers(ranks_.size());
    on_every_rank([&](int rank) {
      const auto number = static_cast<std::size_t>(rank);
      answers[number] = ranks_[number]->answer(command);
    });
    return answers;
  }
  std::vector<std::string> clocks() const override {
    std::vector<std::string> clocks;
    for (int rank = 0; rank < resources_->ranks(); ++rank) clocks.push_back(resources_->clock(rank));
    return clocks;
  }
  nlohmann::json transport() const override { return transport_; }
  std::string timer() const override { return resources_->timer(); }
  int devices() const override { return resources_->devices(); }
  double device_bytes() override { return resources_->device_bytes(); }

 private:
  void bind_every_rank(int threads) {
    on_every_rank([&](int rank) {
      bound_[static_cast<std::size_t>(rank)] =
          std::make_unique<BoundThreads>(threads, rank * threads, resources_->ranks() * threads);
    });
  }

  // Throws the first failure of a rank; the other ranks then stop waiting for it.
  void on_every_rank(const std::function<void(int rank)>& part) {
    std::mutex mutex;
    std::string first;
    const std::function<void(int)> guarded = [&](int rank) {
      const auto fail = [&](const std::string& why) {
        {
          const std::lock_guard lock(mutex);
          if (first.empty()) first = why;
        }
        resources_->abort(rank, why);
      };
      const auto named = [&](const char* why) {
        return fmt::format("rank {} of {}: {}", rank, ranks_.size(), why);
      };
      try {
        part(rank);
      } catch (const TransportError& error) {
        fail(error.what());  // it names the rank
      } catch (const std::bad_alloc&) {
        fail(named("out of memory"));
      } catch (const std::exception& error) {
        fail(named(error.what()));
      }
    };
    threads_.run(guarded);
    if (!first.empty()) throw std::runtime_error(first);
  }

  // Each rank leaves on its own thread: the thread's current GPU must own what is freed, and all ranks must
  // leave a communicator at once.
  void leave() noexcept {
    threads_.run([this](int rank) {
      ranks_[static_cast<std::size_t>(rank)].reset();
      bound_[static_cast<std::size_t>(rank)].reset();
      resources_->leave(rank);
    });
  }

  const std::unique_ptr<RankResources> resources_;
  std::vector<std::unique_ptr<RingRank>> ranks_;
  std::vector<std::unique_ptr<BoundThreads>> bound_;  // of each rank on processors
  ThreadTeam threads_;
  nlohmann::json transport_;
};

class ThreadRings final : public RingHost {
 public:
  std::unique_ptr<RingRanks> ranks(Bench& bench, const Record& record, const Ring& ring) override {
    return thread_ranks(bench, record, ring);
  }
  bool spans_processes() const override { return false; }
  void observe() override {}
  std::vector<nlohmann::json> device_states() override { return {}; }
  void device_lost() override {}
};

}  // namespace

std::unique_ptr<RingRanks> thread_ranks(Bench& bench, const Record& record, const Ring& ring) {
  return std::make_unique<ThreadRanks>(bench, record, ring);
}

std::unique_ptr<RingHost> thread_rings() {
  return std::make_unique<ThreadRings>();
}

}  // namespace hilbench
