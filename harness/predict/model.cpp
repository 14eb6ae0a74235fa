#include "harness/predict/model.hpp"

#include <algorithm>

#include "kernels/case/pattern.hpp"
#include "kernels/ring/head_exchange.hpp"
#include "kernels/ring/piece_work.hpp"

namespace hilbench {
namespace {

// Adds `factor` times another time.
void add(ModelTime& to, const ModelTime& time, double factor = 1) {
  to.ns += factor * time.ns;
  for (std::size_t i = 0; i < kCoefficients; ++i) to.amounts[i] += factor * time.amounts[i];
}

const ModelTime& later(const ModelTime& a, const ModelTime& b) {
  return a.ns < b.ns ? b : a;
}
const ModelTime& earlier(const ModelTime& a, const ModelTime& b) {
  return b.ns < a.ns ? b : a;
}

constexpr std::size_t at(Coefficient coefficient) {
  return static_cast<std::size_t>(coefficient);
}

ModelTime priced(const Coefficients& amounts, const RingModel& model) {
  ModelTime time{0, amounts};
  for (std::size_t i = 0; i < kCoefficients; ++i) time.ns += amounts[i] * model.ns[i];
  return time;
}

ModelTime computing_time(const RingShape::Step& step, const RingModel& model) {
  ModelTime sum;
  for (const Coefficients& piece : step.pieces) add(sum, priced(piece, model));
  return sum;
}

ModelTime exchange_time(const RingShape::Step& step, const RingModel& model) {
  Coefficients amounts{};
  amounts[at(Coefficient::latency)] = step.messages;
  amounts[at(Coefficient::byte)] = step.bytes;
  return priced(amounts, model);
}

// What a rank does before the first exchange.
ModelTime beginning(const RingShape& shape, std::size_t rank, const RingModel& model, RingPart part) {
  Coefficients amounts{};
  if (shape.ranks.size() > 1) amounts[at(Coefficient::start)] = 1;
  if (part == RingPart::computation) return priced(amounts, model);
  amounts[at(Coefficient::pack)] = shape.packed_bytes[rank];
  amounts[at(Coefficient::launch)] = shape.copy_launches[rank];
  return priced(amounts, model);
}

// Walks the steps of all ranks together: the time that each rank has reached, and the work of all
// ranks so far.
class Timeline {
 public:
  Timeline(const RingShape& shape, const RingModel& model, RingPart part)
      : shape_(shape), model_(model), part_(part), now_(shape.ranks.size()) {
    for (std::size_t rank = 0; rank < now_.size(); ++rank) {
      now_[rank] = beginning(shape_, rank, model_, part_);
      add(busy_, now_[rank]);
    }
  }

  ModelTime run() {
    std::size_t steps = 0;
    for (const auto& of_rank : shape_.ranks) steps = std::max(steps, of_rank.size());
    for (std::size_t step = 0; step < steps; ++step) advance(step);
    ModelTime shared;
    add(shared, busy_, 1 / shape_.at_once);
    const ModelTime* last = &now_.front();
    for (const ModelTime& end : now_) last = &later(*last, end);
    return later(*last, shared);
  }

 private:
  void advance(std::size_t number) {
    begin_ = now_;
    for (std::size_t rank = 0; rank < now_.size(); ++rank) {
      if (number >= shape_.ranks[rank].size()) continue;
      const RingShape::Step& step = shape_.ranks[rank][number];
      ModelTime computation, exchange;
      const ModelTime* posted = &begin_[rank];
      if (part_ != RingPart::exchange) computation = computing_time(step, model_);
      if (part_ != RingPart::computation) {
        exchange = exchange_time(step, model_);
        for (const int sender : step.from) posted = &later(*posted, begin_[static_cast<std::size_t>(sender)]);
      }
      add(busy_, computation);
      add(busy_, exchange, 1 - model_.hidden);
      ModelTime& computed = now_[rank];
      ModelTime exchanged = *posted;
      add(computed, computation);
      add(exchanged, exchange);
      if (computed.ns < exchanged.ns) computed = exchanged;
      add(computed, earlier(computation, exchange), 1 - model_.hidden);
    }
  }

