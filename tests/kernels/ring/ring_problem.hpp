// An attention problem on a ring of any kind, its result put together in position order.
#pragma once

#include <gtest/gtest.h>

#include <mutex>

#include "harness/ring/rank_devices.hpp"
#include "kernels/ring/ring_execution.hpp"
#include "kernels/ring/ring_index.hpp"
#include "tests/kernels/attention_problem.hpp"
#include "tests/kernels/ring/transport/run_ranks.hpp"

namespace hilbench {

// Rows `positions` of every batch entry of a tensor in position order, as a rank stores them.
inline std::vector<std::byte> rows_at(const std::vector<float>& tensor, const Case& work, std::int64_t heads,
                                      const std::vector<std::int32_t>& positions) {
  const std::int64_t row = heads * work.head_dim;
  std::vector<float> taken;
  for (std::int64_t b = 0; b < work.batch; ++b)
    for (const std::int32_t t : positions) {
      const auto first = tensor.begin() + (b * work.sequence_length + t) * row;
      taken.insert(taken.end(), first, first + row);
    }
  std::vector<std::byte> bytes(taken.size() * static_cast<std::size_t>(dtype_bytes(work.dtype)));
  narrow(work.dtype, taken, bytes.data());
  return bytes;
}

// What a rank's rows of O and LSE hold, at their positions in the whole.
inline void put_back(const Case& work, const Ring& ring, std::int64_t rank, const std::vector<float>& own,
                     std::int64_t row, std::vector<float>& whole) {
  const std::int64_t rows = ring.shards().count(rank);
  for (std::int64_t b = 0; b < work.batch; ++b)
    for (std::int64_t i = 0; i < rows; ++i)
      std::copy_n(own.begin() + (b * rows + i) * row, row,
                  whole.begin() + (b * work.sequence_length + ring.shards().position(rank, i)) * row);
}

enum class RowsFinishedBy { bed, test };

struct RingRun {
  const AttentionProblem& problem;
  Variant variant;
  const Implementation& kernel;
  RowsFinishedBy finished_by = RowsFinishedBy::bed;
};

// A device in host memory that clears and rounds rows itself, as GPUs do.
class FinishingDevice final : public RingDevice {
 public:
  explicit FinishingDevice(RingDevice& other) : other_(other) {}
  std::shared_ptr<void> allocate(std::size_t bytes) override { return other_.allocate(bytes); }
  void load(const PackedShard& packed) override { other_.load(packed); }
  void pack(const void* from, void* to, std::int64_t batch, std::int64_t from_rows,
            std::int64_t head_bytes) override {
    other_.pack(from, to, batch, from_rows, head_bytes);
  }
  bool clears_and_rounds() const override { return true; }
  void load(const Case& work, std::int64_t rows, const std::vector<RowWrites>& fates) override {
    ASSERT_EQ(std::ssize(fates), rows * work.heads);
    work_ = work;
    fates_ = fates;
  }
  void clear(void* o, float* o_fp32, float* lse) override {
    for_each_row([&](std::size_t row, RowWrites fate) {
      if (fate == RowWrites::stored) return;
      lse[row] = -std::numeric_limits<float>::infinity();
      const auto dim = static_cast<std::size_t>(work_.head_dim);
      const std::size_t bytes = dim * static_cast<std::size_t>(dtype_bytes(work_.dtype));
      if (fate == RowWrites::merged && o_fp32 != nullptr)
        std::fill_n(o_fp32 + row * dim, dim, 0.0f);
      else
        std::memset(static_cast<std::byte*>(o) + row * bytes, 0, bytes);
    });
  }
  void round(float* o_fp32, void* o) override {
    for_each_row([&](std::size_t row, RowWrites fate) {
      if (fate == RowWrites::untouched) return;
      const auto dim = static_cast<std::size_t>(work_.head_dim);
      narrow(work_.dtype, std::span<const float>(o_fp32 + row * dim, dim),
             static_cast<std::byte*>(o) + row * dim * static_cast<std::size_t>(dtype_bytes(work_.dtype)));
    });
  }

