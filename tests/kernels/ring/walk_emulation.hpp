// A kernel that walks the keys of several sources, on processors: it runs beside the thread of its rank, as a
// launch on a GPU does, and waits for the same flags.
#pragma once

#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "kernels/case/rounding.hpp"
#include "tests/kernels/ring/ring_problem.hpp"

namespace hilbench {

// Runs what is enqueued, in sequence, on a thread of its own.
class EmulatedStream {
 public:
  EmulatedStream() : thread_([this] { serve(); }) {}
  ~EmulatedStream() {
    enqueue({});
    thread_.join();
  }
  void enqueue(std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(work));
    changed_.notify_all();
  }
  void synchronize() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return queue_.empty(); });
  }
  // Of the calling thread, which is that of a rank. A test may give several ranks one stream, as on one GPU.
  static std::shared_ptr<EmulatedStream>& own() {
    thread_local std::shared_ptr<EmulatedStream> stream = std::make_shared<EmulatedStream>();
    return stream;
  }

 private:
  void serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return !queue_.empty(); });
      const std::function<void()> work = queue_.front();
      if (work == nullptr) return;
      lock.unlock();
      work();
      lock.lock();
      queue_.pop_front();
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;  // the first one is running
  std::thread thread_;
};

class EmulatedWalk final : public WalkExecution {
 public:
  EmulatedWalk(const Case& work, const WalkLimits& limits) : work_(work), limits_(limits) {}
  // What the calling thread, that of a rank, does before its launches: for faults.
  static std::function<void()>& before_launch() {
    thread_local std::function<void()> does;
    return does;
  }
  void load(const Walk& walk) override { walk_ = &walk; }
  void run(const Operands& operands, const ReceivedShards& received) override {
    if (before_launch() != nullptr) before_launch()();
    stream_->enqueue([=, this] {
      for (const WalkBranch& branch : walk_->branches)
        for (const IndexTile& tile : branch.tiles)
          for (std::int32_t i = 0; i < tile.query_count; ++i)
            attend(operands, received, branch, tile, tile.query_row + i * tile.query_step);
    });
  }

 private:
  void attend(const Operands& operands, const ReceivedShards& received, const WalkBranch& branch,
              const IndexTile& tile, std::int32_t row) {
    const std::int64_t q_slot = walk_->q_slots.empty() ? row : walk_->q_slots[static_cast<std::size_t>(row)];
    const std::vector<float> q =
        elements(operands.q, (tile.batch * walk_->q_rows + q_slot) * work_.heads + tile.head);
    std::vector<double> sum(q.size(), 0.0);
    double weights = 0, top = -INFINITY;
    for (std::int32_t s = 0; s < tile.stretches; ++s) {
      const KeyStretch& keys = branch.stretches[static_cast<std::size_t>(tile.key_begin + s)];
      for (std::int32_t j = 0; j < keys.key_count; ++j) {
        const auto key = static_cast<std::size_t>(keys.key_begin + j);
        if (j >= keys.unmasked && work_.mask == Mask::causal && branch.key_position[key] > row) continue;
        const std::int64_t slot = branch.key_slot[key];
        if (keys.source > 0) wait(received, keys.source, tile);
        const std::int64_t at = keys.source == 0
                                    ? (tile.batch * walk_->kv_rows + slot) * work_.kv_heads + tile.kv_head
                                    : received_row(keys.source, tile, slot);
        const void* k = keys.source == 0 ? operands.k : received.k;
        const void* v = keys.source == 0 ? operands.v : received.v;
        const std::vector<float> key_row = elements(k, at);
        double score = 0;
        for (std::size_t d = 0; d < q.size(); ++d) score += double{q[d]} * key_row[d];
        score /= std::sqrt(static_cast<double>(work_.head_dim));
        const double shrink = score > top ? std::exp(top - score) : 1.0;
        top = std::max(top, score);
        const double weight = std::exp(score - top);
        const std::vector<float> value = elements(v, at);
        for (std::size_t d = 0; d < q.size(); ++d) sum[d] = sum[d] * shrink + weight * value[d];
        weights = weights * shrink + weight;
      }
    }
    store(operands, tile, row, sum, weights, top);
  }

  std::int64_t received_row(std::int32_t source, const IndexTile& tile, std::int64_t slot) const {
    const std::int64_t entry = (source - 1) * work_.batch + tile.batch;
    return walk_->heads_first ? (entry * work_.kv_heads + tile.kv_head) * walk_->received_rows + slot
                              : (entry * walk_->received_rows + slot) * work_.kv_heads + tile.kv_head;
  }

