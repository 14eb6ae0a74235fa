// The tiles of one K/V head and list of keys are a unit: no other unit touches their rows of dQ, dK and dV.
// If there are units enough, a thread takes whole ones, and each pair is computed once. Otherwise in two
// passes: dQ by tiles, then dK and dV by parts of a unit's keys; scores and dP are computed twice.
#include "kernels/cpu/dilated_cpu_backward.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <tuple>
#include <vector>

#include "kernels/cpu/gradient_tile.hpp"
#include "kernels/cpu/tile_operands.hpp"
#include "kernels/machine/host_memory.hpp"

namespace hilbench {
namespace {

// Two passes cost 7 products where one costs 5: threads that wait may cost that much.
constexpr double kMostUneven = 1.3;
constexpr std::int64_t kPartsPerThread = 8;
constexpr std::int64_t kFewestSlots = 256;  // of a part: the queries of a unit are gathered for each

struct Unit {
  std::vector<std::size_t> tiles;  // of the branch, in its sequence
  SlotRange slots;                 // of all its keys
  std::int64_t pairs = 0;          // at most: queries times keys
};

std::vector<Unit> units_of(const Case& work, const BranchIndex& branch) {
  std::map<std::tuple<std::int32_t, std::int32_t, std::int64_t>, std::size_t> found;
  std::vector<Unit> units;
  for (std::size_t i = 0; i < branch.tiles.size(); ++i) {
    const IndexTile& tile = branch.tiles[i];
    const std::int64_t list = has_windows(work) ? 0 : tile.key_begin;  // windows overlap
    const auto [at, created] = found.try_emplace({tile.batch, tile.kv_head, list}, units.size());
    if (created) units.emplace_back();
    units[at->second].tiles.push_back(i);
    units[at->second].pairs += std::int64_t{tile.query_count} * tile.key_count;
  }
  for (Unit& unit : units) {
    std::int32_t first = std::numeric_limits<std::int32_t>::max(), last = -1;
    for (const std::size_t i : unit.tiles) {
      const auto begin = branch.key_slot.begin() + branch.tiles[i].key_begin;
      for (auto slot = begin; slot != begin + branch.tiles[i].key_count; ++slot)
        first = std::min(first, *slot), last = std::max(last, *slot);
    }
    unit.slots = {std::min<std::int64_t>(first, last + std::int64_t{1}), last + std::int64_t{1}};
  }
  std::ranges::stable_sort(units, std::ranges::greater(), &Unit::pairs);  // the longest first
  return units;
}

// Whether threads that take whole units are busy enough.
bool shares_evenly(const std::vector<Unit>& units, int threads) {
  const auto count = static_cast<double>(units.size());
  const double turns = std::ceil(count / threads);
  return turns * threads <= kMostUneven * count;
}

std::int64_t q_elements(const Case& work) {
  return work.batch * work.sequence_length * work.heads * work.head_dim;
}
std::int64_t kv_elements(const Case& work) {
  return work.batch * work.sequence_length * work.kv_heads * work.head_dim;
}

class DilatedCpuBackward final : public Execution {
 public:
  DilatedCpuBackward(const Case& work, int threads)
      : work_(work),
        threads_(threads),
        delta_(allocate_floats(work.batch * work.sequence_length * work.heads, work.pages)),
        workspaces_(static_cast<std::size_t>(threads)) {
    if (work.dtype == Dtype::fp32) return;
    d_q_ = allocate_floats(q_elements(work), work.pages);
    d_k_ = allocate_floats(kv_elements(work), work.pages);
    d_v_ = allocate_floats(kv_elements(work), work.pages);
  }

