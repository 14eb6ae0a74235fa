#include "harness/ring/ring_variant.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "baselines/table.hpp"
#include "harness/ring/counters.hpp"
#include "harness/ring/rank.hpp"
#include "harness/ring/ranks.hpp"
#include "kernels/ring/persistent_run.hpp"
#include "reports/records/stats.hpp"

namespace hilbench {
namespace {

constexpr int kPartRounds = 5;  // to time the parts of a run

using PartTimes = std::vector<double>;  // kPartRounds durations in ns

// Distance between the quartiles.
double spread(PartTimes times_ns) {
  std::sort(times_ns.begin(), times_ns.end());
  return times_ns[kPartRounds * 3 / 4] - times_ns[kPartRounds / 4];
}

Counter counter(double value, const char* unit, const char* source) {
  return {.value = value, .unit = unit, .source = source, .passes = 1, .reason = ""};
}

Counter overlap(const PartTimes& computation, const PartTimes& exchange, const PartTimes& all) {
  const double exchange_ns = median(exchange);
  if (spread(all) + spread(computation) > exchange_ns)
    return {.reason = "the exchange takes less time than repeated runs differ"};
  return counter(hidden_share(median(computation), exchange_ns, median(all)), "ratio", "measured");
}

// Durations of executions: from the begin of the first rank to the end of the last. Clocks of different hosts
// or GPUs cannot be compared, so each clock gets its own duration, and the longest counts.
std::vector<double> durations_ns(const std::vector<RankAnswer>& answers,
                                 const std::vector<std::string>& clocks) {
  std::vector<double> durations(answers.front().spans.size(), 0);
  for (std::size_t i = 0; i < durations.size(); ++i) {
    std::map<std::string, std::pair<std::int64_t, std::int64_t>> spans;  // by clock
    for (std::size_t rank = 0; rank < answers.size(); ++rank) {
      const auto [begin, end] = answers[rank].spans.at(i);
      auto& [first, last] = spans.try_emplace(clocks[rank], begin, end).first->second;
      first = std::min(first, begin);
      last = std::max(last, end);
    }
    for (const auto& [clock, span] : spans)
      durations[i] = std::max(durations[i], static_cast<double>(span.second - span.first));
  }
  return durations;
}

class RingVariant final : public PreparedVariant {
 public:
  RingVariant(Bench& bench, const Record& record)
      : PreparedVariant(*find_implementation(record.kernel, record.work.device)),
        bench_(bench),
        ring_(ring_of(record)),
        planned_bytes_(record.comm_bytes.value_or(ring_.sent_bytes())),
        planned_between_(record.comm_bytes_between.value_or(ring_.level_bytes().between)),
        ranks_(bench.rings->ranks(bench, record, ring_)) {
    for (const RankAnswer& answer : ranks_->ask(DescribeRank{})) {
      rank_bytes_ = std::max(rank_bytes_, answer.bytes);
      if (answer.permute_ns)
        traits_.permute_ns = std::max(traits_.permute_ns.value_or(0), *answer.permute_ns);
    }
    if (implementation().library != nullptr) traits_.library = implementation().library();
    traits_.transport = transport();
    traits_.devices = ranks_->devices();
    traits_.run_timed = [this](std::int64_t executions) { return timed(RingPart::all, executions); };
    traits_.timer = ranks_->timer();
    traits_.count = [this](const CounterSet& set) { return count(set); };
  }

  void run() override { timed(RingPart::all, 1); }
  void fill_output(std::byte value) override { ranks_->ask(FillOutput{value}); }

  TakenRows take(const DrawnRows& rows) override {
    return take_rows(ring_.work(), output(), rows, held_, bench_.threads);
  }

  bool load(InputSet set) override {
    ranks_->ask(LoadInputs{set});
    held_ = set;
    return true;
  }
  InputSet inputs() const override { return held_; }
  ProbeErrors probe(std::uint64_t entropy) override {
    ProbeErrors errors;
    for (const RankAnswer& answer : ranks_->ask(ProbeKeys{entropy})) errors.add(answer.probed);
    return errors;
  }

  OutputReader output() override {
    const std::int64_t heads = ring_.work().heads;
    return {.o = [this, row = heads * ring_.work().head_dim](
                     std::int64_t first, std::span<float> to) { read(OutputTensor::o, row, first, to); },
            .lse = [this, heads](std::int64_t first,
                                 std::span<float> to) { read(OutputTensor::lse, heads, first, to); },
            .bad =
                [this] {
                  BadValues bad;
                  for (const RankAnswer& answer : ranks_->ask(CountBad{})) {
                    bad.o += answer.bad.o;
                    bad.lse += answer.bad.lse;
                  }
                  return bad;
                }};
  }

