#include "harness/ring_candidate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <stdexcept>

#include "harness/rank_threads.hpp"
#include "harness/rounding.hpp"
#include "harness/stats.hpp"
#include "kernels/ring/ring_execution.hpp"
#include "kernels/ring/shard_keys.hpp"
#include "kernels/ring/threads.hpp"

namespace hilbench {
namespace {

using Clock = std::chrono::steady_clock;

// A rank that hangs is ended with the worker, by the supervisor and far sooner.
constexpr double kTransportTimeout_s = 3600;
constexpr int kPartRounds = 5;  // in which the parts of a run are timed

using PartTimes = std::vector<double>;  // kPartRounds durations in ns

// How far the middle ones lie apart.
double spread(PartTimes times_ns) {
  std::sort(times_ns.begin(), times_ns.end());
  return times_ns[kPartRounds * 3 / 4] - times_ns[kPartRounds / 4];
}

Counter counter(double value, const char* unit, const char* source) {
  return {.value = value, .unit = unit, .source = source, .passes = 1, .reason = ""};
}

Counter overlap(const PartTimes& computation, const PartTimes& exchange, const PartTimes& all) {
  const double exchange_ns = median(exchange);
  if (spread(all) + spread(computation) > exchange_ns)
    return {.reason = "the exchange takes less time than repeated runs differ by"};
  return counter(hidden_share(median(computation), exchange_ns, median(all)), "ratio", "measured");
}

struct Rank {
  std::unique_ptr<Device> device;
  std::unique_ptr<RingDevice> ring_device;
  StoredInputs inputs;  // own rows, as stored_q_positions and stored_kv_positions list them
  Buffer o, lse;        // own rows
  std::unique_ptr<RingExecution> execution;
  std::optional<double> permute_ns;
  Clock::time_point begin, end;  // of the last run

  Operands operands() const {
    return {inputs.q.data(), inputs.k.data(), inputs.v.data(), o.data(), static_cast<float*>(lse.data())};
  }
  double bytes() const {
    double bytes = execution->buffer_bytes();
    for (const Buffer* buffer : {&inputs.q, &inputs.k, &inputs.v, &o, &lse})
      bytes += static_cast<double>(buffer->bytes);
    return bytes;
  }
};

class RingCandidate final : public Candidate {
 public:
  RingCandidate(Bench& bench, const Record& record)
      : Candidate(*find_variant(record.kernel, record.work.device)),
        bench_(bench),
        ring_(record.work, record.variant),
        planned_bytes_(record.comm_bytes.value_or(ring_.sent_bytes())),
        rank_threads_(std::max(1, bench.threads / static_cast<int>(ring_.ranks()))),
        transports_(thread_transports(static_cast<int>(ring_.ranks()), kTransportTimeout_s)),
        ranks_(static_cast<std::size_t>(ring_.ranks())),
        threads_(static_cast<int>(ring_.ranks())) {
    on_every_rank([this](int rank) { prepare(rank); });
  }

  void run() override { timed(RingPart::all); }
  bool times_itself() const override { return true; }
  std::vector<double> run_timed(std::int64_t executions) override {
    std::vector<double> times_ns;
    for (std::int64_t i = 0; i < executions; ++i) times_ns.push_back(timed(RingPart::all));
    return times_ns;
  }
  std::string timer() const override { return "steady_clock"; }
  std::string uncounted() const override {
    return "the ranks are threads of their own, which are not counted";
  }
  nlohmann::json library() const override {
    return variant().library != nullptr ? variant().library() : nlohmann::json();
  }
  nlohmann::json transport() const override {
    return {{"name", "threads"}, {"threads_per_rank", rank_threads_}};
  }

  void fill_output(std::byte value) override {
    for (Rank& rank : ranks_) {
      rank.device->fill(rank.o, value);
      rank.device->fill(rank.lse, value);
    }
  }

