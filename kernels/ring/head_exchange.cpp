#include "kernels/ring/head_exchange.hpp"

namespace hilbench {

std::int64_t HeadExchange::Tensor::rows(std::int64_t rank) const {
  const auto at = static_cast<std::size_t>(rank);
  return first_row[at + 1] - first_row[at];
}

HeadExchange::HeadExchange(const Ring& ring, std::int64_t rank, std::int64_t part, RingDevice& device,
                           const std::function<void*(double bytes)>& allocate)
    : ring_(ring), rank_(rank), part_(part), device_(device), direct_(ring.moves_heads_directly()) {
  const Case& work = ring_.work();
  const std::int64_t element = dtype_bytes(work.dtype);
  const auto row_bytes = [&](std::int64_t heads, std::int64_t head_bytes) {
    return static_cast<std::size_t>(heads * head_bytes);
  };
  q_ = o_ = tensor(row_bytes(ring_.piece_heads(), work.head_dim * element), false);
  k_ = v_ = tensor(row_bytes(ring_.piece_kv_heads(), work.head_dim * element), true);
  lse_ = tensor(row_bytes(ring_.piece_heads(), sizeof(float)), false);
  const auto rows = [&](const Tensor& tensor, std::int64_t count) {
    return static_cast<std::byte*>(allocate(static_cast<double>(work.batch) * static_cast<double>(count) *
                                            static_cast<double>(tensor.row_bytes)));
  };
  for (Tensor* each : {&q_, &k_, &v_, &o_, &lse_}) each->whole = rows(*each, each->first_row.back());
  if (direct_) return;
  const std::int64_t others = ring_.ranks() - 1;
  for (Tensor* each : {&q_, &k_, &v_, &lse_}) each->parts = rows(*each, others * each->rows(rank_));
  o_.parts = q_.parts;  // Q was sent before O arrives
  if (ring_.shards().sharding() != Sharding::contiguous)
    for (Tensor* each : {&o_, &lse_})
      each->collected = rows(*each, each->first_row.back() - each->rows(rank_));
}

HeadExchange::Tensor HeadExchange::tensor(std::size_t row_bytes, bool of_keys) const {
  Tensor made{.row_bytes = row_bytes, .first_row = {0}};
  for (std::int64_t rank = 0; rank < ring_.ranks(); ++rank)
    made.first_row.push_back(made.first_row.back() +
                             (of_keys ? ring_.kv_rows(rank) : ring_.shards().count(rank)));
  return made;
}

std::byte* HeadExchange::part(const Tensor& tensor, std::int64_t other) const {
  const std::int64_t number = other < rank_ ? other : other - 1;
  return tensor.parts +
         static_cast<std::size_t>(number * ring_.work().batch * tensor.rows(rank_)) * tensor.row_bytes;
}

std::byte* HeadExchange::collected(const Tensor& tensor, std::int64_t other) const {
  const std::int64_t before =
      tensor.first_row[static_cast<std::size_t>(other)] - (other < rank_ ? 0 : tensor.rows(rank_));
  return tensor.collected + static_cast<std::size_t>(ring_.work().batch * before) * tensor.row_bytes;
}

std::byte* HeadExchange::whole_row(const Tensor& tensor, std::int64_t batch, std::int64_t row) const {
  return tensor.whole + static_cast<std::size_t>(batch * tensor.first_row.back() + row) * tensor.row_bytes;
}

std::size_t HeadExchange::own_step(const Tensor& tensor) const {
  return tensor.row_bytes * static_cast<std::size_t>(ring_.ranks() * ring_.head_parts());
}

std::size_t HeadExchange::own_offset(const Tensor& tensor, std::int64_t of) const {
  return tensor.row_bytes * static_cast<std::size_t>(of * ring_.head_parts() + part_);
}

std::size_t HeadExchange::row_step(const Tensor& tensor) const {
  const bool striped = ring_.shards().sharding() == Sharding::striped;
  return striped ? static_cast<std::size_t>(ring_.ranks()) * tensor.row_bytes : tensor.row_bytes;
}

template <class Use>
void HeadExchange::for_stretches(const Tensor& tensor, std::int64_t of, const Use& use) const {
  const Shards& shards = ring_.shards();
  for (std::int64_t b = 0; b < ring_.work().batch; ++b)
    for (std::int64_t stretch = 0; stretch < shards.stretches(); ++stretch) {
      const Stretch rows = shards.rows_of(of, stretch, 0, 1, shards.length());
      if (rows.count == 0) continue;
      const std::int64_t first = b * tensor.rows(of) + rows.row;
      use(whole_row(tensor, b, shards.position(of, rows.row)), Span{first, first + rows.count});
    }
}

std::int64_t HeadExchange::copies(const Ring& ring) {
  if (ring.moves_heads_directly()) return 0;
  const Shards& shards = ring.shards();
  const std::int64_t batch = ring.work().batch, others = ring.ranks() - 1, stretches = shards.stretches();
  const std::int64_t kept = 3 * batch + 2 * stretches * batch;
  const std::int64_t collected = shards.sharding() == Sharding::contiguous ? 0 : others * stretches * batch;
  return kept + 3 * others + 2 * (collected + others);
}

void HeadExchange::split(const Tensor& tensor, const void* own) {
  for (std::int64_t other = 0; other < ring_.ranks(); ++other)
    if (other != rank_)
      device_.copy_rows({static_cast<const std::byte*>(own) + own_offset(tensor, other), own_step(tensor)},
                        {part(tensor, other), tensor.row_bytes}, tensor.row_bytes,
                        ring_.work().batch * tensor.rows(rank_));
}

void HeadExchange::split(const Operands& own) {
  if (direct_) return;
  split(q_, own.q);
  split(k_, own.k);
  split(v_, own.v);
}

void HeadExchange::keep(const Tensor& tensor, const void* own) {
  const std::int64_t rows = tensor.rows(rank_);
  const std::byte* const from = static_cast<const std::byte*>(own) + own_offset(tensor, rank_);
  for (std::int64_t b = 0; b < ring_.work().batch; ++b)
    device_.copy_rows(
        {from + static_cast<std::size_t>(b * rows) * own_step(tensor), own_step(tensor)},
        {whole_row(tensor, b, tensor.first_row[static_cast<std::size_t>(rank_)]), tensor.row_bytes},
        tensor.row_bytes, rows);
}

void HeadExchange::keep(const Operands& own) {
  if (direct_) return;
  keep(q_, own.q);
  keep(k_, own.k);
  keep(v_, own.v);
}

Operands HeadExchange::computed() const {
  return {.q = q_.whole,
          .k = k_.whole,
          .v = v_.whole,
          .o = o_.whole,
          .lse = reinterpret_cast<float*>(lse_.whole)};
}

// Copies the rows of rank `of` from `whole`.
void HeadExchange::take(const Tensor& tensor, std::int64_t of, RowsTo to) {
  for_stretches(tensor, of, [&](const std::byte* first, Span rows) {
    device_.copy_rows({first, row_step(tensor)},
                      {to.first + static_cast<std::size_t>(rows.begin) * to.step, to.step}, tensor.row_bytes,
                      rows.end - rows.begin);
  });
}

void HeadExchange::collect() {
  if (o_.collected == nullptr) return;
  for (const Tensor* const tensor : {&o_, &lse_})
    for (std::int64_t other = 0; other < ring_.ranks(); ++other)
      if (other != rank_) take(*tensor, other, {collected(*tensor, other), tensor->row_bytes});
}

void HeadExchange::keep_results(const Operands& own) {
  if (direct_) return;
  for (const auto& [tensor, to] : {std::pair<const Tensor&, void*>{o_, own.o}, {lse_, own.lse}})
    take(tensor, rank_, {static_cast<std::byte*>(to) + own_offset(tensor, rank_), own_step(tensor)});
}

void HeadExchange::join(const Tensor& tensor, void* own) {
  for (std::int64_t other = 0; other < ring_.ranks(); ++other)
    if (other != rank_)
      device_.copy_rows({part(tensor, other), tensor.row_bytes},
                        {static_cast<std::byte*>(own) + own_offset(tensor, other), own_step(tensor)},
                        tensor.row_bytes, ring_.work().batch * tensor.rows(rank_));
}

void HeadExchange::join(const Operands& own) {
  if (direct_) return;
  join(o_, own.o);
  join(lse_, own.lse);
}

void HeadExchange::add(const Tensor& tensor, std::int64_t peer, const std::byte* first, std::size_t step,
                       std::int64_t rows, std::vector<Transport::Message>& to) const {
  Transport::Message& message =
      to.emplace_back(Transport::Message{.peer = static_cast<int>(peer),
                                         .data = const_cast<std::byte*>(first),
                                         .bytes = static_cast<std::size_t>(rows) * tensor.row_bytes});
  if (!direct_ || rows == 0) return;
  message.lines = static_cast<std::size_t>(rows);
  message.step = step;
}

// Adds own rows of what `peer` computes, in lines.
void HeadExchange::add_own(const Tensor& tensor, const void* own, std::int64_t peer, Span rows,
                           std::vector<Transport::Message>& to) const {
  const std::byte* const first = static_cast<const std::byte*>(own) + own_offset(tensor, peer);
  add(tensor, peer, first + static_cast<std::size_t>(rows.begin) * own_step(tensor), own_step(tensor),
      rows.end - rows.begin, to);
}

// Adds rows of a buffer of each batch entry, neighbours, which `place` finds.
template <class Place>
void HeadExchange::add_entries(const Tensor& tensor, const ShardMove& move, const Place& place,
                               std::vector<Transport::Message>& to) const {
  for (std::int64_t b = 0; b < ring_.work().batch; ++b)
    add(tensor, move.peer, place(b), tensor.row_bytes, tensor.rows(move.source), to);
}

void HeadExchange::add_send(const Operands& own, const ShardMove& move,
                            std::vector<Transport::Message>& to) const {
  const auto in_entry = [&](const Tensor& tensor, const std::byte* first) {
    return [&tensor, first, bytes = static_cast<std::size_t>(tensor.rows(move.source)) * tensor.row_bytes](
               std::int64_t b) { return first + static_cast<std::size_t>(b) * bytes; };
  };
  if (move.payload == Payload::heads) {
    for (const auto& [tensor, from] :
         {std::pair<const Tensor&, const void*>{q_, own.q}, {k_, own.k}, {v_, own.v}}) {
      if (!direct_) {
        add_entries(tensor, move, in_entry(tensor, part(tensor, move.peer)), to);
        continue;
      }
      const std::int64_t rows = tensor.rows(rank_);
      for (std::int64_t b = 0; b < ring_.work().batch; ++b)
        add_own(tensor, from, move.peer, {b * rows, (b + 1) * rows}, to);
    }
    return;
  }
  for (const Tensor* const tensor : {&o_, &lse_})
    if (direct_)
      for_stretches(*tensor, move.source, [&](const std::byte* first, Span rows) {
        add(*tensor, move.peer, first, row_step(*tensor), rows.end - rows.begin, to);
      });
    else if (tensor->collected != nullptr)
      add_entries(*tensor, move, in_entry(*tensor, collected(*tensor, move.peer)), to);
    else
      add_entries(
          *tensor, move,
          [&](std::int64_t b) {
            return whole_row(*tensor, b, tensor->first_row[static_cast<std::size_t>(move.peer)]);
          },
          to);
}

void HeadExchange::add_receive(const Operands& own, const ShardMove& move,
                               std::vector<Transport::Message>& to) const {
  if (move.payload == Payload::heads) {
    for (const Tensor* const tensor : {&q_, &k_, &v_})
      add_entries(
          *tensor, move,
          [&](std::int64_t b) {
            return whole_row(*tensor, b, tensor->first_row[static_cast<std::size_t>(move.source)]);
          },
          to);
    return;
  }
  for (const auto& [tensor, into] : {std::pair<const Tensor&, void*>{o_, own.o}, {lse_, own.lse}})
    if (direct_)
      for_stretches(tensor, rank_, [&, &of = tensor, to_own = into](const std::byte*, Span rows) {
        add_own(of, to_own, move.peer, rows, to);
      });
    else
      add_entries(
          tensor, move,
          [&, &of = tensor](std::int64_t b) {
            return part(of, move.peer) + static_cast<std::size_t>(b * of.rows(rank_)) * of.row_bytes;
          },
          to);
}

}  // namespace hilbench