  const RingShape& shape_;
  const RingModel& model_;
  RingPart part_;
  std::vector<ModelTime> now_, begin_;  // of a step
  ModelTime busy_;
};

}  // namespace

const std::array<CoefficientInfo, kCoefficients>& coefficient_table() {
  static constexpr std::array<CoefficientInfo, kCoefficients> kTable = {{
      {"launch", "us", 1e-3, "one kernel launch, whatever it computes"},
      {"flop", "ps", 1e3, "one FLOP of a large piece; on a CPU, of one thread"},
      {"row", "ps", 1e3, "one element of O that a piece merges, or that is rounded; on a CPU, of one thread"},
      {"tile", "ps", 1e3, "a tile of the busiest multiprocessor; on a CPU, an element of K in the last tile"},
      {"clear", "ps", 1e3, "one element of O that no branch covers"},
      {"start", "us", 1e-3, "a run of several ranks, before anything"},
      {"latency", "us", 1e-3, "one message received, whatever its size"},
      {"byte", "ps", 1e3, "one byte received"},
      {"pack", "ps", 1e3, "one byte put into packed rows, or moved between heads and rows"},
  }};
  return kTable;
}

Refusal why_not_modelled(const Case&, const Variant& variant) {
  if (variant.ring.launch == RingLaunch::persistent)
    return "the model knows a launch for each shard, not one for all";
  if (variant.ring.outer_link == OuterLink::direct) return std::nullopt;
  return "the model knows the links of the machine, not an emulated one";
}

namespace {

// Builds the shape of one ring.
class ShapeBuilder {
 public:
  ShapeBuilder(const Case& work, const Variant& variant, const RingMachine& machine)
      : ring_(work, variant), machine_(machine), works_(works_of(ring_)) {
    shape_.on_gpu = work.device == DeviceKind::cuda;
    shape_.at_once =
        static_cast<double>(shape_.on_gpu ? ring_.ranks() : std::min(ring_.ranks(), machine.threads));
    shape_.sent_bytes = ring_.sent_bytes();
  }

  RingShape build() && {
    for (std::int64_t rank = 0; rank < ring_.ranks(); ++rank) {
      auto& steps = shape_.ranks.emplace_back();
      for (const RingStep& from : ring_.steps(rank)) steps.push_back(step(rank, from));
      steps.front().pieces.push_back(output(rank));
      shape_.packed_bytes.push_back(copied_bytes(rank));
      shape_.copy_launches.push_back(shape_.on_gpu ? copy_launches(rank) : 0);
    }
    return std::move(shape_);
  }

 private:
  // [rank * ranks + source]. If ranks share heads: of one rank with all rows, all heads.
  static std::vector<PieceWork> works_of(const Ring& ring) {
    if (!ring.splits_heads()) return piece_works(ring);
    Case alone = ring.work();
    alone.ring_size = 1;
    PieceWork work = piece_works(Ring(alone, {KernelChoice{.name = ring.variant().name()}})).front();
    const double share = static_cast<double>(ring.piece_heads()) / static_cast<double>(ring.work().heads);
    work.pairs *= share, work.rows *= share;
    return std::vector<PieceWork>(static_cast<std::size_t>(ring.ranks() * ring.ranks()), work);
  }

  double workers() const {
    if (shape_.on_gpu) return 1;
    return static_cast<double>(std::max<std::int64_t>(1, machine_.threads / ring_.ranks()));
  }

  RingShape::Step step(std::int64_t rank, const RingStep& from) const {
    RingShape::Step made;
    for (const RingStep::Source& source : from.sources) made.pieces.push_back(piece(rank, source));
    for (const ShardMove& move : from.receives) {
      made.messages += 1;
      made.bytes += ring_.moved_bytes(move);
      made.from.push_back(static_cast<int>(move.peer));
    }
    const bool by_kernel = shape_.on_gpu && ring_.moves_heads_directly() && from.sources.empty();
    if (by_kernel) made.messages = std::min(made.messages, 1.0);
    return made;
  }

