#include "harness/predict/model.hpp"

#include <algorithm>

#include "kernels/ring/piece_work.hpp"

namespace hilbench {
namespace {

ModelTime operator+(ModelTime a, const ModelTime& b) {
  a.ns += b.ns;
  for (std::size_t i = 0; i < kCoefficients; ++i) a.amounts[i] += b.amounts[i];
  return a;
}

ModelTime operator*(double factor, ModelTime time) {
  time.ns *= factor;
  for (double& amount : time.amounts) amount *= factor;
  return time;
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

ModelTime priced(const Coefficients& amounts, const RingModel& model, Coefficient alone) {
  Coefficients one{};
  one[at(alone)] = amounts[at(alone)];
  return priced(one, model);
}

ModelTime computing_time(const RingShape& shape, const RingShape::Step& step, const RingModel& model) {
  ModelTime sum;
  for (const Coefficients& piece : step.pieces) {
    if (!shape.fills_device) {
      sum = sum + priced(piece, model);
      continue;
    }
    sum = sum + priced(piece, model, Coefficient::launch) + priced(piece, model, Coefficient::row) +
          later(priced(piece, model, Coefficient::flop), priced(piece, model, Coefficient::tile));
  }
  return sum;
}

ModelTime exchange_time(const RingShape::Step& step, const RingModel& model) {
  Coefficients amounts{};
  amounts[at(Coefficient::latency)] = step.shards;
  amounts[at(Coefficient::byte)] = step.bytes;
  return priced(amounts, model);
}

// On a GPU, one kernel packs K and one packs V.
ModelTime packing_time(const RingShape& shape, std::size_t rank, const RingModel& model) {
  Coefficients amounts{};
  amounts[at(Coefficient::pack)] = shape.packed_bytes[rank];
  if (shape.fills_device && shape.packed_bytes[rank] > 0) amounts[at(Coefficient::launch)] = 2;
  return priced(amounts, model);
}

// Walks the steps of all ranks together: the time that each rank has reached, and the work of all
// ranks so far.
class Timeline {
 public:
  Timeline(const RingShape& shape, const RingModel& model, RingPart part)
      : shape_(shape), model_(model), part_(part), now_(shape.ranks.size()) {
    if (part_ == RingPart::computation) return;
    for (std::size_t rank = 0; rank < now_.size(); ++rank) {
      now_[rank] = packing_time(shape_, rank, model_);
      busy_ = busy_ + now_[rank];
    }
  }

  ModelTime run() {
    std::size_t steps = 0;
    for (const auto& of_rank : shape_.ranks) steps = std::max(steps, of_rank.size());
    for (std::size_t step = 0; step < steps; ++step) advance(step);
    ModelTime last;
    for (const ModelTime& end : now_) last = later(last, end);
    return later(last, (1 / shape_.at_once) * busy_);
  }

 private:
  void advance(std::size_t number) {
    const std::vector<ModelTime> begin = now_;
    for (std::size_t rank = 0; rank < now_.size(); ++rank) {
      if (number >= shape_.ranks[rank].size()) continue;
      const RingShape::Step& step = shape_.ranks[rank][number];
      ModelTime computation, exchange, posted = begin[rank];
      if (part_ != RingPart::exchange) computation = computing_time(shape_, step, model_);
      if (part_ != RingPart::computation) {
        exchange = exchange_time(step, model_);
        for (const int sender : step.from) posted = later(posted, begin[static_cast<std::size_t>(sender)]);
      }
      busy_ = busy_ + computation + (1 - model_.hidden) * exchange;
      now_[rank] = later(begin[rank] + computation, posted + exchange) +
                   (1 - model_.hidden) * earlier(computation, exchange);
    }
  }

  const RingShape& shape_;
  const RingModel& model_;
  RingPart part_;
  std::vector<ModelTime> now_;
  ModelTime busy_;
};

}  // namespace

const std::array<CoefficientInfo, kCoefficients>& coefficient_table() {
  static constexpr std::array<CoefficientInfo, kCoefficients> kTable = {{
      {"launch", "us", 1e-3, "one kernel launch, whatever it computes"},
      {"flop", "ps", 1e3, "one FLOP of a large piece; on a CPU, of one thread"},
      {"row", "ps", 1e3, "one element of O that a piece writes or merges; on a CPU, of one thread"},
      {"tile", "ps", 1e3, "one element of K that the last tile of a launch walks"},
      {"latency", "us", 1e-3, "one shard received, whatever its size"},
      {"byte", "ps", 1e3, "one byte received"},
      {"pack", "ps", 1e3, "one byte put into packed rows"},
  }};
  return kTable;
}

std::optional<std::string> why_not_modelled(const Case& work, const Variant& variant) {
  if (!Ring(work, variant).splits_heads()) return std::nullopt;
  return "the model knows rings that exchange keys, not heads (ulysses)";
}

RingShape ring_shape(const Case& work, const Variant& variant, std::int64_t threads) {
  const Ring ring(work, variant);
  const std::vector<PieceWork> works = piece_works(ring);
  const bool cpu = work.device != DeviceKind::cuda;
  const double workers = cpu ? static_cast<double>(std::max<std::int64_t>(1, threads / ring.ranks())) : 1;
  const auto row_bytes =  // of K and V, in one batch entry
      static_cast<double>(2 * work.kv_heads * work.head_dim) * static_cast<double>(dtype_bytes(work.dtype));
  RingShape shape;
  shape.fills_device = !cpu;
  shape.at_once = static_cast<double>(cpu ? std::min(ring.ranks(), threads) : ring.ranks());
  for (std::int64_t rank = 0; rank < ring.ranks(); ++rank) {
    auto& steps = shape.ranks.emplace_back();
    for (const RingStep& from : ring.steps(rank)) {
      RingShape::Step& step = steps.emplace_back();
      for (const RingStep::Source& source : from.sources) {
        const PieceWork& piece = works[static_cast<std::size_t>(rank * ring.ranks() + source.rank)];
        const auto head_dim = static_cast<double>(work.head_dim);
        Coefficients& amounts = step.pieces.emplace_back();
        amounts[at(Coefficient::launch)] = piece.launches;
        amounts[at(Coefficient::flop)] = 4 * head_dim * piece.pairs / workers;
        amounts[at(Coefficient::row)] = head_dim * piece.rows / workers;
        amounts[at(Coefficient::tile)] = head_dim * piece.tile_keys;
      }
      for (const ShardMove& move : from.receives) {
        const Span rows = ring.moved_rows(move);
        step.shards += 1;
        step.bytes += static_cast<double>(rows.end - rows.begin) * row_bytes;
        step.from.push_back(static_cast<int>(move.peer));
      }
    }
    shape.packed_bytes.push_back(
        ring.packed(rank) ? static_cast<double>(ring.sent_rows(rank) * work.batch) * row_bytes : 0);
  }
  shape.sent_bytes = ring.sent_bytes();
  return shape;
}

ModelTime model_time(const RingShape& shape, const RingModel& model, RingPart part) {
  return Timeline(shape, model, part).run();
}

}  // namespace hilbench
