#include "harness/ring/rank.hpp"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "baselines/table.hpp"
#include "kernels/case/rounding.hpp"
#include "kernels/ring/shard_keys.hpp"

namespace hilbench {
using Json = nlohmann::json;

int threads_of_a_rank(int threads, std::int64_t ranks) {
  return std::max(1, threads / static_cast<int>(ranks));
}

bool moves_data(const Json& order) {
  return order.at("do") == "run" || order.at("do") == "count";
}

RingRank::RingRank(Bench& bench, const Record& record, RankResources& bed, int seat)
    : bench_(bench),
      ring_(record.work, record.variant),
      bed_(bed),
      seat_(seat),
      threads_(threads_of_a_rank(bench.threads, ring_.ranks())),
      counters_(bed.counts(seat) ? RankCounters::Open([this](const std::string& set) {
        return open_counters(counter_set(set, counter_target(ring_.work().device)), threads_);
      })
                                 : RankCounters::Open()) {
  const Case& work = ring_.work();
  const bool moved_q = ring_.variant().order_tensors == OrderTensors::qkv;
  inputs_.q = shard_of(Tensor::q, moved_q);
  inputs_.k = shard_of(Tensor::k, true);
  inputs_.v = shard_of(Tensor::v, true);
  const std::int64_t rows = work.batch * row_count() * work.heads;
  o_ = device().allocate(static_cast<std::size_t>(rows * row_bytes(work, 1)));
  lse_ = device().allocate(static_cast<std::size_t>(rows) * sizeof(float));
  execution_ = std::make_unique<RingExecution>(ring_, *find_implementation(record.kernel, work.device),
                                               bed_.ring_device(seat_), bed_.transport(seat_), threads_);
}

Json RingRank::answer(const Json& order) {
  const std::string& what = order.at("do").get_ref<const std::string&>();
  if (what == "describe") return describe();
  if (what == "run") return run(order.at("part").get<RingPart>(), order.at("executions"), order.at("cold"));
  if (what == "count") return count(order);
  if (what == "verify") return verify();
  if (what == "read") return read(order.at("tensor") == "lse", order.at("first"), order.at("count"));
  if (what != "fill") throw std::logic_error("no rank knows the order " + what);
  const auto lock = bed_.exclusive(seat_);
  device().fill(o_, order.at("value").get<std::byte>());
  device().fill(lse_, order.at("value").get<std::byte>());
  return Json::object();
}

Json RingRank::describe() const {
  double bytes = execution_->buffer_bytes();
  for (const Buffer* buffer : {&inputs_.q, &inputs_.k, &inputs_.v, &o_, &lse_})
    bytes += static_cast<double>(buffer->bytes);
  return {{"bytes", bytes}, {"permute_ns", permute_ns_ ? Json(*permute_ns_) : Json()}};
}

Json RingRank::run(RingPart part, std::int64_t executions, bool cold) {
  const Transport& transport = bed_.transport(seat_);
  Json spans = Json::array();
  std::uint64_t before = 0;
  for (std::int64_t i = 0; i < executions; ++i) {
    if (cold) evict_caches();
    bed_.start(seat_);
    before = transport.bytes_sent();
    execution_->run(operands(), part);
    bed_.stop(seat_);
    const auto [begin, end] = bed_.span(seat_);
    spans.push_back({begin, end});
  }
  return {{"spans", std::move(spans)}, {"sent", transport.bytes_sent() - before}};
}

// Without what times a rank: nothing that the ring does not do itself is to be counted.
Json RingRank::count(const Json& order) {
  const auto restore = [&] {
    if (order.value("cold", false)) evict_caches();
  };
  const auto work = [&] {
    execution_->run(operands(), RingPart::all);
    device().synchronize();
  };
  return counters_.answer(order, bed_.transport(seat_), restore, work);
}

void RingRank::evict_caches() {
  const auto lock = bed_.exclusive(seat_);
  device().evict_caches();
}

Json RingRank::verify() {
  const Case& work = ring_.work();
  const Shards& shards = ring_.shards();
  const Oracle& oracle = bench_.oracle_of_shard(shards, rank(), threads_);
  const auto row_number = [&](const RowId& row) {
    return (row.batch * row_count() + shards.rows_below(rank(), row.position)) * work.heads + row.head;
  };
  return to_json(compare_output(oracle, own_rows(), work.batch * row_count() * work.heads, work.head_dim,
                                row_number, threads_));
}

// Rows of a position stand together, of all heads.
Json RingRank::read(bool lse, std::int64_t first, std::int64_t count) {
  const Case& work = ring_.work();
  const Shards& shards = ring_.shards();
  const std::int64_t row = work.heads * (lse ? 1 : work.head_dim);
  std::vector<float> values;
  for (std::int64_t element = first, next; element < first + count; element = next) {
    next = std::min(first + count, (element / row + 1) * row);
    const std::int64_t batch = element / row / shards.length(), position = element / row % shards.length();
    if (shards.owner(position) != rank()) continue;
    const std::int64_t own = batch * row_count() + shards.rows_below(rank(), position);
    const std::size_t held = values.size();
    values.resize(held + static_cast<std::size_t>(next - element));
    const std::span<float> to = std::span(values).subspan(held);
    lse ? read_lse(own * row + element % row, to) : read_o(own * row + element % row, to);
  }
  std::vector<std::uint8_t> binary(values.size() * sizeof(float));
  if (!values.empty()) std::memcpy(binary.data(), values.data(), binary.size());
  return {{"values", Json::binary(std::move(binary))}};
}

Operands RingRank::operands() const {
  return {inputs_.q.data(), inputs_.k.data(), inputs_.v.data(), o_.data(), static_cast<float*>(lse_.data())};
}

OutputReader RingRank::own_rows() {
  return {.o = [this](std::int64_t first, std::span<float> to) { read_o(first, to); },
          .lse = [this](std::int64_t first, std::span<float> to) { read_lse(first, to); }};
}

void RingRank::read_o(std::int64_t first, std::span<float> to) {
  const auto element = static_cast<std::size_t>(dtype_bytes(ring_.work().dtype));
  std::vector<std::byte> raw(to.size() * element);
  const auto lock = bed_.exclusive(seat_);
  device().download(o_, static_cast<std::size_t>(first) * element, raw.size(), raw.data());
  widen(ring_.work().dtype, raw.data(), to);
}

void RingRank::read_lse(std::int64_t first, std::span<float> to) {
  const auto lock = bed_.exclusive(seat_);
  device().download(lse_, static_cast<std::size_t>(first) * sizeof(float), to.size_bytes(), to.data());
}

// Own rows of an input, put into the order where they are `ordered`. The order of the whole sequence moves
// rows between ranks: there they are made where they belong, and no permutation is timed.
Buffer RingRank::shard_of(Tensor which, bool ordered) {
  if (which != Tensor::q && ring_.global_order()) return made_rows(which, stored_kv_positions(ring_, rank()));
  std::vector<std::int32_t> positions;
  for (std::int64_t row = 0; row < row_count(); ++row)
    positions.push_back(static_cast<std::int32_t>(ring_.shards().position(rank(), row)));
  Buffer by_position = made_rows(which, positions);
  const std::vector<std::int32_t> slots = ordered ? order_of(ring_, rank()) : std::vector<std::int32_t>{};
  if (slots.empty()) return by_position;
  const auto lock = bed_.exclusive(seat_);
  Buffer to = device().allocate(by_position.bytes);
  const auto move = [&] {
    device().permute(by_position, to, ring_.work().batch, slots, row_bytes(ring_.work(), heads_of(which)),
                     Direction::into_order);
  };
  move();  // touches the pages
  permute_ns_ = permute_ns_.value_or(0) + device().time_ns(move);
  return to;
}

// Rows `positions` of every batch entry. Neighbours are made together.
Buffer RingRank::made_rows(Tensor which, const std::vector<std::int32_t>& positions) {
  const Case& work = ring_.work();
  const std::int64_t row = heads_of(which) * work.head_dim, bytes = row * dtype_bytes(work.dtype);
  const std::int64_t count = std::ssize(positions);
  Buffer to = device().allocate(static_cast<std::size_t>(work.batch * count * bytes));
  std::vector<std::byte> part;
  for_each_part(work.batch * count * row, row, [&](std::int64_t first, std::int64_t elements) {
    part.resize(static_cast<std::size_t>(elements / row * bytes));
    const std::int64_t begin = first / row, end = begin + elements / row;
    for (std::int64_t i = begin, next; i < end; i = next) {
      const auto position = [&](std::int64_t at) {
        return at / count * work.sequence_length + positions[static_cast<std::size_t>(at % count)];
      };
      for (next = i + 1; next < end && position(next) == position(i) + next - i;) ++next;
      bench_.inputs.read_stored(which, position(i) * row, (next - i) * row, part.data() + (i - begin) * bytes,
                                threads_);
    }
    device().upload(part.data(), part.size(), to, static_cast<std::size_t>(begin * bytes));
  });
  return to;
}

std::int64_t RingRank::row_count() const {
  return ring_.shards().count(rank());
}

std::int64_t RingRank::heads_of(Tensor which) const {
  return which == Tensor::q ? ring_.work().heads : ring_.work().kv_heads;
}

}  // namespace hilbench
