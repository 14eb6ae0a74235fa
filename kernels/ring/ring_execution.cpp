#include "kernels/ring/ring_execution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "kernels/base/process/nvtx.hpp"
#include "kernels/ring/rank_case.hpp"
#include "kernels/ring/ring_index.hpp"

namespace hilbench {
namespace {

// If every query of a piece sees all keys of its tile, the piece needs no mask.
Mask mask_of(const Index& index) {
  return std::any_of(index.branches.begin(), index.branches.end(), cuts_keys) ? Mask::causal : Mask::full;
}

}  // namespace

double hidden_share(double computation_ns, double exchange_ns, double total_ns) {
  if (exchange_ns <= 0) return 1;
  return std::clamp((computation_ns + exchange_ns - total_ns) / exchange_ns, 0.0, 1.0);
}

RingExecution::RingExecution(const Ring& ring, const Implementation& kernel, RingDevice& device,
                             Transport& transport, int threads, const ChunkSizes& sizes)
    : ring_(ring),
      kernel_(kernel),
      device_(device),
      transport_(transport),
      rank_(transport.rank()),
      threads_(threads),
      tile_rows_(rows_of_tile(ring, rank_, kernel)),
      memory_(ring_, rank_, device) {
  if (ring_.persistent()) {
    persistent_ = std::make_unique<PersistentRun>(ring_, kernel_, device_, transport_, tile_rows_, sizes);
    return;
  }
  allocate_buffers();
  add_parts();
  for (const RingStep& step : ring_.steps(rank_)) {
    Step& made = steps_.emplace_back(Step{.sends = step.sends, .receives = step.receives});
    for (const RingStep::Source& source : step.sources) add_piece(made, source);
  }
  std::vector<Piece*> last(parts_.size(), nullptr);
  for (Step& step : steps_)
    for (Piece& piece : step.pieces) last[static_cast<std::size_t>(piece.source.head_part)] = &piece;
  for (Piece* const piece : last)
    if (piece != nullptr) piece->last = true;
  if (device_.clears_and_rounds())
    for (Part& part : parts_)
      part.on_device = device_.load(computed_case(ring_, rank_), ring_.computed_rows(rank_), part.row_writes);
}

void RingExecution::allocate_buffers() {
  const Case& work = ring_.work();
  const auto kv_row =
      static_cast<double>(2 * work.batch * work.kv_heads * work.head_dim * dtype_bytes(work.dtype));
  for (const std::int64_t rows : ring_.buffer_rows(rank_))
    buffers_.push_back(memory_.allocate(static_cast<double>(rows) * kv_row));
  memory_.allocate_packed();
}

void RingExecution::add_parts() {
  const std::int64_t rows = ring_.computed_rows(rank_);
  const std::int64_t outputs = rows * ring_.work().batch * ring_.piece_heads() * ring_.work().head_dim;
  for (std::int64_t number = 0; number < ring_.head_parts(); ++number) {
    Part& part = parts_.emplace_back();
    if (ring_.splits_heads())
      part.heads = std::make_unique<HeadExchange>(ring_, rank_, number, device_,
                                                  [this](double bytes) { return memory_.allocate(bytes); });
    if (ring_.merges() && ring_.work().dtype != Dtype::fp32 && outputs > 0)
      part.o_fp32 = static_cast<float*>(memory_.allocate(4 * static_cast<double>(outputs)));
    if (device_.clears_and_rounds())
      part.row_writes.resize(static_cast<std::size_t>(rows * ring_.piece_heads()));
  }
}

void RingExecution::add_piece(Step& step, const RingStep::Source& source) {
  const FirstPiece first = source.rank == rank_ ? FirstPiece::yes : FirstPiece::no;
  Piece piece{.source = source};
  piece.index = ring_index(ring_, rank_, source.rank, first, tile_rows_,
                           {.head_part = source.head_part, .causal = kernel_.causal_traversal});
  if (device_.clears_and_rounds())
    for (BranchIndex& branch : piece.index.branches)
      note_row_writes(branch, ring_.piece_heads(),
                      parts_[static_cast<std::size_t>(source.head_part)].row_writes);
  std::erase_if(piece.index.branches, [](const BranchIndex& branch) { return branch.tiles.empty(); });
  if (piece.index.branches.empty()) return;
  const Case work = piece_case(ring_, rank_, mask_of(piece.index));
  piece.execution = kernel_.prepare(work, ring_.variant().kernel(), threads_);
  piece.execution->load(piece.index);
  step.pieces.push_back(std::move(piece));
}

std::size_t RingExecution::row_bytes() const {
  const Case& work = ring_.work();
  return static_cast<std::size_t>(work.kv_heads * work.head_dim * dtype_bytes(work.dtype));
}

std::size_t RingExecution::sent_bytes(std::int64_t source) const {
  return static_cast<std::size_t>(ring_.sent_rows(source) * ring_.work().batch) * row_bytes();
}

KvRows RingExecution::rows_of(const Operands& own, std::int64_t source, int buffer, bool sent) const {
  if (buffer == kOwnRows) {
    if (sent && memory_.packed_k() != nullptr) return {memory_.packed_k(), memory_.packed_v()};
    return {const_cast<void*>(own.k), const_cast<void*>(own.v)};
  }
  void* k = buffers_[static_cast<std::size_t>(buffer)];
  return {k, static_cast<std::byte*>(k) + sent_bytes(source)};
}

// Calls prepare(part) once for each part of the heads of which `moves` carry the payload.
template <class Prepare>
void RingExecution::for_parts(const std::vector<ShardMove>& moves, Payload payload, const Prepare& prepare) {
  std::int64_t before = -1;
  for (const ShardMove& move : moves)
    if (move.payload == payload && std::exchange(before, move.part) != move.part)
      prepare(parts_[static_cast<std::size_t>(move.part)]);
}

void RingExecution::post(const Operands& own, const Step& step) {
  for_parts(step.sends, Payload::heads, [&](const Part& part) { part.heads->split(own); });
  for_parts(step.sends, Payload::results, [](const Part& part) { part.heads->collect(); });
  std::vector<Transport::Message> sends, receives;
  for (const ShardMove& move : step.sends)
    if (move.payload == Payload::keys)
      add_keys(own, move, true, sends);
    else
      parts_[static_cast<std::size_t>(move.part)].heads->add_send(own, move, sends);
  for (const ShardMove& move : step.receives)
    if (move.payload == Payload::keys)
      add_keys(own, move, false, receives);
    else
      parts_[static_cast<std::size_t>(move.part)].heads->add_receive(own, move, receives);
  if (ring_.moves_heads_directly())
    for (const Payload payload : {Payload::heads, Payload::results})
      for_parts(step.sends, payload, [&](const Part& part) {
        const ShardMove kept{.peer = rank_, .source = rank_, .payload = payload};
        part.heads->add_send(own, kept, sends);
        part.heads->add_receive(own, kept, receives);
      });
  // Beside a computation a kernel that moves lines would wait for multiprocessors.
  const bool by_kernel = ring_.moves_heads_directly() && step.pieces.empty();
  transport_.post(sends, receives, Transport::After::stream,
                  by_kernel ? Transport::Mover::kernel : Transport::Mover::engines);
  for_parts(step.sends, Payload::heads, [&](const Part& part) { part.heads->keep(own); });
  for_parts(step.sends, Payload::results, [&](const Part& part) { part.heads->keep_results(own); });
}

void RingExecution::add_keys(const Operands& own, const ShardMove& move, bool sent,
                             std::vector<Transport::Message>& to) const {
  const KvRows rows = rows_of(own, move.source, move.buffer, sent);
  const Span moved = ring_.moved_rows(move);
  const std::size_t begin = row_bytes() * static_cast<std::size_t>(moved.begin);
  const std::size_t bytes = row_bytes() * static_cast<std::size_t>(moved.end - moved.begin);
  for (void* const tensor : {rows.k, rows.v})
    to.push_back({static_cast<int>(move.peer), static_cast<std::byte*>(tensor) + begin, bytes});
}

Operands RingExecution::computed(const Operands& own, const Part& part) const {
  return part.heads != nullptr ? part.heads->computed() : own;
}

void RingExecution::compute(const Operands& own, const Piece& piece) {
  const Part& part = parts_[static_cast<std::size_t>(piece.source.head_part)];
  const Operands on = computed(own, part);
  const KvRows rows = rows_of(on, piece.source.rank, piece.source.buffer, false);
  const bool rounds = part.o_fp32 == nullptr || (piece.last && !device_.clears_and_rounds());
  piece.execution->run({.q = on.q,
                        .k = rows.k,
                        .v = rows.v,
                        .o = rounds ? on.o : nullptr,
                        .lse = on.lse,
                        .o_fp32 = part.o_fp32},
                       piece.index);
}

double RingExecution::buffer_bytes() const {
  return persistent_ != nullptr ? persistent_->buffer_bytes() : memory_.bytes();
}

void RingExecution::expect_complete() const {
  if (persistent_ != nullptr) persistent_->expect_complete();
}

void RingExecution::run(const Operands& own, RingPart part) {
  if (persistent_ != nullptr) return persistent_->run(own, part);
  if (part != RingPart::computation) memory_.pack(own);
  const bool clears_and_rounds = device_.clears_and_rounds() && part != RingPart::exchange;
  const auto round = [&](std::size_t number) {
    const Part& of = parts_[number];
    if (clears_and_rounds && of.o_fp32 != nullptr)
      device_.round(of.on_device, of.o_fp32, computed(own, of).o);
  };
  for (std::size_t number = 0; number < steps_.size(); ++number) {
    const NvtxRange in_step(fmt::format("step {}", number));
    const Step& step = steps_[number];
    const bool exchanges = part != RingPart::computation && (!step.sends.empty() || !step.receives.empty());
    if (exchanges) post(own, step);
    if (clears_and_rounds && number == 0)  // during the first exchange
      for (std::size_t i = 0; i < parts_.size(); ++i) {
        const Operands to = computed(own, parts_[i]);
        device_.clear(parts_[i].on_device, to.o, parts_[i].o_fp32, to.lse);
      }
    if (part != RingPart::exchange)
      for (const Piece& piece : step.pieces) {
        compute(own, piece);
        if (piece.last) round(static_cast<std::size_t>(piece.source.head_part));
      }
    if (!exchanges) continue;
    transport_.wait();
    for_parts(step.receives, Payload::results, [&](const Part& of) { of.heads->join(own); });
  }
}

}  // namespace hilbench