  Coefficients piece(std::int64_t rank, const RingStep::Source& source) const {
    const PieceWork& work = works_[static_cast<std::size_t>(rank * ring_.ranks() + source.rank)];
    const auto head_dim = static_cast<double>(ring_.work().head_dim);
    Coefficients amounts{};
    amounts[at(Coefficient::launch)] = work.launches;
    if (merges_in_fp32() || !shape_.on_gpu) amounts[at(Coefficient::row)] = head_dim * work.rows / workers();
    if (!shape_.on_gpu) {
      amounts[at(Coefficient::flop)] = 4 * head_dim * work.pairs / workers();
      amounts[at(Coefficient::tile)] = head_dim * work.tile_keys;
      return amounts;
    }
    const TileSchedule busiest = tile_schedule(ring_, rank, source, work, machine_);
    const double pairs = busiest.keys * kScheduledTileRows * static_cast<double>(machine_.multiprocessors);
    amounts[at(Coefficient::flop)] = 4 * head_dim * pairs;
    amounts[at(Coefficient::tile)] = busiest.tiles;
    return amounts;
  }

  bool merges_in_fp32() const { return ring_.merges() && ring_.work().dtype != Dtype::fp32; }

  Coefficients output(std::int64_t rank) const {
    const Case& work = ring_.work();
    const auto rows = static_cast<double>(ring_.computed_rows(rank) * work.batch);
    const auto row = static_cast<double>(ring_.computed_heads() * work.head_dim);
    const auto parts = static_cast<double>(ring_.head_parts());
    Coefficients amounts{};
    amounts[at(Coefficient::clear)] = rows * row * uncovered_share() / workers();
    if (merges_in_fp32()) amounts[at(Coefficient::row)] = rows * row / workers();
    for (const Coefficient launched : {Coefficient::clear, Coefficient::row})
      if (shape_.on_gpu && amounts[at(launched)] > 0) amounts[at(Coefficient::launch)] += parts;
    return amounts;
  }

  // Of the rows of all heads, if dilations are multiples of each other.
  double uncovered_share() const {
    const Case& work = ring_.work();
    if (work.queries == Queries::dense) return 0;
    double covered = 0;
    for (std::int64_t head = 0; head < work.heads; ++head) {
      double densest = 0;
      for (std::int64_t b = 0; b < std::ssize(work.pattern); ++b)
        if (head_runs_branch(work, head, b))
          densest =
              std::max(densest, 1 / static_cast<double>(work.pattern[static_cast<std::size_t>(b)].dilation));
      covered += densest;
    }
    return 1 - covered / static_cast<double>(work.heads);
  }

  double copied_bytes(std::int64_t rank) const {
    const Case& work = ring_.work();
    const auto row = [&](std::int64_t heads) {
      return static_cast<double>(heads * work.head_dim * dtype_bytes(work.dtype) * work.batch);
    };
    if (ring_.packed(rank)) return static_cast<double>(ring_.sent_rows(rank)) * 2 * row(work.kv_heads);
    if (!ring_.splits_heads() || ring_.moves_heads_directly()) return 0;
    // Q, K and V are taken apart once, O twice: by head and by row.
    return static_cast<double>(ring_.shards().count(rank)) * (3 * row(work.heads) + 2 * row(work.kv_heads));
  }

  double copy_launches(std::int64_t rank) const {
    if (ring_.splits_heads()) return static_cast<double>(ring_.head_parts() * HeadExchange::copies(ring_));
    return shape_.packed_bytes[static_cast<std::size_t>(rank)] > 0 ? 1 : 0;
  }

  const Ring ring_;
  const RingMachine machine_;
  const std::vector<PieceWork> works_;
  RingShape shape_;
};

}  // namespace

RingShape ring_shape(const Case& work, const Variant& variant, const RingMachine& machine) {
  return ShapeBuilder(work, variant, machine).build();
}

ModelTime model_time(const RingShape& shape, const RingModel& model, RingPart part) {
  return Timeline(shape, model, part).run();
}

}  // namespace hilbench
