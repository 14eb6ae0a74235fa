#include <chrono>
#include <nlohmann/json.hpp>

#include "harness/ring/rank_resources.hpp"

namespace hilbench {
namespace {

std::int64_t now_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

class CpuRingBed final : public RankResources {
 public:
  CpuRingBed(std::vector<std::shared_ptr<Transport>> ends, int threads_per_rank)
      : threads_(threads_per_rank), places_(ends.size()) {
    for (std::shared_ptr<Transport>& end : ends) seats_.push_back({.transport = std::move(end)});
  }

  void join(int rank) override {
    Place& place = places_[static_cast<std::size_t>(rank)];
    place.device = open_cpu_device(threads_);
    seats_[static_cast<std::size_t>(rank)].device = place.device.get();
    seats_[static_cast<std::size_t>(rank)].ring_device = cpu_ring_device(threads_);
  }
  void leave(int) noexcept override {}
  void abort(int rank, const std::string& why) noexcept override { transport(rank).abort(why); }

  void start(int rank) override {
    transport(rank).barrier();
    places_[static_cast<std::size_t>(rank)].begin_ns = now_ns();
  }
  void stop(int rank) override { places_[static_cast<std::size_t>(rank)].end_ns = now_ns(); }
  std::pair<std::int64_t, std::int64_t> span(int rank) override {
    const Place& place = places_[static_cast<std::size_t>(rank)];
    return {place.begin_ns, place.end_ns};
  }
  std::string clock(int) const override { return "this host"; }

  std::unique_lock<std::mutex> exclusive(int rank) override {
    return std::unique_lock(places_[static_cast<std::size_t>(rank)].use);
  }
  std::string timer() const override { return "steady_clock"; }
  int devices() const override { return 1; }
  nlohmann::json describe() const override { return {{"name", "threads"}, {"threads_per_rank", threads_}}; }

 private:
  struct Place {
    std::unique_ptr<Device> device;
    std::mutex use;
    std::int64_t begin_ns = 0, end_ns = 0;
  };

  int threads_;
  std::vector<Place> places_;
};

}  // namespace

std::unique_ptr<RankResources> cpu_ring_bed(std::vector<std::shared_ptr<Transport>> ends,
                                            int threads_per_rank) {
  return std::make_unique<CpuRingBed>(std::move(ends), threads_per_rank);
}

}  // namespace hilbench
