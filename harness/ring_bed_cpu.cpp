#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "harness/ring_bed.hpp"
#include "kernels/ring/threads.hpp"

namespace hilbench {
namespace {

using Time = std::chrono::steady_clock::time_point;

class CpuRingBed final : public RingBed {
 public:
  CpuRingBed(int ranks, int threads_per_rank)
      : threads_(threads_per_rank), places_(static_cast<std::size_t>(ranks)) {
    for (auto& transport : thread_transports(ranks, kRingTimeout_s))
      seats_.push_back({.transport = std::move(transport)});
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
    places_[static_cast<std::size_t>(rank)].begin = std::chrono::steady_clock::now();
  }
  void stop(int rank) override {
    places_[static_cast<std::size_t>(rank)].end = std::chrono::steady_clock::now();
    transport(rank).barrier();
  }
  double elapsed_ns() override {
    Time begin = places_.front().begin, end = places_.front().end;
    for (const Place& place : places_) {
      begin = std::min(begin, place.begin);
      end = std::max(end, place.end);
    }
    return std::chrono::duration<double, std::nano>(end - begin).count();
  }

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
    Time begin, end;
  };

  int threads_;
  std::vector<Place> places_;
};

}  // namespace

std::unique_ptr<RingBed> cpu_ring_bed(int ranks, int threads_per_rank) {
  return std::make_unique<CpuRingBed>(ranks, threads_per_rank);
}

}  // namespace hilbench
