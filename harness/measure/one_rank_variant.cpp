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
  TakenRows take(std::vector<RowId> rows) override {
    return take_rows(bench_.work, output(), std::move(rows), held_, bench_.threads);
  }
  ComputedFunction function() const override;
  bool load(InputSet set) override;
  InputSet inputs() const override { return held_; }
  ProbeErrors probe(std::uint64_t entropy) override;
  OutputReader output() override;
  std::map<std::string, Counter> measured() override;

 private:
  nlohmann::json library() const;
  OrderScope scope() const { return variant_.kernel().order_scope; }
  Operands operands() const;
  Index build() const;
  std::unique_ptr<Execution> make_execution() const;
  Buffer permuted(const Buffer& from, std::int64_t heads);
  void permute_inputs();
  void copy_keys();
  std::vector<std::int32_t> own_slots() const;  // of copies in position order
  void unpermute_output();
  void read_elements(const Buffer& from, std::int64_t first, std::span<float> to) const;

  Bench& bench_;
  Variant variant_;
  StoredInputs inputs_;
  InputSet held_ = InputSet::first;
  std::vector<std::int32_t> slots_;  // empty: linear order
  Index index_;
  Buffer moved_o_, moved_lse_;  // for order_scope `tokens` only
  std::unique_ptr<Execution> execution_;
};

OneRankVariant::OneRankVariant(Bench& bench, const Record& record)
    : PreparedVariant(*find_implementation(record.kernel, record.work.device)),
      bench_(bench),
      variant_(record.variant),
      inputs_(bench.stored) {
  if (implementation().tile_rows != nullptr) index_ = build();
  permute_inputs();
  if (record.twin && inputs_.k.data() == bench.stored.k.data()) copy_keys();
  if (variant_.kernel().buffers == Buffers::pooled) {
    execution_ = make_execution();
    execution_->load(index_);
    execution_->tune(operands());
  }
  traits_.index = &index_;
  traits_.library = library();
}

Operands OneRankVariant::operands() const {
  return {inputs_.q.data(), inputs_.k.data(), inputs_.v.data(), bench_.o.data(),
          static_cast<float*>(bench_.lse.data())};
}

void OneRankVariant::run() {
  std::unique_ptr<Execution> fresh;
  if (variant_.kernel().buffers == Buffers::fresh) fresh = make_execution();
  Execution& execution = fresh ? *fresh : *execution_;
  if (variant_.kernel().index == IndexUse::computed) {
    const Index computed = build();
    execution.load(computed);
    execution.run(operands(), computed);
  } else {
    if (fresh) fresh->load(index_);
    execution.run(operands(), index_);
  }
}

void OneRankVariant::fill_output(std::byte value) {
  bench_.device->fill(bench_.o, value);
  bench_.device->fill(bench_.lse, value);
}

ProbeErrors OneRankVariant::probe(std::uint64_t entropy) {
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
  held_ = set;
  return true;
}

OutputReader OneRankVariant::output() {
  const bool tokens = scope() == OrderScope::tokens;
  if (tokens) unpermute_output();
  const Buffer& o = tokens ? moved_o_ : bench_.o;
  const Buffer& lse = tokens ? moved_lse_ : bench_.lse;
  return {.o = [this, &o](std::int64_t first, std::span<float> to) { read_elements(o, first, to); },
          .lse =
              [this, &lse](std::int64_t first, std::span<float> to) {
                bench_.device->download(lse, static_cast<std::size_t>(first) * sizeof(float), to.size_bytes(),
                                        to.data());
              },
          .bad =
              [this, &o, &lse] {
                return BadValues{
                    .o = bench_.device->count_bad(o, bench_.work.dtype, NegativeInfinity::bad),
                    .lse = bench_.device->count_bad(lse, Dtype::fp32, NegativeInfinity::allowed)};
              }};
}

void OneRankVariant::read_elements(const Buffer& from, std::int64_t first, std::span<float> to) const {
  const Dtype dtype = bench_.work.dtype;
  const auto element = static_cast<std::size_t>(dtype_bytes(dtype));
  const std::size_t bytes = to.size() * element;
  std::byte* raw = bench_.staging(bytes);
  bench_.device->download(from, static_cast<std::size_t>(first) * element, bytes, raw);
  widen_stored(dtype, raw, to, bench_.threads);
}

nlohmann::json OneRankVariant::library() const {
  nlohmann::json described =
      implementation().library != nullptr ? implementation().library() : nlohmann::json();
  if (execution_)
    for (const auto& [name, choice] : execution_->choices()) described[name] = choice;
  return described;
}

std::map<std::string, Counter> OneRankVariant::measured() {
  return execution_ ? execution_->measured() : std::map<std::string, Counter>{};
}

// Variants that compute the same function share what it must be.
ComputedFunction OneRankVariant::function() const {
  if (scope() == OrderScope::memory) return {};
  return {.key = variant_id(variant_), .slots = slots_, .queries_stay = scope() == OrderScope::keys};
}

Index OneRankVariant::build() const {
  return case_index(bench_.work, variant_.kernel(), implementation().tile_rows(bench_.work),
                    {.causal = implementation().causal_traversal,
                     .at_once = bench_.device->multiprocessors().value_or(bench_.threads)});
}

std::unique_ptr<Execution> OneRankVariant::make_execution() const {
  return implementation().prepare(bench_.work, variant_.kernel(), bench_.threads);
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
