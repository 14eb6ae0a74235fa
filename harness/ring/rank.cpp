#include "harness/ring/rank.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "baselines/table.hpp"
#include "kernels/case/rounding.hpp"
#include "kernels/ring/shard_keys.hpp"

namespace hilbench {
namespace {

constexpr std::int64_t kElementsAtOnce = 1 << 15;  // that a thread computes at a time

}  // namespace

int threads_of_a_rank(int threads, std::int64_t ranks) {
  return std::max(1, threads / static_cast<int>(ranks));
}

std::size_t timed_link_bytes(DeviceKind device) {
  return device == DeviceKind::cuda ? kTimedLinkBytes : kTimedLinkBytes / 16;
}

Ring ring_of(const Record& record) {
  return Ring(record.work, variant_that_ran(record));
}

RingRank::RingRank(Bench& bench, const Ring& ring, const std::string& kernel, RankResources& resources,
                   int index)
    : bench_(bench),
      ring_(ring),
      resources_(resources),
      index_(index),
      threads_(threads_of_a_rank(bench.threads, ring_.ranks())),
      counters_(resources.counts(index) ? RankCounters::Open([this](const std::string& set) {
        return open_counters(counter_set(set, counter_target(ring_.work().device)), threads_);
      })
                                        : RankCounters::Open()) {
  const Case& work = ring_.work();
  const bool moved_q = ring_.variant().kernel().order_tensors == OrderTensors::qkv;
  inputs_.q = shard_of(Tensor::q, moved_q);
  inputs_.k = shard_of(Tensor::k, true);
  inputs_.v = shard_of(Tensor::v, true);
  const std::int64_t rows = work.batch * row_count() * work.heads;
  o_ = device().allocate(static_cast<std::size_t>(rows * row_bytes(work, 1)));
  lse_ = device().allocate(static_cast<std::size_t>(rows) * sizeof(float));
  execution_ =
      std::make_unique<RingExecution>(ring_, *find_implementation(kernel, work.device),
                                      resources_.ring_device(index_), resources_.transport(index_), threads_);
}

RankAnswer RingRank::answer(const RankCommand& command) {
  return std::visit([this](const auto& one) { return obey(one); }, command);
}

RankAnswer RingRank::obey(const FillOutput& fill) {
  const auto lock = resources_.exclusive(index_);
  device().fill(o_, fill.value);
  device().fill(lse_, fill.value);
  return {};
}

RankAnswer RingRank::obey(const DescribeRank&) {
  double bytes = execution_->buffer_bytes();
  for (const Buffer* buffer : {&inputs_.q, &inputs_.k, &inputs_.v, &o_, &lse_})
    bytes += static_cast<double>(buffer->bytes);
  return {.bytes = bytes, .permute_ns = permute_ns_};
}

RankAnswer RingRank::obey(const RunRing& run) {
  RankAnswer answer;
  LevelBytes before;
  for (std::int64_t i = 0; i < run.executions; ++i) {
    if (run.cold) evict_caches();
    resources_.start(index_);
    before = sent();
    execution_->run(operands(), run.part);
    resources_.stop(index_);
    execution_->expect_complete();
    answer.spans.push_back(resources_.span(index_));
  }
  const LevelBytes after = sent();
  answer.sent_bytes = static_cast<std::uint64_t>(after.total() - before.total());
  answer.sent_between = static_cast<std::uint64_t>(after.between - before.between);
  return answer;
}

// Every rank sends at once, as in a run.
RankAnswer RingRank::obey(const TimeLink& link) {
  const std::int64_t size = ring_.ranks() / ring_.groups(), first = rank() / size * size;
  const auto neighbour = [&](std::int64_t apart) {
    const std::int64_t to =
        link.between ? rank() + apart * size : first + (rank() - first + apart + size) % size;
    return static_cast<int>((to + ring_.ranks()) % ring_.ranks());
  };
  RingDevice& memory = resources_.ring_device(index_);
  const std::size_t bytes = timed_link_bytes(ring_.work().device);
  const std::shared_ptr<void> from = memory.allocate(bytes), to = memory.allocate(bytes);
  const std::array sends = {Transport::Message{neighbour(1), from.get(), bytes}};
  const std::array receives = {Transport::Message{neighbour(-1), to.get(), bytes}};
  RankAnswer answer;
  for (std::int64_t i = 0; i < link.executions; ++i) {
    resources_.start(index_);
    resources_.transport(index_).post(sends, receives);
    resources_.transport(index_).wait();
    resources_.stop(index_);
    answer.spans.push_back(resources_.span(index_));
  }
  return answer;
}

LevelBytes RingRank::sent() const {
  const Transport& transport = resources_.transport(index_);
  LevelBytes bytes;
  for (int peer = 0; peer < transport.size(); ++peer)
    (ring_.between_groups(rank(), peer) ? bytes.between : bytes.inside) +=
        static_cast<double>(transport.bytes_sent_to(peer));
  return bytes;
}

RankAnswer RingRank::obey(const OpenCounters& open) {
  return counters_.open(open.set);
}

// Does not call resources_.start() and stop(): only the work of the ring itself must be counted.
RankAnswer RingRank::obey(const CountPass& count) {
  const auto restore = [&] {
    if (count.cold) evict_caches();
  };
  const auto body = [&] {
    execution_->run(operands(), RingPart::all);
    device().synchronize();
    execution_->expect_complete();
  };
  return counters_.pass(count.pass, resources_.transport(index_), restore, body);
}

RankAnswer RingRank::obey(const CloseCounters&) {
  return counters_.close();
}

void RingRank::evict_caches() {
  const auto lock = resources_.exclusive(index_);
  device().evict_caches();
}

RankAnswer RingRank::obey(const CountBad&) {
  const auto lock = resources_.exclusive(index_);
  return {.bad = {.o = device().count_bad(o_, ring_.work().dtype, NegativeInfinity::bad),
                  .lse = device().count_bad(lse_, Dtype::fp32, NegativeInfinity::allowed)}};
}

RankAnswer RingRank::obey(const ProbeKeys& asked) {
  const KeyProbe& probe = bench_.key_probe_of_shard(ring_.shards(), rank(), threads_, asked.entropy);
  return {.probed = compare_probe(ring_.work(), probe, own_rows(), row_numbers(), threads_)};
}

// Every row is computed where it is stored, so that nothing is allocated.
RankAnswer RingRank::obey(const LoadInputs& load) {
  const auto of_second = [](InputSet set) { return set == InputSet::second || set == InputSet::negated; };
  const bool held = of_second(held_) && of_second(load.inputs);
  const InputTensors& from = bench_.tensors(load.inputs);
  const auto make = [&](Tensor which, Buffer& to) { make_rows(which, stored_positions(which), from, to); };
  if (!held) {
    make(Tensor::q, inputs_.q);
    if (load.inputs != InputSet::key_probe) make(Tensor::k, inputs_.k);  // the probe leaves K
    make(Tensor::v, inputs_.v);
  }
  if (held ? load.inputs != held_ : load.inputs == InputSet::negated) {
    const auto lock = resources_.exclusive(index_);
    device().negate(inputs_.v, ring_.work().dtype);
  }
  held_ = load.inputs;
  return {};
}

// The rows of all heads of a position are neighbours.
RankAnswer RingRank::obey(const ReadOutput& read) {
  const Case& work = ring_.work();
  const Shards& shards = ring_.shards();
  const bool lse = read.tensor == OutputTensor::lse;
  const std::int64_t row = work.heads * (lse ? 1 : work.head_dim);
  std::vector<float> values;
  for (std::int64_t element = read.first, next; element < read.first + read.count; element = next) {
    next = std::min(read.first + read.count, (element / row + 1) * row);
    const std::int64_t batch = element / row / shards.length(), position = element / row % shards.length();
    if (shards.owner(position) != rank()) continue;
    const std::int64_t own = batch * row_count() + shards.rows_below(rank(), position);
    const std::size_t held = values.size();
    values.resize(held + static_cast<std::size_t>(next - element));
    const std::span<float> to = std::span(values).subspan(held);
    lse ? read_lse(own * row + element % row, to) : read_o(own * row + element % row, to);
  }
  return {.values = std::move(values)};
}

Operands RingRank::operands() const {
  return {inputs_.q.data(), inputs_.k.data(), inputs_.v.data(), o_.data(), static_cast<float*>(lse_.data())};
}

OutputReader RingRank::own_rows() {
  return {.o = [this](std::int64_t first, std::span<float> to) { read_o(first, to); },
          .lse = [this](std::int64_t first, std::span<float> to) { read_lse(first, to); }};
}

OutputRows RingRank::row_numbers() const {
  const std::int64_t heads = ring_.work().heads, own = row_count();
  return {.count = ring_.work().batch * own * heads,
          .number =
              [=, this](const RowId& row) {
                return (row.batch * own + ring_.shards().rows_below(rank(), row.position)) * heads + row.head;
              },
          .id =
              [=, this](std::int64_t number) {
                return RowId{.batch = number / heads / own,
                             .head = number % heads,
                             .position = ring_.shards().position(rank(), number / heads % own)};
              }};
}

void RingRank::read_o(std::int64_t first, std::span<float> to) {
  const auto element = static_cast<std::size_t>(dtype_bytes(ring_.work().dtype));
  stored_.resize(to.size() * element);
  {
    const auto lock = resources_.exclusive(index_);
    device().download(o_, static_cast<std::size_t>(first) * element, stored_.size(), stored_.data());
  }
  widen_stored(ring_.work().dtype, stored_.data(), to, threads_);
}

void RingRank::read_lse(std::int64_t first, std::span<float> to) {
  const auto lock = resources_.exclusive(index_);
  device().download(lse_, static_cast<std::size_t>(first) * sizeof(float), to.size_bytes(), to.data());
}

// The rank's own rows of an input, permuted into the order if `ordered`. An order of the whole sequence moves
// rows between ranks. Then each rank computes its rows in place, and no permutation is timed.
Buffer RingRank::shard_of(Tensor which, bool ordered) {
  if (which != Tensor::q && ring_.global_order()) return made_rows(which, stored_kv_positions(ring_, rank()));
  Buffer by_position = made_rows(which, positions());
  const std::vector<std::int32_t> slots = ordered ? order_of(ring_, rank()) : std::vector<std::int32_t>{};
  if (slots.empty()) return by_position;
  const auto lock = resources_.exclusive(index_);
  Buffer to = device().allocate(by_position.bytes);
  const auto move = [&] {
    device().permute(by_position, to, ring_.work().batch, slots, row_bytes(ring_.work(), heads_of(which)),
                     Direction::into_order);
  };
  move();  // once untimed: it touches the pages
  permute_ns_ = permute_ns_.value_or(0) + device().time_ns(move);
  return to;
}

std::vector<std::int32_t> RingRank::positions() const {
  std::vector<std::int32_t> positions;
  for (std::int64_t row = 0; row < row_count(); ++row)
    positions.push_back(static_cast<std::int32_t>(ring_.shards().position(rank(), row)));
  return positions;
}

// Positions of an input's rows in the sequence in which they are stored.
std::vector<std::int32_t> RingRank::stored_positions(Tensor which) const {
  return which == Tensor::q ? stored_q_positions(ring_, rank()) : stored_kv_positions(ring_, rank());
}

// Computes the rows at `positions` of every batch entry. Neighbouring positions are computed together.
Buffer RingRank::made_rows(Tensor which, const std::vector<std::int32_t>& positions) {
  const std::int64_t rows = ring_.work().batch * std::ssize(positions);
  Buffer to = device().allocate(static_cast<std::size_t>(rows * row_bytes(ring_.work(), heads_of(which))));
  make_rows(which, positions, bench_.inputs, to);
  return to;
}

void RingRank::make_rows(Tensor which, const std::vector<std::int32_t>& positions, const InputTensors& from,
                         Buffer& to) {
  const Case& work = ring_.work();
  const std::int64_t row = heads_of(which) * work.head_dim, bytes = row * dtype_bytes(work.dtype);
  const std::int64_t count = std::ssize(positions);
  const std::int64_t at_once = std::max<std::int64_t>(1, kElementsAtOnce / row);
  const auto position = [&](std::int64_t at) {
    return at / count * work.sequence_length + positions[static_cast<std::size_t>(at % count)];
  };
  std::vector<std::byte> part;
  for_each_part(work.batch * count * row, row, [&](std::int64_t first, std::int64_t elements) {
    part.resize(static_cast<std::size_t>(elements / row * bytes));
    const std::int64_t begin = first / row, end = begin + elements / row;
#pragma omp parallel for num_threads(threads_) schedule(dynamic) if (end - begin > at_once)
    for (std::int64_t block = begin; block < end; block += at_once) {
      const std::int64_t block_end = std::min(block + at_once, end);
      for (std::int64_t i = block, next; i < block_end; i = next) {
        for (next = i + 1; next < block_end && position(next) == position(i) + next - i;) ++next;
        from.read_stored(which, position(i) * row, (next - i) * row, part.data() + (i - begin) * bytes, 1);
      }
    }
    const auto lock = resources_.exclusive(index_);
    device().upload(part.data(), part.size(), to, static_cast<std::size_t>(begin * bytes));
  });
}

std::int64_t RingRank::row_count() const {
  return ring_.shards().count(rank());
}

std::int64_t RingRank::heads_of(Tensor which) const {
  return which == Tensor::q ? ring_.work().heads : ring_.work().kv_heads;
}

}  // namespace hilbench
