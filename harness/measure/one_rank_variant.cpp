#include "harness/measure/one_rank_variant.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "baselines/table.hpp"
#include "kernels/orders/order.hpp"
#include "kernels/windows/case_index.hpp"

namespace hilbench {
namespace {

// Computes the whole case on the bench's device.
class OneRankVariant final : public PreparedVariant {
 public:
  OneRankVariant(Bench& bench, const Record& record);

  void run() override;
  void fill_output(std::byte value) override;
  TakenRows take(const DrawnRows& rows) override {
    return take_rows(bench_.work, output(), rows, held_, bench_.threads);
  }
  ComputedFunction function() const override;
  bool load(InputSet set) override;
  InputSet inputs() const override { return held_; }
  ProbeErrors probe(std::uint64_t entropy) override;
  OutputReader output() override;
  std::map<std::string, Counter> measured() override;

 private:
  nlohmann::json library() const;
  bool recomputes() const { return variant_.kernel().saved == Saved::inputs; }
  OrderScope scope() const { return variant_.kernel().order_scope; }
  Operands operands() const;
  // One pass of the case; a training step has two, and so has a backward pass that computes O and LSE again.
  struct Stage {
    Case work;
    Index index = {};
    std::unique_ptr<Execution> execution = nullptr;
  };
  Index build(const Stage& stage) const;
  std::unique_ptr<Execution> make_execution(const Stage& stage) const;
  void run(Stage& stage);
  Buffer permuted(const Buffer& from, std::int64_t heads);
  void permute_inputs();
  void copy_keys();
  std::vector<std::int32_t> own_slots() const;  // of copies in position order
  void unpermute_output();
  OutputReader::Read reader(const Buffer& from) const;
  BadValues count_bad(const Buffer& o, const Buffer& lse, const OfGradients<const Buffer*>& gradients) const;
  const Buffer& in_positions(const Buffer& from, Buffer& to, std::int64_t heads);
  bool moves_queries() const { return inputs_.q.data() != bench_.stored.q.data(); }

