#include "harness/ring_candidate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <new>
#include <stdexcept>

#include "harness/rank_threads.hpp"
#include "harness/ring_bed.hpp"
#include "harness/rounding.hpp"
#include "harness/stats.hpp"
#include "kernels/ring/ring_execution.hpp"
#include "kernels/ring/shard_keys.hpp"

namespace hilbench {
namespace {

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
  StoredInputs inputs;  // own rows, as stored_q_positions and stored_kv_positions list them
  Buffer o, lse;        // own rows
  std::unique_ptr<RingExecution> execution;
  std::optional<double> permute_ns;

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

std::unique_ptr<RingBed> bed_for(Bench& bench, const Record& record, int ranks, int rank_threads) {
  if (record.work.device == DeviceKind::cpu) return cpu_ring_bed(ranks, rank_threads);
  std::vector<Device*> devices = {bench.device.get()};
  for (const auto& further : bench.further_devices) devices.push_back(further.get());
  const bool nccl = record.variant.transport == RingTransport::nccl;
  return cuda_ring_bed(ranks, devices, nccl ? RingTransport::nccl : RingTransport::peer);
}

class RingCandidate final : public Candidate {
 public:
  RingCandidate(Bench& bench, const Record& record)
      : Candidate(*find_variant(record.kernel, record.work.device)),
        bench_(bench),
        ring_(record.work, record.variant),
        planned_bytes_(record.comm_bytes.value_or(ring_.sent_bytes())),
        rank_threads_(std::max(1, bench.threads / static_cast<int>(ring_.ranks()))),
        bed_(bed_for(bench, record, static_cast<int>(ring_.ranks()), rank_threads_)),
        ranks_(static_cast<std::size_t>(ring_.ranks())),
        threads_(static_cast<int>(ring_.ranks())) {
    try {
      on_every_rank([this](int rank) { bed_->join(rank); });
      on_every_rank([this](int rank) { prepare(rank); });
    } catch (...) {
      leave();
      throw;
    }
  }
  ~RingCandidate() override { leave(); }

  void run() override { timed(RingPart::all); }
  bool times_itself() const override { return true; }
  std::vector<double> run_timed(std::int64_t executions) override {
    std::vector<double> times_ns;
    for (std::int64_t i = 0; i < executions; ++i) times_ns.push_back(timed(RingPart::all));
    return times_ns;
  }
  std::string timer() const override { return bed_->timer(); }
  int devices() const override { return bed_->devices(); }
  std::string uncounted() const override {
    return "the ranks are threads of their own, which are not counted";
  }
  nlohmann::json library() const override {
    return variant().library != nullptr ? variant().library() : nlohmann::json();
  }
  nlohmann::json transport() const override { return bed_->describe(); }

  void fill_output(std::byte value) override {
    on_every_rank([&](int number) {
      const auto lock = bed_->exclusive(number);
      Rank& rank = ranks_[static_cast<std::size_t>(number)];
      bed_->device(number).fill(rank.o, value);
      bed_->device(number).fill(rank.lse, value);
    });
  }

  OutputReader output() override {
    const Case& work = ring_.work();
    return {.o =
                [this, &work](std::int64_t first, std::span<float> to) {
                  read_rows(&Rank::o, work.dtype, work.heads * work.head_dim, first, to);
                },
            .lse = [this, &work](
                       std::int64_t first,
                       std::span<float> to) { read_rows(&Rank::lse, Dtype::fp32, work.heads, first, to); }};
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
    const Counter untold{.reason = "told of GPUs only"};
    return {{"ring_bytes", counter(sent_bytes_, "bytes", "transport")},
            {"ring_rank_memory", counter(most, "bytes", "measured")},
            {"ring_device_memory", device_bytes_ > 0 ? counter(device_bytes_, "bytes", "measured") : untold},
            {"ring_compute_ns", counter(median(computation), "ns", "measured")},
            {"ring_exchange_ns", sends ? counter(median(exchange), "ns", "measured") : unsent},
            {"ring_overlap", sends ? overlap(computation, exchange, all) : unsent}};
  }

