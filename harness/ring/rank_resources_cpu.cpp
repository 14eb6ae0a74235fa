#include <chrono>
#include <nlohmann/json.hpp>

#include "harness/ring/rank_resources.hpp"

namespace hilbench {
namespace {

std::int64_t now_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

class CpuRankResources final : public RankResources {
 public:
  CpuRankResources(std::vector<std::shared_ptr<Transport>> ends, int threads_per_rank, PageSize pages)
      : threads_(threads_per_rank), pages_(pages), devices_(ends.size()) {
    for (std::shared_ptr<Transport>& end : ends) ranks_.push_back({.transport = std::move(end)});
  }

  void join(int rank) override {
    RankDevice& own = devices_[static_cast<std::size_t>(rank)];
    own.device = open_cpu_device(threads_, pages_);
    ranks_[static_cast<std::size_t>(rank)].device = own.device.get();
    ranks_[static_cast<std::size_t>(rank)].ring_device = cpu_ring_device(threads_, pages_);
  }
  void leave(int) noexcept override {}
  void abort(int rank, const std::string& why) noexcept override { transport(rank).abort(why); }

  void start(int rank) override {
    transport(rank).barrier();
    devices_[static_cast<std::size_t>(rank)].begin_ns = now_ns();
  }
  void stop(int rank) override { devices_[static_cast<std::size_t>(rank)].end_ns = now_ns(); }
  std::pair<std::int64_t, std::int64_t> span(int rank) override {
    const RankDevice& own = devices_[static_cast<std::size_t>(rank)];
    return {own.begin_ns, own.end_ns};
  }
  std::string clock(int) const override { return "this host"; }

  std::unique_lock<std::mutex> exclusive(int rank) override {
    return std::unique_lock(devices_[static_cast<std::size_t>(rank)].use);
  }
  std::string timer() const override { return "steady_clock"; }
  int devices() const override { return 1; }
  nlohmann::json describe() const override { return {{"name", "threads"}, {"threads_per_rank", threads_}}; }

 private:
  struct RankDevice {
    std::unique_ptr<Device> device;
    std::mutex use;
    std::int64_t begin_ns = 0, end_ns = 0;
  };

  int threads_;
  PageSize pages_;
  std::vector<RankDevice> devices_;
};

}  // namespace

std::unique_ptr<RankResources> cpu_rank_resources(std::vector<std::shared_ptr<Transport>> ends,
                                                  int threads_per_rank, PageSize pages) {
  return std::make_unique<CpuRankResources>(std::move(ends), threads_per_rank, pages);
}

}  // namespace hilbench