  OutputReader output() override {
    const Case& work = ring_.work();
    const std::int64_t row = work.heads * work.head_dim, element = dtype_bytes(work.dtype);
    return {
        .o =
            [this, row, element](std::int64_t first, std::span<float> to) {
              for_each_row(row, first, to, [&](const Rank& rank, std::int64_t at, std::span<float> part) {
                widen(ring_.work().dtype, static_cast<const std::byte*>(rank.o.data()) + at * element, part);
              });
            },
        .lse =
            [this, &work](std::int64_t first, std::span<float> to) {
              for_each_row(
                  work.heads, first, to, [](const Rank& rank, std::int64_t at, std::span<float> part) {
                    std::copy_n(static_cast<const float*>(rank.lse.data()) + at, part.size(), part.begin());
                  });
            }};
  }

  std::optional<double> permute_ns() const override {
    std::optional<double> slowest;
    for (const Rank& rank : ranks_)
      if (rank.permute_ns) slowest = std::max(slowest.value_or(0), *rank.permute_ns);
    return slowest;
  }

  // In turn, so that what disturbs the machine meets all parts alike.
  std::map<std::string, Counter> measured() override {
    PartTimes all, exchange, computation;
    for (int round = 0; round < kPartRounds; ++round) {
      all.push_back(timed(RingPart::all));
      exchange.push_back(timed(RingPart::exchange));
      computation.push_back(timed(RingPart::computation));
    }
    double most = 0;
    for (const Rank& rank : ranks_) most = std::max(most, rank.bytes());
    const Counter unsent{.reason = "nothing is exchanged"};
    const bool sends = planned_bytes_ > 0;
    return {{"ring_bytes", counter(sent_bytes_, "bytes", "transport")},
            {"ring_rank_memory", counter(most, "bytes", "measured")},
            {"ring_compute_ns", counter(median(computation), "ns", "measured")},
            {"ring_exchange_ns", sends ? counter(median(exchange), "ns", "measured") : unsent},
            {"ring_overlap", sends ? overlap(computation, exchange, all) : unsent}};
  }

 private:
  // Throws the first fault of a rank, which ends the others' waiting too.
  void on_every_rank(const std::function<void(int rank)>& part) {
    const std::function<void(int)> guarded = [&](int rank) {
      const auto fail = [&](const char* why) {
        transport_of(rank).abort(fmt::format("rank {} of {}: {}", rank, ring_.ranks(), why));
      };
      try {
        part(rank);
      } catch (const std::bad_alloc&) {
        fail("out of memory");
      } catch (const std::exception& error) {
        fail(error.what());
      }
    };
    threads_.run(guarded);
    const std::string failure = transports_.front()->failure();
    if (!failure.empty()) throw std::runtime_error(failure);
  }

  // Duration of one run, from when the first rank begins to when the last one is done.
  double timed(RingPart part) {
    const double before = counted_bytes();
    on_every_rank([&](int number) {
      Rank& rank = ranks_[static_cast<std::size_t>(number)];
      transport_of(number).barrier();
      rank.begin = Clock::now();
      rank.execution->run(rank.operands(), part);
      rank.end = Clock::now();
    });
    if (part != RingPart::computation) {
      sent_bytes_ = counted_bytes() - before;
      if (sent_bytes_ != planned_bytes_)
        throw std::runtime_error(
            fmt::format("the ring sent {:.0f} bytes, not the planned {:.0f}", sent_bytes_, planned_bytes_));
    }
    Clock::time_point begin = ranks_.front().begin, end = ranks_.front().end;
    for (const Rank& rank : ranks_) {
      begin = std::min(begin, rank.begin);
      end = std::max(end, rank.end);
    }
    return std::chrono::duration<double, std::nano>(end - begin).count();
  }

  double counted_bytes() const {
    double bytes = 0;
    for (const auto& transport : transports_) bytes += static_cast<double>(transport->bytes_sent());
    return bytes;
  }

  Transport& transport_of(int rank) { return *transports_[static_cast<std::size_t>(rank)]; }

  void prepare(int number) {
    Rank& rank = ranks_[static_cast<std::size_t>(number)];
    const Case& work = ring_.work();
    rank.device = open_cpu_device(rank_threads_);
    rank.ring_device = cpu_ring_device(rank_threads_);
    const bool moved_q = ring_.variant().order_tensors == OrderTensors::qkv;
    rank.inputs.q = shard_of(Tensor::q, number, moved_q);
    rank.inputs.k = shard_of(Tensor::k, number, true);
    rank.inputs.v = shard_of(Tensor::v, number, true);
    const std::int64_t rows = work.batch * ring_.shards().count(number) * work.heads;
    rank.o = rank.device->allocate(static_cast<std::size_t>(rows * row_bytes(work, 1)));
    rank.lse = rank.device->allocate(static_cast<std::size_t>(rows) * sizeof(float));
    rank.execution = std::make_unique<RingExecution>(ring_, variant(), *rank.ring_device,
                                                     transport_of(number), rank_threads_);
  }

