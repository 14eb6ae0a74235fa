// Runs an attention problem on any ring and returns its result in position order.
#pragma once

#include <gtest/gtest.h>

#include <mutex>

#include "harness/ring/rank_resources.hpp"
#include "kernels/ring/head_exchange.hpp"
#include "kernels/ring/ring_execution.hpp"
#include "kernels/ring/ring_index.hpp"
#include "tests/kernels/attention_problem.hpp"
#include "tests/kernels/ring/transport/run_ranks.hpp"

namespace hilbench {

// The rows at `positions` of every batch entry of a tensor, as a rank stores them.
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

// Copies a rank's rows of O or LSE to their positions in the whole tensor.
inline void put_back(const Case& work, const Ring& ring, std::int64_t rank, const std::vector<float>& own,
                     std::int64_t row, std::vector<float>& whole) {
  const std::int64_t rows = ring.shards().count(rank);
  for (std::int64_t b = 0; b < work.batch; ++b)
    for (std::int64_t i = 0; i < rows; ++i)
      std::copy_n(own.begin() + (b * rows + i) * row, row,
                  whole.begin() + (b * work.sequence_length + ring.shards().position(rank, i)) * row);
}

// Who clears and rounds rows: kernels and ring devices of the program, or the device below.
enum class RowsClearedBy { device, test };

struct RingRun {
  const AttentionProblem& problem;
  Variant variant;
  const Implementation& kernel;
  RowsClearedBy cleared_by = RowsClearedBy::device;
  ChunkSizes chunks = {};
  // If not null: makes the device that takes the place of that in `resources`.
  std::unique_ptr<RingDevice> (*device)(RingDevice&) = nullptr;
};

// A device in host memory that clears and rounds rows itself, as GPUs do.
class ClearingDevice : public RingDevice {
 public:
  explicit ClearingDevice(RingDevice& other) : other_(other) {}
  std::shared_ptr<void> allocate(std::size_t bytes) override { return other_.allocate(bytes); }
  void load(const PackedShard& packed) override { other_.load(packed); }
  void pack(ConstKvRows from, KvRows to, std::int64_t batch, std::int64_t from_rows,
            std::int64_t head_bytes) override {
    other_.pack(from, to, batch, from_rows, head_bytes);
  }
  void copy_rows(RowsFrom from, RowsTo to, std::size_t row_bytes, std::int64_t rows) override {
    ++copies_;
    other_.copy_rows(from, to, row_bytes, rows);
  }
  std::int64_t copies() const { return copies_; }  // calls of copy_rows()
  bool clears_and_rounds() const override { return true; }
  std::size_t load(const Case& work, std::int64_t rows, const std::vector<RowWrites>& row_writes) override {
    EXPECT_EQ(std::ssize(row_writes), rows * work.heads);
    work_ = work;
    row_writes_.push_back(row_writes);
    return row_writes_.size() - 1;
  }
  void clear(std::size_t part, void* o, float* o_fp32, float* lse) override {
    for_each_row(part, [&](std::size_t row, RowWrites writes) {
      if (writes == RowWrites::stored) return;
      lse[row] = -std::numeric_limits<float>::infinity();
      const auto dim = static_cast<std::size_t>(work_.head_dim);
      const std::size_t bytes = dim * static_cast<std::size_t>(dtype_bytes(work_.dtype));
      if (writes == RowWrites::merged && o_fp32 != nullptr)
        std::fill_n(o_fp32 + row * dim, dim, 0.0f);
      else
        std::memset(static_cast<std::byte*>(o) + row * bytes, 0, bytes);
    });
  }
  void round(std::size_t part, float* o_fp32, void* o) override {
    for_each_row(part, [&](std::size_t row, RowWrites writes) {
      if (writes == RowWrites::untouched) return;
      const auto dim = static_cast<std::size_t>(work_.head_dim);
      narrow(work_.dtype, std::span<const float>(o_fp32 + row * dim, dim),
             static_cast<std::byte*>(o) + row * dim * static_cast<std::size_t>(dtype_bytes(work_.dtype)));
    });
  }

 private:
  template <class Visit>
  void for_each_row(std::size_t part, const Visit& visit) const {
    const std::vector<RowWrites>& writes = row_writes_.at(part);
    for (std::size_t row = 0; row < writes.size() * static_cast<std::size_t>(work_.batch); ++row)
      visit(row, writes[row % writes.size()]);
  }

  RingDevice& other_;
  std::int64_t copies_ = 0;
  Case work_;
  std::vector<std::vector<RowWrites>> row_writes_;  // of each part of the heads
};

// Q, K and V of a rank, and its rows of O and LSE, on its device.
class RankTensors {
 public:
  RankTensors(const AttentionProblem& problem, const Ring& ring, Device& device, std::int64_t rank)
      : work_(problem.work), device_(device) {
    const std::vector<std::int32_t> keys = stored_kv_positions(ring, rank);
    q_ = uploaded(problem.q, work_.heads, stored_q_positions(ring, rank));
    k_ = uploaded(problem.k, work_.kv_heads, keys);
    v_ = uploaded(problem.v, work_.kv_heads, keys);
    rows_ = static_cast<std::size_t>(ring.shards().count(rank) * work_.batch * work_.heads);
    o_ = device_.allocate(elements() * static_cast<std::size_t>(dtype_bytes(work_.dtype)));
    lse_ = device_.allocate(rows_ * sizeof(float));
  }