  Bench& bench_;
  Variant variant_;
  StoredInputs inputs_;
  InputSet held_ = InputSet::first;
  std::vector<std::int32_t> slots_;  // empty: linear order
  std::vector<Stage> stages_;
  Buffer moved_o_, moved_lse_;            // for order_scope `tokens` only
  Buffer recomputed_o_, recomputed_lse_;  // of the forward pass, if gradients alone are asked for
  OfGradients<Buffer> moved_gradients_;   // of what the order moves
};

OneRankVariant::OneRankVariant(Bench& bench, const Record& record)
    : PreparedVariant(*find_implementation(record.kernel, record.work.device)),
      bench_(bench),
      variant_(computed_variant(record)),
      inputs_(bench.stored) {
  if (recomputes() && bench.work.pass == Pass::backward) {
    recomputed_o_ = bench.device->allocate(bench.forward->o.bytes);
    recomputed_lse_ = bench.device->allocate(bench.forward->lse.bytes);
  }
  for (const Case& pass : passes_of(bench.work, variant_.kernel().saved)) {
    Stage& stage = stages_.emplace_back(Stage{.work = pass});
    if (implementation().tile_rows != nullptr) stage.index = build(stage);
  }
  permute_inputs();
  if (record.twin && inputs_.k.data() == bench.stored.k.data()) copy_keys();
  if (variant_.kernel().buffers == Buffers::pooled)
    for (Stage& stage : stages_) {
      stage.execution = make_execution(stage);
      stage.execution->load(stage.index);
      stage.execution->tune(operands());
    }
  traits_.index = &stages_.front().index;
  traits_.library = library();
}

Operands OneRankVariant::operands() const {
  const bool alone = bench_.work.pass == Pass::backward;
  const Buffer& o = !alone ? bench_.o : recomputes() ? recomputed_o_ : bench_.forward->o;
  const Buffer& lse = !alone ? bench_.lse : recomputes() ? recomputed_lse_ : bench_.forward->lse;
  return {.q = inputs_.q.data(),
          .k = inputs_.k.data(),
          .v = inputs_.v.data(),
          .o = o.data(),
          .lse = static_cast<float*>(lse.data()),
          .d_o = inputs_.d_o.data(),
          .d_q = bench_.d_q.data(),
          .d_k = bench_.d_k.data(),
          .d_v = bench_.d_v.data()};
}

void OneRankVariant::run() {
  if (recomputes() && bench_.work.pass == Pass::both) run(stages_.front());  // the one whose O nobody keeps
  for (Stage& stage : stages_) run(stage);
}

void OneRankVariant::run(Stage& stage) {
  std::unique_ptr<Execution> fresh;
  if (variant_.kernel().buffers == Buffers::fresh) fresh = make_execution(stage);
  Execution& execution = fresh ? *fresh : *stage.execution;
  if (variant_.kernel().index == IndexUse::computed) {
    const Index computed = build(stage);
    execution.load(computed);
    execution.run(operands(), computed);
  } else {
    if (fresh) fresh->load(stage.index);
    execution.run(operands(), stage.index);
  }
}

void OneRankVariant::fill_output(std::byte value) {
  for (Buffer* buffer :
       {&bench_.o, &bench_.lse, &bench_.d_q, &bench_.d_k, &bench_.d_v, &recomputed_o_, &recomputed_lse_})
    if (buffer->data() != nullptr) bench_.device->fill(*buffer, value);
}

ProbeErrors OneRankVariant::probe(std::uint64_t entropy) {
  if (bench_.forward)
    return compare_gradient_probe(bench_.work, bench_.gradient_probe(entropy), output(), bench_.threads);
  const KeyProbe& probe = bench_.key_probe(function(), entropy);
  return compare_probe(bench_.work, probe, output(), all_rows(bench_.work), bench_.threads);
}

// What has buffers of its own is permuted again.
bool OneRankVariant::load(InputSet set) {
  const Case& work = bench_.work;
  const auto move = [&](const Buffer& from, Buffer& to, std::int64_t heads) {
    if (to.data() != from.data())
      bench_.device->permute(from, to, work.batch, slots_.empty() ? own_slots() : slots_,
                             row_bytes(work, heads), Direction::into_order);
  };
  move(bench_.stored.q, inputs_.q, work.heads);
  move(bench_.stored.k, inputs_.k, work.kv_heads);
  move(bench_.stored.v, inputs_.v, work.kv_heads);
  move(bench_.stored.d_o, inputs_.d_o, work.heads);
  held_ = set;
  return true;
}

OutputReader OneRankVariant::output() {
  const bool tokens = scope() == OrderScope::tokens;
  if (tokens) unpermute_output();
  const Buffer& o = tokens ? moved_o_ : bench_.o;
  const Buffer& lse = tokens ? moved_lse_ : bench_.lse;
  OutputReader output;
  if (bench_.work.pass != Pass::backward) {
    output.o = reader(o);
    output.lse = [this, &lse](std::int64_t first, std::span<float> to) {
      bench_.device->download(lse, static_cast<std::size_t>(first) * sizeof(float), to.size_bytes(),
                              to.data());
    };
  }
  OfGradients<const Buffer*> gradients = {};
  if (bench_.forward) {
    const Case& work = bench_.work;
    gradients = {
        moves_queries() ? &in_positions(bench_.d_q, moved_gradients_[0], work.heads) : &bench_.d_q,
        slots_.empty() ? &bench_.d_k : &in_positions(bench_.d_k, moved_gradients_[1], work.kv_heads),
        slots_.empty() ? &bench_.d_v : &in_positions(bench_.d_v, moved_gradients_[2], work.kv_heads)};
    for (std::size_t i = 0; i < gradients.size(); ++i) output.gradients[i] = reader(*gradients[i]);
  }
  output.bad = [this, &o, &lse, gradients] { return count_bad(o, lse, gradients); };
  return output;
}

OutputReader::Read OneRankVariant::reader(const Buffer& from) const {
  return [this, &from](std::int64_t first, std::span<float> to) {
    bench_.read_elements(from, bench_.work.dtype, first, to);
  };
}

BadValues OneRankVariant::count_bad(const Buffer& o, const Buffer& lse,
                                    const OfGradients<const Buffer*>& gradients) const {
  const Dtype dtype = bench_.work.dtype;
  BadValues bad;
  if (bench_.work.pass != Pass::backward) {
    bad.o = bench_.device->count_bad(o, dtype, NegativeInfinity::bad);
    bad.lse = bench_.device->count_bad(lse, Dtype::fp32, NegativeInfinity::allowed);
  }
  for (std::size_t i = 0; i < gradients.size(); ++i)
    if (gradients[i] != nullptr)
      bad.gradients[i] = bench_.device->count_bad(*gradients[i], dtype, NegativeInfinity::bad);
  return bad;
}

// The rows of a tensor that the order moves, in position order.
const Buffer& OneRankVariant::in_positions(const Buffer& from, Buffer& to, std::int64_t heads) {
  if (to.data() == nullptr) to = bench_.device->allocate(from.bytes);
  bench_.device->permute(from, to, bench_.work.batch, slots_, row_bytes(bench_.work, heads),
                         Direction::out_of_order);
  return to;
}

nlohmann::json OneRankVariant::library() const {
  nlohmann::json described =
      implementation().library != nullptr ? implementation().library() : nlohmann::json();
  for (const Stage& stage : stages_)
    if (stage.execution)
      for (const auto& [name, choice] : stage.execution->choices()) described[name] = choice;
  return described;
}

std::map<std::string, Counter> OneRankVariant::measured() {
  std::map<std::string, Counter> measured;
  for (const Stage& stage : stages_)
    if (stage.execution) measured.merge(stage.execution->measured());
  return measured;
}

// Variants that compute the same function share what it must be.
ComputedFunction OneRankVariant::function() const {
  if (scope() == OrderScope::memory) return {};
  return {.key = variant_id(variant_), .slots = slots_, .queries_stay = scope() == OrderScope::keys};
}

Index OneRankVariant::build(const Stage& stage) const {
  return case_index(stage.work, variant_.kernel(), implementation().tile_rows(stage.work),
                    {.causal = implementation().causal_traversal,
                     .at_once = bench_.device->multiprocessors().value_or(bench_.threads)});
}

std::unique_ptr<Execution> OneRankVariant::make_execution(const Stage& stage) const {
  return implementation().prepare(stage.work, variant_.kernel(), bench_.threads);
}

Buffer OneRankVariant::permuted(const Buffer& from, std::int64_t heads) {
  Buffer to = bench_.device->allocate(from.bytes);
  const auto move = [&] {
    bench_.device->permute(from, to, bench_.work.batch, slots_, row_bytes(bench_.work, heads),
                           Direction::into_order);
  };
  move();  // once untimed: it touches the pages
  traits_.permute_ns = traits_.permute_ns.value_or(0) + bench_.device->time_ns(move);
  return to;
}

void OneRankVariant::permute_inputs() {
  const bool tokens = scope() == OrderScope::tokens;
  const bool stays = variant_.kernel().order == "linear" && scope() == OrderScope::memory;
  if (implementation().raster_storage || stays) return;
  const std::vector<std::int64_t> slots = order_slots(order_request(bench_.work, variant_.kernel()));
  slots_.assign(slots.begin(), slots.end());
  inputs_.k = permuted(bench_.stored.k, bench_.work.kv_heads);
  inputs_.v = permuted(bench_.stored.v, bench_.work.kv_heads);
  if (tokens || (scope() == OrderScope::memory && variant_.kernel().order_tensors == OrderTensors::qkv))
    inputs_.q = permuted(bench_.stored.q, bench_.work.heads);
  if (bench_.forward && moves_queries()) inputs_.d_o = permuted(bench_.stored.d_o, bench_.work.heads);
  if (!tokens) return;
  moved_o_ = bench_.device->allocate(bench_.o.bytes);
  moved_lse_ = bench_.device->allocate(bench_.lse.bytes);
  unpermute_output();
  *traits_.permute_ns += bench_.device->time_ns([this] { unpermute_output(); });
}

std::vector<std::int32_t> OneRankVariant::own_slots() const {
  std::vector<std::int32_t> same(static_cast<std::size_t>(bench_.work.sequence_length));
  std::iota(same.begin(), same.end(), 0);
  return same;
}

// K and V in buffers of their own, as every other order has them.
void OneRankVariant::copy_keys() {
  const std::vector<std::int32_t> same = own_slots();
  for (Buffer* keys : {&inputs_.k, &inputs_.v}) {
    Buffer copy = bench_.device->allocate(keys->bytes);
    bench_.device->permute(*keys, copy, bench_.work.batch, same, row_bytes(bench_.work, bench_.work.kv_heads),
                           Direction::into_order);
    *keys = std::move(copy);
  }
}

void OneRankVariant::unpermute_output() {
  const Case& work = bench_.work;
  const auto lse_row = work.heads * static_cast<std::int64_t>(sizeof(float));
  bench_.device->permute(bench_.o, moved_o_, work.batch, slots_, row_bytes(work, work.heads),
                         Direction::out_of_order);
  bench_.device->permute(bench_.lse, moved_lse_, work.batch, slots_, lse_row, Direction::out_of_order);
}

}  // namespace

std::unique_ptr<PreparedVariant> make_one_rank_variant(Bench& bench, const Record& record) {
  return std::make_unique<OneRankVariant>(bench, record);
}

}  // namespace hilbench
