#include <fmt/format.h>

#include <new>
#include <stdexcept>

#include "harness/rank_threads.hpp"
#include "harness/ring_crew.hpp"
#include "harness/ring_rank.hpp"
#include "kernels/ring/threads.hpp"

namespace hilbench {
namespace {

// A rank that hangs is ended with the worker, by the supervisor and far sooner.
constexpr double kTransportTimeout_s = 3600;

class ThreadCrew final : public RingCrew {
 public:
  ThreadCrew(Bench& bench, const Record& record)
      : transport_({{"name", record.transport},
                    {"threads_per_rank", threads_of_a_rank(bench.threads, record.work.ring_size)}}),
        transports_(thread_transports(static_cast<int>(record.work.ring_size), kTransportTimeout_s)),
        ranks_(transports_.size()),
        threads_(static_cast<int>(ranks_.size())) {
    on_every_rank([&](std::size_t rank) {
      ranks_[rank] = std::make_unique<RingRank>(bench, record, *transports_[rank]);
    });
  }

  std::vector<nlohmann::json> ask(const nlohmann::json& order) override {
    std::vector<nlohmann::json> answers(ranks_.size());
    on_every_rank([&](std::size_t rank) { answers[rank] = ranks_[rank]->answer(order); });
    return answers;
  }
  std::vector<std::string> clocks() const override { return std::vector<std::string>(ranks_.size()); }
  nlohmann::json transport() const override { return transport_; }

 private:
  void on_every_rank(const std::function<void(std::size_t rank)>& part) {
    const std::function<void(int)> guarded = [&](int rank) {
      const auto number = static_cast<std::size_t>(rank);
      const auto fail = [&](const char* why) {
        transports_[number]->abort(fmt::format("rank {} of {}: {}", rank, ranks_.size(), why));
      };
      try {
        part(number);
      } catch (const std::bad_alloc&) {
        fail("out of memory");
      } catch (const std::exception& error) {
        fail(error.what());
      }
    };
    threads_.run(guarded);
    const std::string failure = transports_.front()->failure();
    if (!failure.empty()) throw std::runtime_error(failure);
  }

  const nlohmann::json transport_;
  std::vector<std::unique_ptr<Transport>> transports_;
  std::vector<std::unique_ptr<RingRank>> ranks_;
  RankThreads threads_;
};

}  // namespace

std::unique_ptr<RingCrew> thread_crew(Bench& bench, const Record& record) {
  return std::make_unique<ThreadCrew>(bench, record);
}

}  // namespace hilbench