 private:
  // Throws the first fault of a rank, which ends the others' waiting too.
  void on_every_rank(const std::function<void(int rank)>& part) {
    std::mutex mutex;
    std::string first;
    const std::function<void(int)> guarded = [&](int rank) {
      const auto fail = [&](const std::string& why) {
        {
          const std::lock_guard lock(mutex);
          if (first.empty()) first = why;
        }
        bed_->abort(rank, why);
      };
      const auto named = [&](const char* why) {
        return fmt::format("rank {} of {}: {}", rank, ring_.ranks(), why);
      };
      try {
        part(rank);
      } catch (const TransportError& error) {
        fail(error.what());  // names the rank
      } catch (const std::bad_alloc&) {
        fail(named("out of memory"));
      } catch (const std::exception& error) {
        fail(named(error.what()));
      }
    };
    threads_.run(guarded);
    if (!first.empty()) throw std::runtime_error(first);
  }

  // Each rank by its own thread: a GPU frees what is its own, and communicators are left by all at once.
  void leave() noexcept {
    threads_.run([this](int number) {
      ranks_[static_cast<std::size_t>(number)] = {};
      bed_->leave(number);
    });
  }

  // Duration of one run, from when the first rank begins to when the last one is done.
  double timed(RingPart part) {
    const double before = counted_bytes();
    on_every_rank([&](int number) {
      Rank& rank = ranks_[static_cast<std::size_t>(number)];
      bed_->start(number);
      rank.execution->run(rank.operands(), part);
      bed_->stop(number);
    });
    if (part != RingPart::computation) {
      sent_bytes_ = counted_bytes() - before;
      if (sent_bytes_ != planned_bytes_)
        throw std::runtime_error(
            fmt::format("the ring sent {:.0f} bytes, not the planned {:.0f}", sent_bytes_, planned_bytes_));
    }
    if (runs_++ == 0) device_bytes_ = bed_->device_bytes();  // before other candidates take some
    return bed_->elapsed_ns();
  }

  double counted_bytes() const {
    double bytes = 0;
    for (int rank = 0; rank < bed_->ranks(); ++rank)
      bytes += static_cast<double>(bed_->transport(rank).bytes_sent());
    return bytes;
  }

  void prepare(int number) {
    Rank& rank = ranks_[static_cast<std::size_t>(number)];
    const Case& work = ring_.work();
    const bool moved_q = ring_.variant().order_tensors == OrderTensors::qkv;
    rank.inputs.q = shard_of(Tensor::q, number, moved_q);
    rank.inputs.k = shard_of(Tensor::k, number, true);
    rank.inputs.v = shard_of(Tensor::v, number, true);
    const std::int64_t rows = work.batch * ring_.shards().count(number) * work.heads;
    rank.o = bed_->device(number).allocate(static_cast<std::size_t>(rows * row_bytes(work, 1)));
    rank.lse = bed_->device(number).allocate(static_cast<std::size_t>(rows) * sizeof(float));
    rank.execution = std::make_unique<RingExecution>(ring_, variant(), bed_->ring_device(number),
                                                     bed_->transport(number), rank_threads_);
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
    const auto lock = bed_->exclusive(number);
    Device& device = bed_->device(number);
    Buffer to = device.allocate(by_position.bytes);
    const auto move = [&] {
      device.permute(by_position, to, ring_.work().batch, slots, row_bytes(ring_.work(), heads_of(which)),
                     Direction::into_order);
    };
    move();  // touches the pages
    rank.permute_ns = rank.permute_ns.value_or(0) + device.time_ns(move);
    return to;
  }

