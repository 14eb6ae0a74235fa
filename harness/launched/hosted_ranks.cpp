#include "harness/launched/hosted_ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <set>
#include <stdexcept>
#include <utility>

#include "kernels/base/error.hpp"
#include "kernels/ring/transport/nccl.hpp"

namespace hilbench {
namespace {

using Json = nlohmann::json;

class LaunchedRanks final : public RingRanks {
 public:
  LaunchedRanks(LaunchedRings& rings, Bench& bench, const Record& record, int number)
      : rings_(rings),
        number_(number),
        on_gpus_(record.work.device == DeviceKind::cuda),
        transport_({{"name", record.transport},
                    {"threads_per_rank", threads_of_a_rank(bench.threads, record.work.ring_size)},
                    {"processes", rings.processes().size()},
                    {"library", mpi_version()}}) {
    std::set<std::string> hosts;
    try {
      for (const Json& answer : ask({{"do", "make"}, {"variant", record.variant_id}})) {
        clocks_.push_back(answer.at("clock"));
        hosts.insert(answer.at("host").get<std::string>());
        timer_ = answer.at("timer");
      }
    } catch (...) {
      drop();
      throw;
    }
    transport_["hosts"] = hosts.size();
    if (on_gpus_) transport_.update({{"version", nccl_version()}, {"gpus", clocks_}});
  }
  ~LaunchedRanks() override { drop(); }

  std::vector<Json> ask(const Json& order) override {
    Json numbered = order;
    numbered["ring"] = number_;
    return rings_.ask(numbered);
  }
  std::vector<std::string> clocks() const override { return clocks_; }
  Json transport() const override { return transport_; }
  std::string timer() const override { return timer_; }
  int devices() const override { return on_gpus_ ? static_cast<int>(clocks_.size()) : 1; }
  double device_bytes() override {
    double most = 0;
    if (!on_gpus_) return most;
    for (const Json& answer : ask({{"do", "device bytes"}}))
      most = std::max(most, answer.at("bytes").get<double>());
    return most;
  }

 private:
  void drop() noexcept {
    if (!rings_.processes().broken().empty()) return;  // the processes end
    try {
      ask({{"do", "drop"}});
    } catch (const std::exception& error) {
      rings_.processes().set_broken(error.what());
    }
  }

