#include "kernels/ring/ring_execution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "kernels/base/nvtx.hpp"
#include "kernels/ring/ring_index.hpp"

namespace hilbench {
namespace {

// The rows and heads that a rank computes. It has at least one row here.
Case computed_case(const Ring& ring, std::int64_t rank) {
  Case computed = ring.work();
  computed.sequence_length = std::max<std::int64_t>(1, ring.computed_rows(rank));
  computed.heads = ring.computed_heads();
  computed.kv_heads = ring.computed_kv_heads();
  return computed;
}

// The case that a kernel is prepared for: the rank's rows, all in one segment. Everything else
// is in the index.
Case piece_case(const Ring& ring, std::int64_t rank, Mask mask) {
  Case piece = computed_case(ring, rank);
  piece.pattern = {{piece.sequence_length, 1}};
  piece.branch_heads = BranchHeads::all;
  piece.ring_size = 1;
  piece.mask = mask;
  return piece;
}

// Rows of a tile: as the kernel chooses on one rank, because the tiles of all ranks together do the work.
std::int64_t rows_of_tile(const Ring& ring, std::int64_t rank, const Implementation& kernel) {
  Case whole = ring.work();
  whole.ring_size = 1;
  whole.heads = ring.computed_heads();
  whole.kv_heads = ring.computed_kv_heads();
  return std::clamp<std::int64_t>(ring.computed_rows(rank), 1, kernel.tile_rows(whole));
}

// If every query of a piece sees all keys of its tile, the piece needs no mask.
Mask mask_of(const Index& index) {
  for (const BranchIndex& branch : index.branches)
    for (const IndexTile& tile : branch.tiles)
      if (tile.unmasked < tile.key_count) return Mask::causal;
  return Mask::full;
}

}  // namespace

double hidden_share(double computation_ns, double exchange_ns, double total_ns) {
  if (exchange_ns <= 0) return 1;
  return std::clamp((computation_ns + exchange_ns - total_ns) / exchange_ns, 0.0, 1.0);
}

RingExecution::RingExecution(const Ring& ring, const Implementation& kernel, RingDevice& device,
                             Transport& transport, int threads)
    : ring_(ring),
      kernel_(kernel),
      device_(device),
      transport_(transport),
      rank_(transport.rank()),
      threads_(threads),
      tile_rows_(rows_of_tile(ring, rank_, kernel)) {
  allocate_buffers();
  if (device_.clears_and_rounds())
    row_writes_.resize(static_cast<std::size_t>(ring_.computed_rows(rank_) * ring_.computed_heads()));
  for (const RingStep& step : ring_.steps(rank_)) {
    Step& made =
        steps_.emplace_back(Step{.payload = step.payload, .sends = step.sends, .receives = step.receives});
    for (const RingStep::Source& source : step.sources) add_piece(made, source);
  }
  for (const Step& step : steps_)
    if (!step.pieces.empty()) last_ = &step.pieces.back();
  if (device_.clears_and_rounds())
    device_.load(computed_case(ring_, rank_), ring_.computed_rows(rank_), row_writes_);
}

void* RingExecution::allocate(double bytes) {
  if (bytes == 0) return nullptr;  // a buffer that no step uses
  buffer_bytes_ += bytes;
  return memory_.emplace_back(device_.allocate(static_cast<std::size_t>(bytes))).get();
}

void RingExecution::allocate_buffers() {
  const Case& work = ring_.work();
  const auto kv_row =
      static_cast<double>(2 * work.batch * work.kv_heads * work.head_dim * dtype_bytes(work.dtype));
  for (const std::int64_t rows : ring_.buffer_rows(rank_))
    buffers_.push_back(allocate(static_cast<double>(rows) * kv_row));
  if (ring_.packed(rank_) && ring_.sent_rows(rank_) > 0) {
    device_.load(packed_shard(ring_, rank_));
    packed_ = allocate(static_cast<double>(ring_.sent_rows(rank_)) * kv_row);
  }
  if (ring_.splits_heads())
    heads_ = std::make_unique<HeadExchange>(ring_, rank_, device_,
                                            [this](double bytes) { return allocate(bytes); });
  const std::int64_t outputs =
      ring_.computed_rows(rank_) * work.batch * ring_.computed_heads() * work.head_dim;
  if (ring_.merges() && work.dtype != Dtype::fp32 && outputs > 0)
    o_fp32_ = static_cast<float*>(allocate(4 * static_cast<double>(outputs)));
}

void RingExecution::add_piece(Step& step, const RingStep::Source& source) {
  const FirstPiece first = source.rank == rank_ ? FirstPiece::yes : FirstPiece::no;
  Piece piece{.source = source.rank, .buffer = source.buffer};
  piece.index = ring_index(ring_, rank_, source.rank, first, tile_rows_);
  if (device_.clears_and_rounds()) note_row_writes(piece.index);
  if (piece.index.branches.empty()) return;
  const Case work = piece_case(ring_, rank_, mask_of(piece.index));
  piece.execution = kernel_.prepare(work, ring_.variant(), threads_);
  piece.execution->load(piece.index);
  step.pieces.push_back(std::move(piece));
}

// Removes tiles without keys, and notes what the other tiles do to their rows.
void RingExecution::note_row_writes(Index& index) {
  for (BranchIndex& branch : index.branches) {
    std::erase_if(branch.tiles, [](const IndexTile& tile) { return tile.key_count == 0; });
    for (const IndexTile& tile : branch.tiles)
      for (std::int64_t i = 0; i < tile.query_count; ++i) {
        const std::int64_t row = tile.query_row + i * tile.query_step;
        RowWrites& writes = row_writes_[static_cast<std::size_t>(row * ring_.computed_heads() + tile.head)];
        if (writes == RowWrites::untouched) writes = tile.merge ? RowWrites::merged : RowWrites::stored;
      }
  }
  std::erase_if(index.branches, [](const BranchIndex& branch) { return branch.tiles.empty(); });
}

std::size_t RingExecution::row_bytes() const {
  const Case& work = ring_.work();
  return static_cast<std::size_t>(work.kv_heads * work.head_dim * dtype_bytes(work.dtype));
}

std::size_t RingExecution::sent_bytes(std::int64_t source) const {
  return static_cast<std::size_t>(ring_.sent_rows(source) * ring_.work().batch) * row_bytes();
}

RingExecution::Rows RingExecution::rows_of(const Operands& own, std::int64_t source, int buffer,
                                           bool sent) const {
  if (buffer == kOwnRows && !(sent && packed_ != nullptr))
    return {const_cast<void*>(own.k), const_cast<void*>(own.v)};
  void* k = buffer == kOwnRows ? packed_ : buffers_[static_cast<std::size_t>(buffer)];
  return {k, static_cast<std::byte*>(k) + sent_bytes(source)};
}

void RingExecution::pack(const Operands& own) {
  const Case& work = ring_.work();
  const std::int64_t head_bytes = work.head_dim * dtype_bytes(work.dtype);
  const Rows to = rows_of(own, rank_, kOwnRows, true);
  device_.pack(own.k, to.k, work.batch, ring_.kv_rows(rank_), head_bytes);
  device_.pack(own.v, to.v, work.batch, ring_.kv_rows(rank_), head_bytes);
}

void RingExecution::post_heads(const Operands& own, const Step& step) {
  step.payload == Payload::heads ? heads_->split(own) : heads_->collect(own);
  std::vector<Transport::Message> sends, receives;
  for (const ShardMove& move : step.sends) heads_->add_send(step.payload, move, sends);
  for (const ShardMove& move : step.receives) heads_->add_receive(step.payload, move, receives);
  transport_.post(sends, receives);
}

void RingExecution::post_keys(const Operands& own, const Step& step) {
  std::vector<Transport::Message> sends, receives;
  const auto add = [&](std::vector<Transport::Message>& to, const ShardMove& move, bool sent) {
    const Rows rows = rows_of(own, move.source, move.buffer, sent);
    const Span moved = ring_.moved_rows(move);
    const std::size_t begin = row_bytes() * static_cast<std::size_t>(moved.begin);
    const std::size_t bytes = row_bytes() * static_cast<std::size_t>(moved.end - moved.begin);
    for (void* const tensor : {rows.k, rows.v})
      to.push_back({static_cast<int>(move.peer), static_cast<std::byte*>(tensor) + begin, bytes});
  };
  for (const ShardMove& move : step.sends) add(sends, move, true);
  for (const ShardMove& move : step.receives) add(receives, move, false);
  transport_.post(sends, receives);
}

void RingExecution::compute(const Operands& own, const Piece& piece) {
  const Rows rows = rows_of(own, piece.source, piece.buffer, false);
  const bool rounds = o_fp32_ == nullptr || (&piece == last_ && !device_.clears_and_rounds());
  piece.execution->run({.q = own.q,
                        .k = rows.k,
                        .v = rows.v,
                        .o = rounds ? own.o : nullptr,
                        .lse = own.lse,
                        .o_fp32 = o_fp32_},
                       piece.index);
}

void RingExecution::run(const Operands& own, RingPart part) {
  if (packed_ != nullptr && part != RingPart::computation) pack(own);
  const Operands computed = heads_ != nullptr ? heads_->computed() : own;
  const bool clears_and_rounds = device_.clears_and_rounds() && part != RingPart::exchange;
  bool rounds = clears_and_rounds && o_fp32_ != nullptr;
  const auto round_once = [&] {
    if (std::exchange(rounds, false)) device_.round(o_fp32_, computed.o);
  };
  for (std::size_t number = 0; number < steps_.size(); ++number) {
    const NvtxRange in_step(fmt::format("step {}", number));
    const Step& step = steps_[number];
    const bool exchanges = part != RingPart::computation && (!step.sends.empty() || !step.receives.empty());
    if (step.payload == Payload::results) round_once();
    if (exchanges) step.payload == Payload::keys ? post_keys(own, step) : post_heads(own, step);
    if (clears_and_rounds && number == 0)
      device_.clear(computed.o, o_fp32_, computed.lse);  // during the first exchange
    if (part != RingPart::exchange)
      for (const Piece& piece : step.pieces) compute(computed, piece);
    if (exchanges) transport_.wait();
  }
  round_once();
  if (heads_ != nullptr && part != RingPart::computation) heads_->join(own);
}

}  // namespace hilbench