  // Waits as a tile does, until the chunk of its head has arrived.
  void wait(const ReceivedShards& received, std::int32_t source, const IndexTile& tile) {
    const ShardChunks& chunks = walk_->chunks;
    const std::int64_t chunk = tile.batch * chunks.head_chunks + tile.kv_head / chunks.heads;
    const std::atomic_ref<std::uint32_t> flag(received.arrived[source - 1]), gave_up(*received.gave_up);
    const auto begin = std::chrono::steady_clock::now();
    while (gave_up.load() == 0 && static_cast<std::int32_t>(flag.load() - received.first) < chunk + 1) {
      std::this_thread::sleep_for(std::chrono::microseconds(20));
      const bool ended = received.ended != nullptr &&
                         std::atomic_ref(*const_cast<std::uint32_t*>(received.ended)).load() != 0;
      if (ended ||
          std::chrono::steady_clock::now() - begin > std::chrono::duration<double>(limits_.timeout_s))
        gave_up = static_cast<std::uint32_t>(source);
    }
  }

  std::vector<float> elements(const void* tensor, std::int64_t row) const {
    std::vector<float> values(static_cast<std::size_t>(work_.head_dim));
    const std::int64_t bytes = work_.head_dim * dtype_bytes(work_.dtype);
    widen(work_.dtype, static_cast<const std::byte*>(tensor) + row * bytes, std::span(values));
    return values;
  }

  void store(const Operands& operands, const IndexTile& tile, std::int32_t row, std::vector<double> sum,
             double weights, double top) const {
    const std::int64_t at = (tile.batch * walk_->q_rows + row) * work_.heads + tile.head;
    double lse = weights > 0 ? top + std::log(weights) : -INFINITY;
    for (double& x : sum) x = weights > 0 ? x / weights : 0;
    float* const fp32 = operands.o_fp32 != nullptr ? operands.o_fp32 + at * work_.head_dim : nullptr;
    const auto o = [&] {
      return static_cast<std::byte*>(operands.o) + at * work_.head_dim * dtype_bytes(work_.dtype);
    };
    std::vector<float> result(sum.begin(), sum.end());
    if (tile.merge) {
      const double before = operands.lse[at], both = std::max(before, lse);
      if (both == -INFINITY) return;
      const double a = std::exp(before - both), b = std::exp(lse - both);
      std::vector<float> earlier(sum.size());
      if (fp32 != nullptr)
        std::copy_n(fp32, earlier.size(), earlier.begin());
      else
        widen(work_.dtype, o(), std::span(earlier));
      for (std::size_t d = 0; d < sum.size(); ++d)
        result[d] = static_cast<float>((earlier[d] * a + sum[d] * b) / (a + b));
      lse = both + std::log(a + b);
    }
    operands.lse[at] = static_cast<float>(lse);
    if (fp32 != nullptr)
      std::copy(result.begin(), result.end(), fp32);
    else
      narrow(work_.dtype, std::span<const float>(result), o());
  }

  const Case work_;
  const WalkLimits limits_;
  const Walk* walk_ = nullptr;
  const std::shared_ptr<EmulatedStream> stream_ = EmulatedStream::own();
};

// Does what is enqueued on a GPU on the stream.
class StreamedDevice final : public ClearingDevice {
 public:
  using ClearingDevice::ClearingDevice;
  void round(std::size_t part, float* o_fp32, void* o) override {
    EmulatedStream::own()->enqueue([=, this] { ClearingDevice::round(part, o_fp32, o); });
  }
  void synchronize() override { EmulatedStream::own()->synchronize(); }
  std::shared_ptr<std::uint32_t> host_word() override { return std::make_shared<std::uint32_t>(0); }
  static std::unique_ptr<RingDevice> make(RingDevice& other) {
    return std::make_unique<StreamedDevice>(other);
  }
};

// Its messages come late, so that whoever does not wait for them reads something else. `lines`: they may have
// several.
class LateTransport final : public Transport {
 public:
  LateTransport(std::unique_ptr<Transport> other, bool lines)
      : Transport(other->rank(), other->size(), other->timeout_s()),
        other_(std::move(other)),
        lines_(lines && other_->strides()) {}
  void settle() override { other_->settle(); }
  bool signals() const override { return other_->signals(); }
  bool strides() const override { return lines_; }
  const std::uint32_t* ended() const override { return other_->ended(); }
  void barrier() override { other_->barrier(); }
  std::vector<std::string> gather(const std::string& mine) override { return other_->gather(mine); }
  void abort(const std::string& why) noexcept override { other_->abort(why); }
  std::string failure() override { return other_->failure(); }

 private:
  void start(std::span<const Message> sends, std::span<const Message> receives, After after,
             Mover mover) override {
    other_->post(sends, receives, after, mover);
    late_ = true;
  }
  void finish() override {
    if (std::exchange(late_, false)) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    other_->wait();
  }

  const std::unique_ptr<Transport> other_;
  const bool lines_;
  bool late_ = false;
};

inline Implementation emulated_walk_kernel() {
  return {.name = "emulated_walk",
          .tile_rows = [](const Case&) { return std::int64_t{7}; },
          .prepare_walk = [](const Case& work, const KernelChoice&, const WalkLimits& limits)
              -> std::unique_ptr<WalkExecution> { return std::make_unique<EmulatedWalk>(work, limits); }};
}

}  // namespace hilbench