  // Takes the parts in turn, so a disturbance of the machine affects all of them alike.
  std::map<std::string, Counter> measured() override {
    PartTimes all, exchange, computation;
    for (int round = 0; round < kPartRounds; ++round) {
      all.push_back(timed(RingPart::all, 1).front());
      exchange.push_back(timed(RingPart::exchange, 1).front());
      computation.push_back(timed(RingPart::computation, 1).front());
    }
    const Counter unsent{.reason = "nothing is exchanged"};
    const Counter untold{.reason = "measured on GPUs only"};
    const bool sends = planned_bytes_ > 0;
    return {{"ring_bytes", counter(sent_bytes_, "bytes", "transport")},
            {"ring_link_inside", link(false)},
            {"ring_link_between", link(true)},
            {"ring_rank_memory", counter(rank_bytes_, "bytes", "measured")},
            {"ring_device_memory", device_bytes_ > 0 ? counter(device_bytes_, "bytes", "measured") : untold},
            {"ring_compute_ns", counter(median(computation), "ns", "measured")},
            {"ring_exchange_ns", sends ? counter(median(exchange), "ns", "measured") : unsent},
            {"ring_overlap", sends ? overlap(computation, exchange, all) : unsent}};
  }

 private:
  std::map<std::string, Counter> count(const CounterSet& set) {
    const bool cold = bench_.cache == CacheState::cold;
    if (!cold) run();
    const auto restore = [&] {
      if (cold && !evicts()) bench_.device->evict_caches();
    };
    return count_ring(
        set, evicts(), [&](const RankCommand& command) { return ranks_->ask(command); }, restore);
  }

  nlohmann::json transport() const {
    nlohmann::json said = ranks_->transport();
    if (const int blocks = nccl_blocks(ring_); blocks > 0 && said.value("name", "") == "nccl")
      said["nccl_blocks"] = blocks;
    return said;
  }

  // True if each rank must evict its own caches: processes and GPUs have their own. Threads on the CPU share
  // the device's.
  bool evicts() const {
    const bool own_caches = bench_.rings->spans_processes() || bench_.work.device == DeviceKind::cuda;
    return own_caches && bench_.cache == CacheState::cold;
  }

  // Durations of `executions` in nanoseconds.
  std::vector<double> timed(RingPart part, std::int64_t executions) {
    const std::vector<RankAnswer> answers = ranks_->ask(RunRing{part, executions, evicts()});
    if (part != RingPart::computation) {
      sent_bytes_ = 0;
      double between = 0;
      for (const RankAnswer& answer : answers) {
        sent_bytes_ += static_cast<double>(answer.sent_bytes);
        between += static_cast<double>(answer.sent_between);
      }
      expect_planned("", sent_bytes_, planned_bytes_);
      expect_planned(" between its groups", between, planned_between_);
    }
    if (!std::exchange(ran_, true)) device_bytes_ = ranks_->device_bytes();  // before others allocate
    return durations_ns(answers, ranks_->clocks());
  }

  // What a rank sends in a second to the next one, in its group or in the next group, while all ranks send.
  Counter link(bool between) {
    const std::int64_t groups = ring_.groups();
    if (groups == 0 || (between ? groups : ring_.ranks() / groups) == 1)
      return {.reason = groups == 0 ? "the ranks form no groups" : "there is no such link"};
    const std::vector<RankAnswer> answers = ranks_->ask(TimeLink{between, kPartRounds});
    const double ns = median(durations_ns(answers, ranks_->clocks()));
    return counter(static_cast<double>(timed_link_bytes(ring_.work().device)) / ns, "GB/s", "measured");
  }

  static void expect_planned(const char* where, double sent, double planned) {
    if (sent != planned)
      throw std::runtime_error(
          fmt::format("the ring sent {:.0f} bytes{}, not the planned {:.0f}", sent, where, planned));
  }

  // Reads elements of the whole output from the ranks that own them. A row of one position has `row`
  // elements.
  void read(OutputTensor tensor, std::int64_t row, std::int64_t first, std::span<float> to) const {
    const std::int64_t end = first + std::ssize(to);
    const std::vector<RankAnswer> answers = ranks_->ask(ReadOutput{tensor, first, std::ssize(to)});
    std::vector<const float*> next;  // next value of each rank; values are sorted by position
    for (const RankAnswer& answer : answers) next.push_back(answer.values.data());
    for (std::int64_t element = first, after; element < end; element = after) {
      after = std::min(end, (element / row + 1) * row);
      const std::int64_t owner = ring_.shards().owner(element / row % ring_.shards().length());
      const float*& from = next[static_cast<std::size_t>(owner)];
      std::copy_n(from, after - element, to.data() + (element - first));
      from += after - element;
    }
  }

  Bench& bench_;
  const Ring ring_;
  const double planned_bytes_, planned_between_;
  const std::unique_ptr<RingRanks> ranks_;
  InputSet held_ = InputSet::first;
  double sent_bytes_ = 0;
  double rank_bytes_ = 0;    // of the rank that holds most
  double device_bytes_ = 0;  // of the GPU that lost most
  bool ran_ = false;
};

}  // namespace

std::unique_ptr<PreparedVariant> make_ring_variant(Bench& bench, const Record& record) {
  return std::make_unique<RingVariant>(bench, record);
}

}  // namespace hilbench