  void load(const Index& index) override {
    std::int64_t rows = 1;
    units_.clear();
    for (const BranchIndex& branch : index.branches) {
      units_.push_back(units_of(work_, branch));
      for (const IndexTile& tile : branch.tiles) rows = std::max<std::int64_t>(rows, tile.query_count);
    }
    const std::int64_t floats = gradient_workspace_floats(work_.head_dim, rows);
    if (floats <= floats_per_thread_) return;
    floats_per_thread_ = floats;
    for (auto& workspace : workspaces_) workspace = allocate_floats(floats, work_.pages);
  }

  void run(const Operands& operands, const Index& index) override {
    const Sums sums = work_.dtype == Dtype::fp32
                          ? Sums{static_cast<float*>(operands.d_q), static_cast<float*>(operands.d_k),
                                 static_cast<float*>(operands.d_v)}
                          : Sums{d_q_.get(), d_k_.get(), d_v_.get()};
    find_deltas(operands, index);
    clear_all(sums.d_q, q_elements(work_));
    clear_all(sums.d_k, kv_elements(work_));
    clear_all(sums.d_v, kv_elements(work_));
    for (std::size_t b = 0; b < index.branches.size(); ++b) {
      const Launch launch{operands, index, index.branches[b], sums};
      if (shares_evenly(units_[b], threads_))
        run_units(launch, units_[b]);
      else
        run_twice(launch, units_[b]);
    }
    if (work_.dtype == Dtype::fp32) return;
    round_all(sums.d_q, operands.d_q, q_elements(work_));
    round_all(sums.d_k, operands.d_k, kv_elements(work_));
    round_all(sums.d_v, operands.d_v, kv_elements(work_));
  }

 private:
  struct Sums {
    float *d_q, *d_k, *d_v;
  };
  struct Launch {
    const Operands& operands;
    const Index& index;
    const BranchIndex& branch;
    const Sums& sums;
  };

  void find_deltas(const Operands& operands, const Index& index) {
    const std::int64_t rows = work_.sequence_length, stride = work_.heads * work_.head_dim;
    const std::int64_t bytes = work_.head_dim * dtype_bytes(work_.dtype);
    constexpr std::int64_t kRows = 256;
    const std::int64_t stretches = (rows + kRows - 1) / kRows, heads = work_.batch * work_.heads;
#pragma omp parallel for collapse(2) schedule(static) num_threads(threads_)
    for (std::int64_t stretch = 0; stretch < stretches; ++stretch)
      for (std::int64_t number = 0; number < heads; ++number) {
        const std::int64_t first = number / work_.heads * rows * work_.heads + number % work_.heads;
        const DeltaRows of_head{.dtype = work_.dtype,
                                .head_dim = work_.head_dim,
                                .stride = stride,
                                .to_stride = work_.heads,
                                .d_o = static_cast<const std::byte*>(operands.d_o) + first * bytes,
                                .o = static_cast<const std::byte*>(operands.o) + first * bytes,
                                .slots = index.q_slots};
        compute_deltas(of_head, stretch * kRows, std::min(kRows, rows - stretch * kRows),
                       delta_.get() + first);
      }
  }

  // Calls part(first, count) for parts of `elements` elements, in parallel.
  template <class Part>
  void in_parts(std::int64_t elements, const Part& part) const {
    constexpr std::int64_t kPart = 1 << 14;
#pragma omp parallel for schedule(static) num_threads(threads_)
    for (std::int64_t first = 0; first < elements; first += kPart)
      part(first, std::min(kPart, elements - first));
  }
  void clear_all(float* sums, std::int64_t elements) const {
    in_parts(elements,
             [&](std::int64_t first, std::int64_t count) { std::fill_n(sums + first, count, 0.0f); });
  }
  void round_all(const float* sums, void* to, std::int64_t elements) const {
    in_parts(elements, [&](std::int64_t first, std::int64_t count) {
      round_to_bf16(sums + first, static_cast<std::uint16_t*>(to) + first, count);
    });
  }

