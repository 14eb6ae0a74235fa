// Communicators are non-blocking, so that no NCCL call blocks the host for ever. A thread watches what runs
// on the GPU, because an NCCL kernel whose peer is gone ends only when its communicator is aborted.
#include "kernels/ring/transport/nccl.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "kernels/cuda/runtime/blocking_kernel.hpp"
#include "kernels/cuda/runtime/driver.hpp"
#include "kernels/cuda/runtime/status.hpp"
#include "kernels/cuda/runtime/stream.hpp"
#include "kernels/ring/transport/nccl_library.hpp"

namespace hilbench {
namespace {

using Clock = std::chrono::steady_clock;
using Lock = std::lock_guard<std::mutex>;
constexpr std::chrono::milliseconds kWatchInterval{50};
// The time on the GPU from the event before an exchange to the start of NCCL's kernel: at most 10 us.
constexpr std::int64_t kHeadStartCycles = 20000;

// An exchange that may not be complete on the GPU.
struct Flight {
  // `ready` is on stream 0 after the work before the exchange, `begun` and `done` are on the side stream
  // before and after it.
  cuda::Mark ready, begun, done;
  std::set<int> peers;
  std::optional<Clock::time_point> seen_ready;
  bool waited = false;  // wait() has returned for it
};

class NcclTransport final : public Transport {
 public:
  NcclTransport(std::shared_ptr<Transport> control, double timeout_s, int blocks)
      : Transport(control->rank(), control->size(), timeout_s),
        control_(std::move(control)),
        blocks_(blocks) {
    HILBENCH_CUDA(cudaGetDevice(&device_));
  }

  ~NcclTransport() override {
    if (watcher_.joinable()) {
      {
        const Lock lock(mutex_);
        leaving_ = true;
      }
      leave_.notify_one();
      watcher_.join();
    }
    if (comm_ != nullptr) close();
  }

  // Joins the others. Called once, before anything else.
  void open() {
    ncclUniqueId id{};
    if (rank() == 0) check(nccl().get_unique_id(&id), "ncclGetUniqueId");
    const std::string mine = rank() == 0 ? std::string(id.internal, sizeof id.internal) : "";
    const std::string first = control_->gather(mine).front();
    std::memcpy(id.internal, first.data(), std::min(first.size(), sizeof id.internal));
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    if (blocks_ > 0) {
      config.maxCTAs = blocks_;
      // Clusters, four blocks by default, run inside one group of multiprocessors. Those that kernels leave
      // free need not be of one group: a cluster would wait for the end of the kernel that waits for it.
      config.cgaClusterSize = 0;
    }
    const Lock lock(mutex_);
    try {
      check(nccl().comm_init(&comm_, size(), id, rank(), &config), "ncclCommInitRankConfig");
      finish_calls("all GPUs to join");
    } catch (const std::exception& error) {
      end(error.what());
      throw;
    }
    watcher_ = std::thread([this] { watch(); });
  }

  // Exchanges run one after the other on one stream, so one that passes data on comes after its arrival.
  void settle() override {
    const Lock lock(mutex_);
    raise_if_ended();
  }
  bool signals() const override { return true; }
  int multiprocessors() const override { return blocks_; }

  void barrier() override {
    on_host([this] { control_->barrier(); });
  }
  std::vector<std::string> gather(const std::string& mine) override {
    std::vector<std::string> values;
    on_host([&] { values = control_->gather(mine); });
    return values;
  }
  void abort(const std::string& why) noexcept override {
    const Lock lock(mutex_);
    end(why);
  }
  std::string failure() override { return control_->failure(); }

 private:
  void start(std::span<const Message> sends, std::span<const Message> receives, After, Mover) override {
    const Lock lock(mutex_);
    raise_if_ended();
    try {
      enqueue(flights_.emplace_back(), sends, receives);
    } catch (const std::exception& error) {
      end(error.what());
      throw;
    }
  }

  void finish() override {
    const Lock lock(mutex_);
    raise_if_ended();
    while (flights_.front().waited && flights_.front().done.passed()) flights_.pop_front();
    const auto flight =
        std::find_if(flights_.begin(), flights_.end(), [](const Flight& f) { return !f.waited; });
    flight->done.hold(nullptr);
    flight->waited = true;
  }

  void enqueue(Flight& flight, std::span<const Message> sends, std::span<const Message> receives) {
    flight.ready.set(nullptr);
    flight.ready.hold(stream_.get());
    flight.begun.set(stream_.get());
    check(nccl().group_start(), "ncclGroupStart");
    for (const Message& message : sends)
      if (message.bytes > 0) {
        check(nccl().send(message.data, message.bytes, ncclInt8, message.peer, comm_, stream_.get()),
              "ncclSend");
        flight.peers.insert(message.peer);
      }
    for (const Message& message : receives)
      if (message.bytes > 0) {
        check(nccl().recv(message.data, message.bytes, ncclInt8, message.peer, comm_, stream_.get()),
              "ncclRecv");
        flight.peers.insert(message.peer);
      }
    check(nccl().group_end(), "ncclGroupEnd");
    finish_calls(fmt::format("rank {} to take part in an exchange", fmt::join(flight.peers, ", ")));
    const bool signals = std::any_of(receives.begin(), receives.end(),
                                     [](const Message& message) { return message.arrival.flag != nullptr; });
    for (const Message& message : receives)
      if (message.arrival.flag != nullptr)
        cuda::write_value(message.arrival.flag, message.arrival.value, stream_.get());
    flight.done.set(stream_.get());
    // Kernels that wait for flags leave multiprocessors() free. A rank that only sends has no flags, but its
    // launch is of the same kind.
    if (signals || blocks_ > 0) return;
    // If a kernel that fills the GPU started first, NCCL's kernel would have to wait for its end.
    flight.begun.hold(nullptr);
    cuda::hold(kHeadStartCycles, nullptr);
  }