  LaunchedRings& rings_;
  const int number_;
  const bool on_gpus_;
  Json transport_;
  std::vector<std::string> clocks_;
  std::string timer_;
};

}  // namespace

HostedRanks::HostedRanks(LaunchedProcesses& processes, const Case& work, Bench* bench,
                         const std::vector<Record>& records, std::string fault)
    : processes_(processes),
      on_gpus_(work.device == DeviceKind::cuda),
      bench_(bench),
      records_(records),
      fault_(std::move(fault)),
      transport_(processes.ring(static_cast<int>(work.ring_size))) {}

// What runs on a GPU for a ring that failed would not end by itself, and memory is not freed before it does.
HostedRanks::~HostedRanks() {
  if (processes_.broken().empty()) return;
  for (auto& [number, member] : ranks_)
    if (member.bed != nullptr) member.bed->abort(0, processes_.broken());
}

// GPUs are joined by all ranks or by none: whoever came to the others in vain would wait for the time limit.
bool HostedRanks::all_have_benches() {
  const std::vector<std::string> faults = transport_->gather(fault_);
  return std::all_of(faults.begin(), faults.end(), [](const std::string& fault) { return fault.empty(); });
}

std::unique_ptr<RankResources> HostedRanks::joined_bed(const Record& record) {
  std::unique_ptr<RankResources> bed;
  if (!on_gpus_) {
    bed = cpu_ring_bed({transport_}, threads_of_a_rank(bench_->threads, record.work.ring_size));
    bed->join(0);
    return bed;
  }
  try {
    bed = cuda_ring_bed(transport_, *bench_->device, processes_.timeout_s());
    bed->join(0);
  } catch (const TransportError&) {
    throw;
  } catch (const std::exception& error) {  // the others are joining
    throw TransportError(
        fmt::format("rank {} of {}: {}", transport_->rank(), transport_->size(), error.what()));
  }
  return bed;
}

Json HostedRanks::make(const Json& order) {
  const bool all_can = !on_gpus_ || all_have_benches();
  if (bench_ == nullptr) throw std::runtime_error(fault_);
  if (!all_can) return Json::object();  // who cannot says so
  const auto record = std::find_if(records_.begin(), records_.end(), [&](const Record& candidate) {
    return candidate.variant_id == order.at("variant");
  });
  if (record == records_.end()) throw std::logic_error("no variant of the comparison is meant");
  Member& member = ranks_[order.at("ring")];
  member.bed = joined_bed(*record);
  member.rank = std::make_unique<RingRank>(*bench_, *record, *member.bed, 0);
  const std::string host = host_identity();
  return {{"clock", on_gpus_ ? bench_->device->gpu_uuid() : host},
          {"timer", member.bed->timer()},
          {"host", host}};
}

Json HostedRanks::answer(const Json& order) {
  const std::string& what = order.at("do").get_ref<const std::string&>();
  const bool leads = transport_->rank() == 0;  // its bench observes its own device
  if (what == "make") return make(order);
  if (what == "observe") {
    if (!leads) bench_->device->observe();
    return Json::object();
  }
  if (what == "state") return {{"state", leads ? Json() : bench_->device->state()}};
  if (what == "drop") {
    ranks_.erase(order.at("ring"));
    return Json::object();
  }
  Member& member = ranks_.at(order.at("ring"));
  if (what == "device bytes") return {{"bytes", member.bed->device_bytes()}};
  return member.rank->answer(order);
}

Json HostedRanks::obey(const Json& order) noexcept {
  const bool exchanges = moves_data(order);
  const auto fail = [&](const char* why) -> Json {
    const std::string reason = fmt::format("rank {} of {}: {}", transport_->rank(), transport_->size(), why);
    if (exchanges) {
      transport_->abort(reason);
      processes_.set_broken(transport_->failure());
    }
    return {{"error", reason}};
  };
  try {
    return answer(order);
  } catch (const TransportError& error) {  // names the ranks
    transport_->abort(error.what());
    processes_.set_broken(error.what());
    return {{"error", error.what()}};
  } catch (const std::bad_alloc&) {
    return fail("out of memory");
  } catch (const std::exception& error) {
    return fail(error.what());
  }
}

LaunchedRings::~LaunchedRings() {
  if (own_ == nullptr || !processes_.broken().empty()) return;
  try {
    processes_.tell(processes_.size(), {{"do", "done"}});
  } catch (const std::exception& error) {
    processes_.set_broken(error.what());
  }
}

std::unique_ptr<RingRanks> LaunchedRings::crew(Bench& bench, const Record& record) {
  if (!processes_.broken().empty())
    throw std::runtime_error(fmt::format("the ranks cannot go on: {}", processes_.broken()));
  if (own_ == nullptr) {
    processes_.tell(processes_.size(), {{"do", "comparison"}, {"case", record.case_id}});
    own_ = std::make_unique<HostedRanks>(processes_, record.work, &bench, task_.records);
  }
  return std::make_unique<LaunchedRanks>(*this, bench, record, made_++);
}

bool LaunchedRings::has_rings_of_gpus() const {
  return own_ != nullptr && task_.records.front().work.device == DeviceKind::cuda;
}

void LaunchedRings::observe() {
  if (has_rings_of_gpus()) ask({{"do", "observe"}});
}

std::vector<Json> LaunchedRings::device_states() {
  if (!has_rings_of_gpus()) return {};
  std::vector<Json> states;
  for (const Json& answer : ask({{"do", "state"}})) states.push_back(answer.at("state"));
  states.erase(states.begin());  // this rank's
  return states;
}

std::vector<Json> LaunchedRings::ask(const Json& order) {
  const auto ranks = static_cast<int>(task_.records.front().work.ring_size);
  processes_.tell(ranks, order);
  Json own = own_->obey(order);
  const auto raise_broken = [&] {
    processes_.call_roll(ranks);
    throw std::runtime_error(processes_.broken());
  };
  if (!processes_.broken().empty()) raise_broken();
  const std::vector<Json> answers = processes_.answers(ranks, std::move(own));
  for (const Json& answer : answers)
    if (answer.contains("error")) {
      if (moves_data(order)) {
        processes_.set_broken(answer.at("error"));
        raise_broken();
      }
      throw std::runtime_error(answer.at("error").get<std::string>());
    }
  return answers;
}

}  // namespace hilbench