  enum class Wanted { all, queries, keys };
  void run_tile_of(const Launch& launch, std::size_t number, Wanted wanted, SlotRange keys) const {
    const IndexTile& tile = launch.branch.tiles[number];
    const std::int64_t first_q = tile.batch * launch.index.q_rows * work_.heads + tile.head;
    const std::int64_t first_kv = tile.batch * launch.index.kv_rows * work_.kv_heads + tile.kv_head;
    const auto q = first_q * work_.head_dim, kv = first_kv * work_.head_dim;
    const bool to_keys = wanted != Wanted::queries;
    GradientTile made{
        .forward = tile_operands(work_, launch.operands, launch.index, launch.branch, tile),
        .d_o = static_cast<const std::byte*>(launch.operands.d_o) + q * dtype_bytes(work_.dtype),
        .delta = delta_.get() + first_q,
        .d_q = wanted == Wanted::keys ? nullptr : launch.sums.d_q + q,
        .d_k = to_keys ? launch.sums.d_k + kv : nullptr,
        .d_v = to_keys ? launch.sums.d_v + kv : nullptr,
        .keys = keys};
    made.forward.bf16_products = bf16_products_;
    run_gradient_tile(made, workspaces_[static_cast<std::size_t>(omp_get_thread_num())].get());
  }

  void run_units(const Launch& launch, const std::vector<Unit>& units) const {
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads_)
    for (const Unit& unit : units)
      for (const std::size_t tile : unit.tiles) run_tile_of(launch, tile, Wanted::all, unit.slots);
  }

  void run_twice(const Launch& launch, const std::vector<Unit>& units) const {
    struct Part {
      const Unit* unit;
      SlotRange slots;
    };
    std::vector<Part> parts;
    const std::int64_t wanted = (kPartsPerThread * threads_ + std::ssize(units) - 1) / std::ssize(units);
    for (const Unit& unit : units) {
      const std::int64_t slots = unit.slots.end - unit.slots.begin;
      const std::int64_t count = std::clamp<std::int64_t>(slots / kFewestSlots, 1, wanted);
      for (std::int64_t part = 0; part < count; ++part)
        parts.push_back(
            {&unit,
             {unit.slots.begin + slots * part / count, unit.slots.begin + slots * (part + 1) / count}});
    }
    const SlotRange all{0, launch.index.kv_rows};
#pragma omp parallel num_threads(threads_)
    {
#pragma omp for schedule(dynamic, 1) nowait
      for (std::size_t tile = 0; tile < launch.branch.tiles.size(); ++tile)
        run_tile_of(launch, tile, Wanted::queries, all);
#pragma omp for schedule(dynamic, 1)
      for (const Part& part : parts)
        for (const std::size_t tile : part.unit->tiles) run_tile_of(launch, tile, Wanted::keys, part.slots);
    }
  }

  Case work_;
  int threads_;
  Bf16Products bf16_products_ = chosen_bf16_products().products;
  std::shared_ptr<float[]> delta_;            // D, like lse
  std::shared_ptr<float[]> d_q_, d_k_, d_v_;  // of bf16 gradients: fp32, before they are rounded
  std::int64_t floats_per_thread_ = 0;
  std::vector<std::shared_ptr<float[]>> workspaces_;
  std::vector<std::vector<Unit>> units_;  // of each branch
};

}  // namespace

std::unique_ptr<Execution> dilated_cpu_backward(const Case& work, int threads) {
  return std::make_unique<DilatedCpuBackward>(work, threads);
}

double backward_workspace_bytes(const Case& work, std::int64_t tile_rows, int threads) {
  const auto tiles = static_cast<double>(gradient_workspace_floats(work.head_dim, tile_rows)) * threads;
  const auto delta = static_cast<double>(work.batch * work.sequence_length * work.heads);
  const double sums =
      work.dtype == Dtype::fp32 ? 0 : static_cast<double>(q_elements(work) + 2 * kv_elements(work));
  return sizeof(float) * (tiles + delta + sums);
}

}  // namespace hilbench