  // Rows `positions` of every batch entry. Neighbours are made together.
  Buffer made_rows(Tensor which, int number, const std::vector<std::int32_t>& positions) {
    const Case& work = ring_.work();
    const std::int64_t row = heads_of(which) * work.head_dim, bytes = row * dtype_bytes(work.dtype);
    const std::int64_t count = std::ssize(positions);
    Device& device = bed_->device(number);
    Buffer to = device.allocate(static_cast<std::size_t>(work.batch * count * bytes));
    std::vector<std::byte> part;
    for_each_part(work.batch * count * row, row, [&](std::int64_t first, std::int64_t elements) {
      part.resize(static_cast<std::size_t>(elements / row * bytes));
      const std::int64_t begin = first / row, end = begin + elements / row;
      for (std::int64_t i = begin, next; i < end; i = next) {
        const auto position = [&](std::int64_t at) {
          return at / count * work.sequence_length + positions[static_cast<std::size_t>(at % count)];
        };
        for (next = i + 1; next < end && position(next) == position(i) + next - i;) ++next;
        bench_.inputs.read_stored(which, position(i) * row, (next - i) * row,
                                  part.data() + (i - begin) * bytes, rank_threads_);
      }
      device.upload(part.data(), part.size(), to, static_cast<std::size_t>(begin * bytes));
    });
    return to;
  }

  std::int64_t heads_of(Tensor which) const {
    return which == Tensor::q ? ring_.work().heads : ring_.work().kv_heads;
  }

  // Elements from `first` on, in position order, of what the ranks hold in rows of `row` elements. The rows
  // of a rank at a range of positions follow each other, whatever the sharding.
  void read_rows(Buffer Rank::*held, Dtype dtype, std::int64_t row, std::int64_t first, std::span<float> to) {
    const Shards& shards = ring_.shards();
    const std::int64_t last = first + std::ssize(to), element = dtype == Dtype::fp32 ? 4 : 2;
    std::vector<std::byte> raw;
    std::vector<float> values;
    for (std::int64_t batch = first / row / shards.length(); batch * shards.length() * row < last; ++batch) {
      const std::int64_t origin = batch * shards.length() * row;  // element 0 of the batch entry
      const std::int64_t begin = std::max<std::int64_t>(0, first - origin) / row;
      const std::int64_t end = std::min(shards.length(), (last - origin + row - 1) / row);
      for (int rank = 0; rank < bed_->ranks(); ++rank) {
        const std::int64_t own = shards.rows_below(rank, begin), next = shards.rows_below(rank, end);
        if (own == next) continue;
        raw.resize(static_cast<std::size_t>((next - own) * row * element));
        values.resize(static_cast<std::size_t>((next - own) * row));
        bed_->device(rank).download(
            ranks_[static_cast<std::size_t>(rank)].*held,
            static_cast<std::size_t>((batch * shards.count(rank) + own) * row * element), raw.size(),
            raw.data());
        widen(dtype, raw.data(), values);
        for (std::int64_t i = own; i < next; ++i)
          put(values.data() + (i - own) * row, origin + shards.position(rank, i) * row, row, first, to);
      }
    }
  }

  // `row` elements that stand from element `at` on, as far as `to`, which begins at element `first`, holds
  // them.
  static void put(const float* from, std::int64_t at, std::int64_t row, std::int64_t first,
                  std::span<float> to) {
    const std::int64_t begin = std::max(at, first), end = std::min(at + row, first + std::ssize(to));
    if (begin < end) std::copy_n(from + (begin - at), end - begin, to.begin() + (begin - first));
  }

  Bench& bench_;
  const Ring ring_;
  const double planned_bytes_;
  const int rank_threads_;
  double sent_bytes_ = 0, device_bytes_ = 0;
  std::int64_t runs_ = 0;
  const std::unique_ptr<RingBed> bed_;
  std::vector<Rank> ranks_;
  RankThreads threads_;
};

}  // namespace

std::unique_ptr<Candidate> make_ring_candidate(Bench& bench, const Record& record) {
  return std::make_unique<RingCandidate>(bench, record);
}

}  // namespace hilbench
