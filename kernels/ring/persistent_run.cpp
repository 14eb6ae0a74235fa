#include "kernels/ring/persistent_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <stdexcept>

#include "kernels/base/process/nvtx.hpp"
#include "kernels/case/pattern.hpp"
#include "kernels/ring/rank_case.hpp"
#include "kernels/ring/ring_walk.hpp"

namespace hilbench {

int nccl_blocks(const Ring& ring) {
  // Of H100s, all of whose multiprocessors compute dense attention, and of NCCL 2.28 that sends chunks of K
  // and V from each of four to the next over NVLink.
  constexpr int kMultiprocessors = 132;
  constexpr double kFlopsPerSecond = 5e12;  // of a multiprocessor
  struct Choice {
    int blocks;  // NCCL has powers of 2
    double bytes_per_second;
  };
  constexpr Choice kChoices[] = {{4, 19e9}, {8, 34e9}, {16, 65e9}, {32, 95e9}};
  if (!ring.persistent()) return 0;
  const auto chunks =
      static_cast<double>(shard_chunks(ring, ChunkShape::whole_heads).count(ring.work().batch));
  const auto ranks = static_cast<double>(ring.ranks());
  int best = 0;
  double least_s = 0;
  for (const auto& [blocks, bytes_per_second] : kChoices) {
    // Tiles of the first heads wait for the first chunk, and compute while others are on their way.
    const double exchange_s = ring.sent_bytes() / ranks / bytes_per_second;
    const double compute_s = flops(ring.work()) / ranks / (kFlopsPerSecond * (kMultiprocessors - blocks));
    const double seconds = std::max(exchange_s, compute_s) + exchange_s / chunks;
    if (best != 0 && seconds >= least_s) break;
    best = blocks;
    least_s = seconds;
  }
  return best;
}

PersistentRun::PersistentRun(const Ring& ring, const Implementation& kernel, RingDevice& device,
                             Transport& transport, std::int64_t tile_rows, const ChunkSizes& sizes)
    : ring_(ring),
      device_(device),
      transport_(transport),
      rank_(transport.rank()),
      steps_(ring.steps(rank_)),
      heads_first_(!transport.strides()),
      chunks_(shard_chunks(ring, heads_first_ ? ChunkShape::whole_heads : ChunkShape::lines, sizes)),
      buffers_(ring_, rank_, device) {
  if (kernel.prepare_walk == nullptr || !device.clears_and_rounds() || !transport.signals())
    throw std::logic_error("a persistent launch without its kernel, device or transport");
  for (const RingStep& step : steps_)
    for (const ShardMove& move : step.receives) source_of_buffer_.push_back(move.source);
  for (const ChunkExchange& exchange : chunk_exchanges(ring, chunks_)) {
    const RingStep& step = steps_[static_cast<std::size_t>(exchange.step)];
    if (!step.sends.empty() || !step.receives.empty()) exchanges_.push_back(exchange);
  }
  allocate_buffers();
  prepare_kernel(kernel, tile_rows);
}

// If the ring has failed, the launch may still run.
PersistentRun::~PersistentRun() {
  try {
    device_.synchronize();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
}

void PersistentRun::allocate_buffers() {
  const Case& work = ring_.work();
  const auto row = static_cast<double>(work.batch * work.kv_heads * work.head_dim * dtype_bytes(work.dtype));
  double received = 0;
  for (const std::int64_t rows : ring_.buffer_rows(rank_)) received += static_cast<double>(rows) * row;
  received_k_ = static_cast<std::byte*>(buffers_.allocate(received));
  received_v_ = static_cast<std::byte*>(buffers_.allocate(received));
  buffers_.allocate_packed(heads_first_);
  if (ring_.merges() && work.dtype != Dtype::fp32 && ring_.computed_rows(rank_) > 0)
    o_fp32_ = static_cast<float*>(buffers_.allocate(
        4 * static_cast<double>(ring_.computed_rows(rank_) * work.batch * work.heads * work.head_dim)));
  if (!source_of_buffer_.empty())
    arrived_ = std::static_pointer_cast<std::uint32_t>(
        device_.allocate(source_of_buffer_.size() * sizeof(std::uint32_t)));
  gave_up_ = device_.host_word();
}

void PersistentRun::prepare_kernel(const Implementation& kernel, std::int64_t tile_rows) {
  walk_ = ring_walk(ring_, rank_, tile_rows, kernel.causal_traversal);
  walk_.chunks = chunks_;
  walk_.heads_first = heads_first_;
  std::vector<RowWrites> row_writes(
      static_cast<std::size_t>(ring_.computed_rows(rank_) * ring_.work().heads));
  bool cuts = false;
  for (WalkBranch& branch : walk_.branches) {
    note_row_writes(branch, ring_.work().heads, row_writes);
    cuts = cuts || cuts_keys(branch);
  }
  std::erase_if(walk_.branches, [](const WalkBranch& branch) { return branch.tiles.empty(); });
  on_device_ = device_.load(computed_case(ring_, rank_), ring_.computed_rows(rank_), row_writes);
  if (walk_.branches.empty()) return;
  execution_ = kernel.prepare_walk(
      piece_case(ring_, rank_, cuts ? Mask::causal : Mask::full), ring_.variant().kernel(),
      {.timeout_s = transport_.timeout_s(), .spared_multiprocessors = transport_.multiprocessors()});
  execution_->load(walk_);
}

void PersistentRun::add(const Operands& own, const ShardMove& move, std::int64_t number, bool sent,
                        std::vector<Transport::Message>& to) const {
  const ShardChunk chunk = shard_chunk(ring_, chunks_, move.source, number);
  if (chunk.rows == 0) return;
  const bool of_own = move.buffer == kOwnRows;
  add_parts(of_own ? sent_k(own) : received_k_, move, chunk, to);
  add_parts(of_own ? sent_v(own) : received_v_, move, chunk, to);
  if (!sent)
    to.back().arrival = {.flag = arrived_.get() + move.buffer,
                         .value = first() + static_cast<std::uint32_t>(number) + 1};
}

// Heads that lie one after the other at both ends are one message: both ends have room for as many rows as
// the shard has.
void PersistentRun::add_parts(const std::byte* tensor, const ShardMove& move, const ShardChunk& chunk,
                              std::vector<Transport::Message>& to) const {
  const Case& work = ring_.work();
  const bool of_own = move.buffer == kOwnRows;
  const std::int64_t longest = ring_.longest_sent_rows(), room = of_own ? ring_.sent_rows(rank_) : longest;
  const std::int64_t entry = (of_own ? 0 : move.buffer * work.batch) + chunk.batch;
  const auto head_bytes = static_cast<std::size_t>(work.head_dim * dtype_bytes(work.dtype));
  const auto rows = static_cast<std::size_t>(chunk.rows);
  const std::int64_t at_once = !heads_first_ || chunk.rows == longest ? chunk.end_head - chunk.first_head : 1;
  for (std::int64_t head = chunk.first_head; head < chunk.end_head; head += at_once) {
    const std::int64_t row =
        heads_first_ ? (entry * work.kv_heads + head) * room : entry * room * work.kv_heads + head;
    Transport::Message& message = to.emplace_back(Transport::Message{
        .peer = static_cast<int>(move.peer),
        .data = const_cast<std::byte*>(tensor + static_cast<std::size_t>(row) * head_bytes),
        .bytes = rows * static_cast<std::size_t>(at_once) * head_bytes});
    if (!heads_first_ && at_once < work.kv_heads) {
      message.lines = rows;
      message.step = static_cast<std::size_t>(work.kv_heads) * head_bytes;
    }
  }
}

const std::byte* PersistentRun::sent_k(const Operands& own) const {
  return buffers_.packed_k() != nullptr ? buffers_.packed_k() : static_cast<const std::byte*>(own.k);
}

const std::byte* PersistentRun::sent_v(const Operands& own) const {
  return buffers_.packed_v() != nullptr ? buffers_.packed_v() : static_cast<const std::byte*>(own.v);
}

// Higher in each run.
std::uint32_t PersistentRun::first() const {
  return exchanged_ * (static_cast<std::uint32_t>(chunks_.count(ring_.work().batch)) + 1);
}

void PersistentRun::post_all(const Operands& own) {
  for (const ChunkExchange& exchange : exchanges_) {
    std::vector<Transport::Message> sends, receives;
    const RingStep& step = steps_[static_cast<std::size_t>(exchange.step)];
    for (const ShardMove& send : step.sends) add(own, send, exchange.chunk, true, sends);
    for (const ShardMove& receive : step.receives) add(own, receive, exchange.chunk, false, receives);
    if (exchange.after == Transport::After::arrivals) transport_.settle();
    transport_.post(sends, receives, exchange.after);
  }
}

void PersistentRun::launch(const Operands& own) {
  const NvtxRange in_launch("persistent launch");
  Operands operands = own;
  operands.o_fp32 = o_fp32_;
  if (o_fp32_ != nullptr) operands.o = nullptr;
  execution_->run(operands,
                  {received_k_, received_v_, arrived_.get(), first(), transport_.ended(), gave_up_.get()});
}

// The ring ends before the caller frees what messages may still read.
void PersistentRun::run(const Operands& own, RingPart part) {
  try {
    enqueue(own, part);
  } catch (const std::exception& error) {
    transport_.abort(error.what());
    throw;
  }
}

void PersistentRun::enqueue(const Operands& own, RingPart part) {
  const bool exchanges = part != RingPart::computation, computes = part != RingPart::exchange;
  if (exchanges) {
    const NvtxRange in_posts("post");
    buffers_.pack(own);
    ++exchanged_;
    post_all(own);
  }
  if (computes) device_.clear(on_device_, own.o, o_fp32_, own.lse);  // while the exchange begins
  if (exchanges) transport_.settle();
  if (computes && execution_ != nullptr) launch(own);
  if (computes && o_fp32_ != nullptr) device_.round(on_device_, o_fp32_, own.o);
  if (!exchanges) return;
  for (std::size_t i = 0; i < exchanges_.size(); ++i) transport_.wait();
}

void PersistentRun::expect_complete() const {
  device_.synchronize();
  const std::uint32_t missed = std::atomic_ref(*gave_up_).load();
  if (missed == 0) return;
  const std::string why = fmt::format("rank {}: its kernel waited {} s for keys of rank {}", rank_,
                                      transport_.timeout_s(), source_of_buffer_.at(missed - 1));
  transport_.abort(why);
  throw TransportError(transport_.failure());
}

}  // namespace hilbench