  void check(ncclResult_t status, const char* call) const {
    if (status == ncclSuccess || status == ncclInProgress) return;
    const char* detail = comm_ != nullptr ? nccl().last_error(comm_) : "";
    throw TransportError(fmt::format("rank {}: {}: {}{}{}", rank(), call, nccl().error_text(status),
                                     *detail != '\0' ? ": " : "", detail));
  }

  // Waits until NCCL has finished its work on the host.
  void finish_calls(const std::string& what) const {
    const Clock::time_point begin = Clock::now();
    ncclResult_t state = ncclInProgress;
    for (;;) {
      check(nccl().comm_state(comm_, &state), "ncclCommGetAsyncError");
      check(state, "NCCL");
      if (state == ncclSuccess) return;
      if (const std::string why = control_->failure(); !why.empty()) throw TransportError(why);
      if (seconds_since(begin) > timeout_s())
        throw TransportError(fmt::format("rank {} waited {} s for {}", rank(), timeout_s(), what));
      std::this_thread::yield();
    }
  }

  static double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  }

  // Ends the ring for all ranks, and NCCL's kernels on this one.
  void end(const std::string& why) noexcept {
    control_->abort(why);
    if (comm_ == nullptr) return;
    const ncclResult_t status = nccl().comm_abort(std::exchange(comm_, nullptr));
    if (status != ncclSuccess && status != ncclInProgress)
      std::fprintf(stderr, "ncclCommAbort: %s\n", nccl().error_text(status));
  }

  void raise_if_ended() {
    const std::string why = control_->failure();
    if (why.empty()) return;
    end(why);
    throw TransportError(why);
  }

  template <class Call>
  void on_host(Call call) {
    try {
      call();
    } catch (const TransportError& error) {
      const Lock lock(mutex_);
      end(error.what());
      throw;
    }
  }

  void watch() {
    std::unique_lock lock(mutex_);
    while (comm_ != nullptr && !leave_.wait_for(lock, kWatchInterval, [this] { return leaving_; }))
      if (const std::string why = trouble(); !why.empty()) end(why);
  }

  // Why the ring cannot go on, "" if it can.
  std::string trouble() {
    if (comm_ == nullptr) return "";
    if (std::string why = control_->failure(); !why.empty()) return why;
    try {
      HILBENCH_CUDA(cudaSetDevice(device_));
      ncclResult_t state = ncclSuccess;
      check(nccl().comm_state(comm_, &state), "ncclCommGetAsyncError");
      check(state, "NCCL");
      for (Flight& flight : flights_) {
        if (flight.done.passed()) continue;
        if (!flight.seen_ready && flight.ready.passed()) flight.seen_ready = Clock::now();
        if (flight.seen_ready && seconds_since(*flight.seen_ready) > timeout_s())
          return fmt::format("rank {} waited {} s for an exchange with rank {}", rank(), timeout_s(),
                             fmt::join(flight.peers, ", "));
        break;  // exchanges run one after the other
      }
    } catch (const std::exception& error) {
      return error.what();
    }
    return "";
  }

  // Leaves together with the others, or ends the ring if an exchange is still under way.
  void close() noexcept {
    try {
      for (const Flight& flight : flights_)
        if (!flight.waited || !flight.done.passed())
          throw TransportError(fmt::format("rank {} left while it exchanged data", rank()));
      check(nccl().comm_finalize(comm_), "ncclCommFinalize");
      finish_calls("the other GPUs to leave");
      check(nccl().comm_destroy(std::exchange(comm_, nullptr)), "ncclCommDestroy");
    } catch (const std::exception& error) {
      end(error.what());
    }
  }

  const std::shared_ptr<Transport> control_;
  const int blocks_;
  int device_ = 0;
  cuda::SideStream stream_;
  std::mutex mutex_;  // guards what follows, and NCCL calls
  ncclComm_t comm_ = nullptr;
  std::deque<Flight> flights_;
  std::condition_variable leave_;
  bool leaving_ = false;
  std::thread watcher_;
};

}  // namespace

std::unique_ptr<Transport> nccl_transport(std::shared_ptr<Transport> control, double timeout_s, int blocks) {
  try {
    auto transport = std::make_unique<NcclTransport>(control, timeout_s, blocks);
    transport->open();
    return transport;
  } catch (const std::exception& error) {
    control->abort(error.what());
    throw;
  }
}

}  // namespace hilbench
