#include "kernels/ring/head_exchange.hpp"

namespace hilbench {

std::int64_t HeadExchange::Tensor::rows(std::int64_t rank) const {
  const auto at = static_cast<std::size_t>(rank);
  return first_row[at + 1] - first_row[at];
}

HeadExchange::HeadExchange(const Ring& ring, std::int64_t rank, std::int64_t part, RingDevice& device,
                           const std::function<void*(double bytes)>& allocate)
    : ring_(ring), rank_(rank), part_(part), device_(device) {
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
  const std::int64_t others = ring_.ranks() - 1;
  for (Tensor* each : {&q_, &k_, &v_, &o_, &lse_}) each->whole = rows(*each, each->first_row.back());
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

void HeadExchange::split(const Tensor& tensor, const void* own) {
  const std::int64_t batch = ring_.work().batch, rows = tensor.rows(rank_);
  const std::size_t step = own_step(tensor);
  for (std::int64_t other = 0; other < ring_.ranks(); ++other) {
    const std::byte* const from = static_cast<const std::byte*>(own) + own_offset(tensor, other);
    if (other != rank_) {
      device_.copy_rows({from, step}, {part(tensor, other), tensor.row_bytes}, tensor.row_bytes,
                        batch * rows);
      continue;
    }
    for (std::int64_t b = 0; b < batch; ++b)
      device_.copy_rows(
          {from + static_cast<std::size_t>(b * rows) * step, step},
          {whole_row(tensor, b, tensor.first_row[static_cast<std::size_t>(rank_)]), tensor.row_bytes},
          tensor.row_bytes, rows);
  }
}

std::int64_t HeadExchange::copies(const Ring& ring) {
  const Shards& shards = ring.shards();
  const std::int64_t batch = ring.work().batch, others = ring.ranks() - 1;
  const std::int64_t collected = shards.sharding() == Sharding::contiguous ? 1 : ring.ranks();
  return 3 * (others + batch) + 2 * (collected * shards.stretches() * batch + others);
}

void HeadExchange::split(const Operands& own) {
  split(q_, own.q);
  split(k_, own.k);
  split(v_, own.v);
}

Operands HeadExchange::computed() const {
  return {.q = q_.whole,
          .k = k_.whole,
          .v = v_.whole,
          .o = o_.whole,
          .lse = reinterpret_cast<float*>(lse_.whole)};
}

// Copies the rows of rank `of` from `whole`, which is in position order, to rows that are `to_step` bytes
// apart.
void HeadExchange::take(const Tensor& tensor, std::int64_t of, std::byte* to, std::size_t to_step) {
  const Shards& shards = ring_.shards();
  const std::size_t apart =
      shards.sharding() == Sharding::striped ? static_cast<std::size_t>(ring_.ranks()) : 1;
  for (std::int64_t b = 0; b < ring_.work().batch; ++b)
    for (std::int64_t stretch = 0; stretch < shards.stretches(); ++stretch) {
      const Stretch rows = shards.rows_of(of, stretch, 0, 1, shards.length());
      if (rows.count == 0) continue;
      device_.copy_rows({whole_row(tensor, b, shards.position(of, rows.row)), apart * tensor.row_bytes},
                        {to + static_cast<std::size_t>(b * tensor.rows(of) + rows.row) * to_step, to_step},
                        tensor.row_bytes, rows.count);
    }
}

void HeadExchange::collect(const Operands& own) {
  for (const auto& [tensor, to] : {std::pair<const Tensor&, void*>{o_, own.o}, {lse_, own.lse}}) {
    take(tensor, rank_, static_cast<std::byte*>(to) + own_offset(tensor, rank_), own_step(tensor));
    if (tensor.collected == nullptr) continue;
    for (std::int64_t other = 0; other < ring_.ranks(); ++other)
      if (other != rank_) take(tensor, other, collected(tensor, other), tensor.row_bytes);
  }
}

void HeadExchange::join(const Tensor& tensor, void* own) {
  for (std::int64_t other = 0; other < ring_.ranks(); ++other)
    if (other != rank_)
      device_.copy_rows({part(tensor, other), tensor.row_bytes},
                        {static_cast<std::byte*>(own) + own_offset(tensor, other), own_step(tensor)},
                        tensor.row_bytes, ring_.work().batch * tensor.rows(rank_));
}

void HeadExchange::join(const Operands& own) {
  join(o_, own.o);
  join(lse_, own.lse);
}

// `place` gives the address of row 0 of a batch entry of the shard that moves.
template <class Place>
void HeadExchange::add(const std::vector<const Tensor*>& tensors, const ShardMove& move, const Place& place,
                       std::vector<Transport::Message>& to) const {
  for (const Tensor* tensor : tensors) {
    const std::int64_t rows = tensor->rows(move.source);
    for (std::int64_t b = 0; b < ring_.work().batch; ++b)
      to.push_back({static_cast<int>(move.peer), place(*tensor, b),
                    static_cast<std::size_t>(rows) * tensor->row_bytes});
  }
}

void HeadExchange::add_send(const ShardMove& move, std::vector<Transport::Message>& to) const {
  const auto in_entry = [&](const Tensor& tensor, std::byte* first, std::int64_t b) {
    return first + static_cast<std::size_t>(b * tensor.rows(move.source)) * tensor.row_bytes;
  };
  if (move.payload == Payload::heads)
    return add(
        {&q_, &k_, &v_}, move,
        [&](const Tensor& tensor, std::int64_t b) { return in_entry(tensor, part(tensor, move.peer), b); },
        to);
  add(
      {&o_, &lse_}, move,
      [&](const Tensor& tensor, std::int64_t b) {
        if (tensor.collected != nullptr) return in_entry(tensor, collected(tensor, move.peer), b);
        return whole_row(tensor, b, tensor.first_row[static_cast<std::size_t>(move.peer)]);
      },
      to);
}

void HeadExchange::add_receive(const ShardMove& move, std::vector<Transport::Message>& to) const {
  if (move.payload == Payload::heads)
    return add(
        {&q_, &k_, &v_}, move,
        [&](const Tensor& tensor, std::int64_t b) {
          return whole_row(tensor, b, tensor.first_row[static_cast<std::size_t>(move.source)]);
        },
        to);
  add(
      {&o_, &lse_}, move,
      [&](const Tensor& tensor, std::int64_t b) {
        return part(tensor, move.peer) + static_cast<std::size_t>(b * tensor.rows(rank_)) * tensor.row_bytes;
      },
      to);
}

}  // namespace hilbench