 private:
  template <class Visit>
  void for_each_row(const Visit& visit) const {
    for (std::size_t row = 0; row < fates_.size() * static_cast<std::size_t>(work_.batch); ++row)
      visit(row, fates_[row % fates_.size()]);
  }

  RingDevice& other_;
  Case work_;
  std::vector<RowWrites> fates_;
};

// One rank's part of a run, in its own thread.
inline void run_rank(const RingRun& run, RankResources& bed, int rank, int threads, std::mutex& mutex,
                     AttentionOutput& whole) {
  const AttentionProblem& problem = run.problem;
  const Case& work = problem.work;
  const Ring ring(work, run.variant);
  Device& device = bed.device(rank);
  Transport& transport = bed.transport(rank);
  const auto stored = [&](const std::vector<float>& tensor, std::int64_t heads,
                          const std::vector<std::int32_t>& positions) {
    const std::vector<std::byte> bytes = rows_at(tensor, work, heads, positions);
    Buffer buffer = device.allocate(bytes.size());
    device.upload(bytes.data(), buffer);
    return buffer;
  };
  const std::vector<std::int32_t> keys = stored_kv_positions(ring, rank);
  const Buffer q = stored(problem.q, work.heads, stored_q_positions(ring, rank));
  const Buffer k = stored(problem.k, work.kv_heads, keys), v = stored(problem.v, work.kv_heads, keys);
  std::vector<float> lse(static_cast<std::size_t>(ring.shards().count(rank) * work.batch * work.heads));
  std::vector<float> o(lse.size() * static_cast<std::size_t>(work.head_dim));
  Buffer o_rows = device.allocate(o.size() * static_cast<std::size_t>(dtype_bytes(work.dtype)));
  Buffer lse_rows = device.allocate(lse.size() * sizeof(float));
  FinishingDevice finishing(bed.ring_device(rank));
  RingDevice& ring_device = run.finished_by == RowsFinishedBy::test ? finishing : bed.ring_device(rank);
  RingExecution execution(ring, run.kernel, ring_device, transport, threads);
  const RankBytes planned = ring.memory(rank);
  EXPECT_EQ(execution.buffer_bytes(), planned.buffers + planned.fp32_output);
  const std::uint64_t sent_before = transport.bytes_sent();
  // Twice: what a run leaves behind must not change the next.
  for (int time = 0; time < 2; ++time) {
    device.fill(o_rows, std::byte{0xff});
    device.fill(lse_rows, std::byte{0xff});
    bed.start(rank);
    execution.run({q.data(), k.data(), v.data(), o_rows.data(), static_cast<float*>(lse_rows.data())});
    bed.stop(rank);
  }
  EXPECT_EQ(static_cast<double>(transport.bytes_sent() - sent_before), 2 * ring.sent_bytes(rank));
  std::vector<std::byte> raw(o_rows.bytes);
  device.download(o_rows, raw.data());
  widen(work.dtype, raw.data(), o);
  device.download(lse_rows, lse.data());
  const std::lock_guard lock(mutex);
  put_back(work, ring, rank, o, work.heads * work.head_dim, whole.o);
  put_back(work, ring, rank, lse, work.heads, whole.lse);
}

// One run after the other, of as many ranks as the bed has.
inline std::vector<AttentionOutput> run_rings(const std::vector<RingRun>& runs, RankResources& bed,
                                              int threads) {
  std::vector<AttentionOutput> outputs;
  for (const RingRun& run : runs) {
    const std::size_t elements = run.problem.q.size();
    outputs.push_back({std::vector<float>(elements),
                       std::vector<float>(elements / static_cast<std::size_t>(run.problem.work.head_dim))});
  }
  std::mutex mutex;
  expect_no_errors(run_ranks(bed.ranks(), [&](int rank) {
    try {
      bed.join(rank);
      for (std::size_t i = 0; i < runs.size(); ++i) run_rank(runs[i], bed, rank, threads, mutex, outputs[i]);
    } catch (const std::exception& error) {
      bed.abort(rank, error.what());
      bed.leave(rank);
      throw;
    }
    bed.leave(rank);
  }));
  return outputs;
}

}  // namespace hilbench