  Operands operands() const {
    return {q_.data(), k_.data(), v_.data(), o_.data(), static_cast<float*>(lse_.data())};
  }
  void poison() {
    device_.fill(o_, std::byte{0xff});
    device_.fill(lse_, std::byte{0xff});
  }
  AttentionOutput output() {
    AttentionOutput output = {std::vector<float>(elements()), std::vector<float>(rows_)};
    std::vector<std::byte> raw(o_.bytes);
    device_.download(o_, raw.data());
    widen(work_.dtype, raw.data(), output.o);
    device_.download(lse_, output.lse.data());
    return output;
  }

 private:
  std::size_t elements() const { return rows_ * static_cast<std::size_t>(work_.head_dim); }
  Buffer uploaded(const std::vector<float>& tensor, std::int64_t heads,
                  const std::vector<std::int32_t>& positions) {
    const std::vector<std::byte> bytes = rows_at(tensor, work_, heads, positions);
    Buffer buffer = device_.allocate(bytes.size());
    device_.upload(bytes.data(), buffer);
    return buffer;
  }

  const Case& work_;
  Device& device_;
  Buffer q_, k_, v_, o_, lse_;
  std::size_t rows_ = 0;  // of one head
};

// One rank's part of a run, in its own thread.
inline void run_rank(const RingRun& run, RankResources& resources, int rank, int threads, std::mutex& mutex,
                     AttentionOutput& whole) {
  const Case& work = run.problem.work;
  Transport& transport = resources.transport(rank);
  Variant variant = run.variant;
  // The plan counts what it sends heads from if the transport moves no lines, whatever the variant says.
  variant.ring.outer_link = OuterLink::direct;
  if (!transport.strides()) variant.ring.transport = TransportKind::nccl;
  const Ring ring(work, variant);
  RankTensors tensors(run.problem, ring, resources.device(rank), rank);
  ClearingDevice clearing(resources.ring_device(rank));
  const auto made = run.device != nullptr ? run.device(resources.ring_device(rank)) : nullptr;
  RingDevice& own_device = made != nullptr ? *made : resources.ring_device(rank);
  RingDevice& device = run.cleared_by == RowsClearedBy::test ? clearing : own_device;
  RingExecution execution(ring, run.kernel, device, transport, threads, run.chunks);
  const RankBytes planned = ring.memory(rank);
  EXPECT_EQ(execution.buffer_bytes(), planned.buffers + planned.fp32_output);
  const std::uint64_t sent_before = transport.bytes_sent();
  // Twice, because one run must not change the next. The first one has K and V exchanged, so that what it
  // leaves in buffers is wrong for the second.
  for (int time = 0; time < 2; ++time) {
    tensors.poison();
    resources.start(rank);
    Operands operands = tensors.operands();
    if (time == 0) std::swap(operands.k, operands.v);
    execution.run(operands);
    resources.stop(rank);
    execution.expect_complete();
  }
  EXPECT_EQ(static_cast<double>(transport.bytes_sent() - sent_before), 2 * ring.sent_bytes(rank));
  const bool all_have_rows = work.sequence_length >= 2 * ring.ranks();  // copies of no rows are left out
  if (run.cleared_by == RowsClearedBy::test && all_have_rows && ring.splits_heads())
    EXPECT_EQ(clearing.copies(), 2 * ring.head_parts() * HeadExchange::copies(ring));
  const AttentionOutput own = tensors.output();
  const std::lock_guard lock(mutex);
  put_back(work, ring, rank, own.o, work.heads * work.head_dim, whole.o);
  put_back(work, ring, rank, own.lse, work.heads, whole.lse);
}

// Runs one after another, with all ranks of `resources`.
inline std::vector<AttentionOutput> run_rings(const std::vector<RingRun>& runs, RankResources& resources,
                                              int threads) {
  std::vector<AttentionOutput> outputs;
  for (const RingRun& run : runs) {
    const std::size_t elements = run.problem.q.size();
    outputs.push_back({std::vector<float>(elements),
                       std::vector<float>(elements / static_cast<std::size_t>(run.problem.work.head_dim))});
  }
  std::mutex mutex;
  expect_no_errors(run_ranks(resources.ranks(), [&](int rank) {
    try {
      resources.join(rank);
      for (std::size_t i = 0; i < runs.size(); ++i)
        run_rank(runs[i], resources, rank, threads, mutex, outputs[i]);
    } catch (const std::exception& error) {
      resources.abort(rank, error.what());
      resources.leave(rank);
      throw;
    }
    resources.leave(rank);
  }));
  return outputs;
}

}  // namespace hilbench