  // A rank's rows of an input, put into the order where they are `ordered`. The order of the whole sequence
  // moves rows between ranks: there they are made where they belong, and no permutation is timed.
  Buffer shard_of(Tensor which, int number, bool ordered) {
    if (which != Tensor::q && ring_.global_order())
      return made_rows(which, number, stored_kv_positions(ring_, number));
    Rank& rank = ranks_[static_cast<std::size_t>(number)];
    std::vector<std::int32_t> positions;
    for (std::int64_t row = 0; row < ring_.shards().count(number); ++row)
      positions.push_back(static_cast<std::int32_t>(ring_.shards().position(number, row)));
    Buffer by_position = made_rows(which, number, positions);
    const std::vector<std::int32_t> slots = ordered ? order_of(ring_, number) : std::vector<std::int32_t>{};
    if (slots.empty()) return by_position;
    Buffer to = rank.device->allocate(by_position.bytes);
    const auto move = [&] {
      rank.device->permute(by_position, to, ring_.work().batch, slots,
                           row_bytes(ring_.work(), heads_of(which)), Direction::into_order);
    };
    move();  // touches the pages
    rank.permute_ns = rank.permute_ns.value_or(0) + rank.device->time_ns(move);
    return to;
  }

  // Rows `positions` of every batch entry. Neighbours are made together.
  Buffer made_rows(Tensor which, int number, const std::vector<std::int32_t>& positions) {
    const Case& work = ring_.work();
    const std::int64_t row = heads_of(which) * work.head_dim, bytes = row * dtype_bytes(work.dtype);
    const std::int64_t count = std::ssize(positions);
    Buffer to = ranks_[static_cast<std::size_t>(number)].device->allocate(
        static_cast<std::size_t>(work.batch * count * bytes));
    for (std::int64_t b = 0; b < work.batch; ++b)
      for (std::int64_t i = 0, next; i < count; i = next) {
        const std::int64_t first = positions[static_cast<std::size_t>(i)];
        for (next = i + 1; next < count; ++next)
          if (positions[static_cast<std::size_t>(next)] != first + next - i) break;
        bench_.inputs.read_stored(which, (b * work.sequence_length + first) * row, (next - i) * row,
                                  static_cast<std::byte*>(to.data()) + (b * count + i) * bytes,
                                  rank_threads_);
      }
    return to;
  }

  std::int64_t heads_of(Tensor which) const {
    return which == Tensor::q ? ring_.work().heads : ring_.work().kv_heads;
  }

  // take(rank, first element in its rows, destination) for each row of `row` elements that the elements from
  // `first` on touch, in position order.
  template <class Take>
  void for_each_row(std::int64_t row, std::int64_t first, std::span<float> to, const Take& take) const {
    const Shards& shards = ring_.shards();
    while (!to.empty()) {
      const std::int64_t batch = first / row / shards.length(), position = first / row % shards.length();
      const std::int64_t within = first % row;
      const std::int64_t count = std::min(row - within, std::ssize(to));
      const std::int64_t owner = shards.owner(position);
      const std::int64_t at = batch * shards.count(owner) + shards.rows_below(owner, position);
      take(ranks_[static_cast<std::size_t>(owner)], at * row + within,
           to.first(static_cast<std::size_t>(count)));
      to = to.subspan(static_cast<std::size_t>(count));
      first += count;
    }
  }

  Bench& bench_;
  const Ring ring_;
  const double planned_bytes_;
  const int rank_threads_;
  double sent_bytes_ = 0;
  std::vector<std::unique_ptr<Transport>> transports_;
  std::vector<Rank> ranks_;
  RankThreads threads_;
};

}  // namespace

std::unique_ptr<Candidate> make_ring_candidate(Bench& bench, const Record& record) {
  return std::make_unique<RingCandidate>(bench, record);
}

}  // namespace hilbench
