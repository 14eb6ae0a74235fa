#include "harness/launched/launched_rings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <utility>

#include "harness/ring/thread_ranks.hpp"
#include "kernels/ring/transport/nccl.hpp"

namespace hilbench {
namespace {

class LaunchedRanks final : public RingRanks {
 public:
  LaunchedRanks(LaunchedRings& rings, Bench& bench, const Record& record, int number)
      : rings_(rings),
        bench_(bench),
        number_(number),
        on_gpus_(record.work.device == DeviceKind::cuda),
        transport_({{"name", record.transport},
                    {"threads_per_rank", threads_of_a_rank(bench.threads, record.work.ring_size)},
                    {"processes", rings.processes().size()},
                    {"library", mpi_version()}}) {
    std::set<std::string> hosts;
    try {
      for (const ProcessAnswer& answer : rings_.ask(MakeRing{number_, record.variant_id})) {
        clocks_.push_back(answer.clock);
        hosts.insert(answer.host);
        timer_ = answer.timer;
      }
    } catch (...) {
      drop();
      throw;
    }
    transport_["hosts"] = hosts.size();
    if (on_gpus_) transport_.update({{"version", nccl_version()}, {"gpus", clocks_}});
  }
  ~LaunchedRanks() override { drop(); }

  std::vector<RankAnswer> ask(const RankCommand& command) override {
    std::vector<RankAnswer> answers;
    for (ProcessAnswer& answer : rings_.ask(AskRing{number_, command}))
      answers.push_back(std::move(answer.rank_answer));
    return answers;
  }
  std::vector<std::string> clocks() const override { return clocks_; }
  nlohmann::json transport() const override { return transport_; }
  std::string timer() const override { return timer_; }
  int devices() const override { return on_gpus_ ? static_cast<int>(clocks_.size()) : 1; }
  double device_bytes() override {
    double most = 0;
    if (!on_gpus_) return most;
    for (const ProcessAnswer& answer : rings_.ask(TellDeviceBytes{number_}))
      most = std::max(most, answer.device_bytes);
    return most;
  }

 private:
  void drop() noexcept {
    if (bench_.lost()) rings_.device_lost();  // what this rank holds cannot be freed: no other waits for it
    if (!rings_.processes().broken().empty()) return;  // the processes are about to end
    try {
      rings_.ask(DropRing{number_});
    } catch (const std::exception& error) {
      rings_.processes().set_broken(error.what());
    }
  }

  LaunchedRings& rings_;
  Bench& bench_;
  const int number_;
  const bool on_gpus_;
  nlohmann::json transport_;
  std::vector<std::string> clocks_;
  std::string timer_;
};

}  // namespace

LaunchedRings::~LaunchedRings() {
  if (own_ == nullptr || !processes_.broken().empty()) return;
  try {
    processes_.tell(processes_.size(), EndComparison{});
  } catch (const std::exception& error) {
    processes_.set_broken(error.what());
  }
}

std::unique_ptr<RingRanks> LaunchedRings::ranks(Bench& bench, const Record& record, const Ring& ring) {
  if (record.transport == "threads") return thread_ranks(bench, record, ring);
  if (!processes_.broken().empty())
    throw std::runtime_error(fmt::format("the ranks cannot go on: {}", processes_.broken()));
  if (own_ == nullptr) {
    processes_.tell(processes_.size(), BeginComparison{record.case_id, task_.measure.seed});
    own_ = std::make_unique<HostedRanks>(processes_, record.work, &bench, task_.records);
  }
  return std::make_unique<LaunchedRanks>(*this, bench, record, made_++);
}

bool LaunchedRings::has_rings_of_gpus() const {
  return own_ != nullptr && task_.records.front().work.device == DeviceKind::cuda;
}

void LaunchedRings::observe() {
  if (has_rings_of_gpus()) ask(ObserveDevice{});
}

void LaunchedRings::device_lost() {
  processes_.set_broken("the device is lost to rank 0");
}

std::vector<nlohmann::json> LaunchedRings::device_states() {
  if (!has_rings_of_gpus()) return {};
  std::vector<nlohmann::json> states;
  for (ProcessAnswer& answer : ask(TellDeviceState{})) states.push_back(std::move(answer.device_state));
  states.erase(states.begin());  // of this rank
  return states;
}

std::vector<ProcessAnswer> LaunchedRings::ask(const ProcessCommand& command) {
  const auto ranks = static_cast<int>(task_.records.front().work.ring_size);
  processes_.tell(ranks, command);
  ProcessAnswer own = own_->obey(command);
  const auto raise_broken = [&] {
    processes_.call_roll();
    throw std::runtime_error(processes_.broken());
  };
  if (!processes_.broken().empty()) raise_broken();
  std::vector<ProcessAnswer> answers;
  try {
    answers = processes_.answers(ranks, std::move(own));
  } catch (const TransportError&) {
    raise_broken();
  }
  for (const ProcessAnswer& answer : answers) {
    if (!answer.error) continue;
    if (moves_data(command)) {
      processes_.set_broken(*answer.error);
      raise_broken();
    }
    throw std::runtime_error(*answer.error);
  }
  return answers;
}

}  // namespace hilbench
