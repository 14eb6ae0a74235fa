#include "harness/process_crew.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <stdexcept>
#include <utility>

#include "harness/error.hpp"

namespace hilbench {
namespace {

using Json = nlohmann::json;

class ProcessCrew final : public RingCrew {
 public:
  ProcessCrew(ProcessRings& rings, Bench& bench, const Record& record, int number)
      : rings_(rings),
        number_(number),
        transport_({{"name", record.transport},
                    {"threads_per_rank", threads_of_a_rank(bench.threads, record.work.ring_size)},
                    {"processes", rings.processes().size()},
                    {"library", mpi_version()}}) {
    try {
      for (const Json& answer : ask({{"do", "make"}, {"variant", record.variant_id}}))
        clocks_.push_back(answer.at("clock"));
    } catch (...) {
      drop();
      throw;
    }
    std::vector<std::string> hosts = clocks_;
    std::sort(hosts.begin(), hosts.end());
    transport_["hosts"] = std::unique(hosts.begin(), hosts.end()) - hosts.begin();
  }
  ~ProcessCrew() override { drop(); }

  std::vector<Json> ask(const Json& order) override {
    Json numbered = order;
    numbered["ring"] = number_;
    return rings_.ask(numbered);
  }
  std::vector<std::string> clocks() const override { return clocks_; }
  Json transport() const override { return transport_; }
  std::string timer() const override { return "steady_clock"; }

 private:
  void drop() noexcept {
    if (!rings_.processes().broken().empty()) return;  // the processes end
    try {
      ask({{"do", "drop"}});
    } catch (const std::exception& error) {
      rings_.processes().set_broken(error.what());
    }
  }

  ProcessRings& rings_;
  const int number_;
  Json transport_;
  std::vector<std::string> clocks_;
};

}  // namespace

ProcessRanks::ProcessRanks(Processes& processes, const Case& work, Bench* bench,
                           const std::vector<Record>& records, std::string fault)
    : processes_(processes),
      bench_(bench),
      records_(records),
      fault_(std::move(fault)),
      transport_(processes.ring(static_cast<int>(work.ring_size))) {}

Json ProcessRanks::make(const Json& order) {
  if (bench_ == nullptr) throw std::runtime_error(fault_);
  const auto record = std::find_if(records_.begin(), records_.end(), [&](const Record& candidate) {
    return candidate.variant_id == order.at("variant");
  });
  if (record == records_.end()) throw std::logic_error("no variant of the comparison is meant");
  Member& member = ranks_[order.at("ring")];
  member.bed = cpu_ring_bed({transport_}, threads_of_a_rank(bench_->threads, record->work.ring_size));
  member.bed->join(0);
  member.rank = std::make_unique<RingRank>(*bench_, *record, *member.bed, 0);
  return {{"clock", host_identity()}};
}

Json ProcessRanks::obey(const Json& order) noexcept {
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
    if (order.at("do") == "make") return make(order);
    if (order.at("do") == "drop") {
      ranks_.erase(order.at("ring"));
      return Json::object();
    }
    return ranks_.at(order.at("ring")).rank->answer(order);
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

ProcessRings::~ProcessRings() {
  if (own_ == nullptr || !processes_.broken().empty()) return;
  try {
    processes_.tell(processes_.size(), {{"do", "done"}});
  } catch (const std::exception& error) {
    processes_.set_broken(error.what());
  }
}

std::unique_ptr<RingCrew> ProcessRings::crew(Bench& bench, const Record& record) {
  if (!processes_.broken().empty())
    throw std::runtime_error(fmt::format("the ranks cannot go on: {}", processes_.broken()));
  if (own_ == nullptr) {
    processes_.tell(processes_.size(), {{"do", "comparison"}, {"case", record.case_id}});
    own_ = std::make_unique<ProcessRanks>(processes_, record.work, &bench, task_.records);
  }
  return std::make_unique<ProcessCrew>(*this, bench, record, made_++);
}

std::vector<Json> ProcessRings::ask(const Json& order) {
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
