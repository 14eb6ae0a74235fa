#include "kernels/orders/order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "kernels/base/text/error.hpp"
#include "kernels/case/windows.hpp"
#include "kernels/orders/curves.hpp"
#include "kernels/orders/grids.hpp"
#include "kernels/orders/hilbert.hpp"
#include "kernels/orders/order_table.hpp"

namespace hilbench {
namespace {

void require_range(std::string_view what, std::int64_t value, std::int64_t low, std::int64_t high,
                   std::string_view order) {
  if (value < low || value > high)
    throw UsageError({fmt::format("{} {}", what, value), fmt::format("order {}", order), "out of range",
                      fmt::format("give {} to {}", low, high)});
}

// The Hilbert curve over a full 2^k square. The index formula gives the ranks in raster order.
void fill_hilbert_square(int k, std::span<std::int64_t> slots) {
  const std::size_t side = std::size_t{1} << k;
  std::vector<std::uint16_t> x(side), y(side);
  std::vector<std::uint32_t> index(side);
  std::iota(x.begin(), x.end(), std::uint16_t{0});
  for (std::size_t row = 0; row < side; ++row) {
    std::fill(y.begin(), y.end(), static_cast<std::uint16_t>(row));
    hilbert_encode(x, y, k, index);
    std::copy(index.begin(), index.end(), slots.begin() + static_cast<std::ptrdiff_t>(row * side));
  }
}

// Ranks of the raster's cells along the curve, without the cells that have no position.
void fill_chunk(Curve curve, std::span<std::int64_t> slots) {
  const Raster raster = raster_of(static_cast<std::int64_t>(slots.size()));
  const auto side = static_cast<std::uint64_t>(raster.width);
  if (curve == hilbert_curve && side * side == slots.size() && std::has_single_bit(side))
    return fill_hilbert_square(std::countr_zero(side), slots);
  std::vector<std::uint32_t> cells(static_cast<std::size_t>(raster.cells()));
  curve(raster.width, raster.height, cells);
  std::int64_t rank = 0;
  for (const std::uint32_t cell : cells)
    if (cell < slots.size()) slots[cell] = rank++;
}

void fill_chunks(Curve curve, std::int64_t chunk, std::span<std::int64_t> slots) {
  const auto length = static_cast<std::int64_t>(slots.size());
  const std::int64_t size = chunk == 0 ? length : std::min(chunk, length);
  fill_chunk(curve, slots.first(static_cast<std::size_t>(size)));
  const std::int64_t repeated = length / size * size;
  for (std::int64_t t = size; t < repeated; ++t)
    slots[static_cast<std::size_t>(t)] = slots[static_cast<std::size_t>(t - size)] + size;
  if (repeated == length) return;
  const auto rest = slots.subspan(static_cast<std::size_t>(repeated));
  fill_chunk(curve, rest);
  for (std::int64_t& slot : rest) slot += repeated;
}

// Above kMaxResidue every position is a stream of its own.
std::int64_t dilations_lcm(const Case& work) {
  std::int64_t lcm = 1;
  for (const Branch& branch : work.pattern) {
    const std::int64_t factor = std::min(branch.dilation, kMaxResidue);
    lcm = std::min(lcm / std::gcd(lcm, factor) * factor, kMaxResidue);
  }
  return lcm;
}

std::int64_t dilations_power_of_two(const Case& work) {
  std::int64_t largest = 1;
  for (const Branch& branch : work.pattern)
    largest = std::max(largest, std::min(branch.dilation, kMaxResidue));
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(largest)));
}

}  // namespace

Refusal why_not_order(const Case& work, const KernelChoice& choice) {
  const OrderEntry* entry = find_order_entry(choice.order);
  if (!has_grid(work))
    return entry != nullptr && entry->grid.only
               ? Refusal(fmt::format("order {} is for grids alone; this sequence has no grid", choice.order))
               : std::nullopt;
  if (entry != nullptr && entry->info.param == OrderParam::chunk &&
      (choice.order_param || choice.order_chunk != 0))
    return fmt::format("order {} with a chunk: order_chunk does not apply to grids", choice.order);
  if (entry != nullptr && entry->info.param == OrderParam::residue && choice.order_param)
    return fmt::format("order {} with a parameter: on a grid the dilations of the window decide",
                       choice.order);
  return why_not_on_grid({.name = choice.order, .grid = grid_of(work), .box = choice.order_box});
}

OrderRequest order_request(const Case& work, const KernelChoice& choice) {
  const OrderInfo& info = order_entry(choice.order).info;
  if (const Refusal why = why_not_order(work, choice))
    throw UsageError({*why, "", "", "see `hilbench list orders`"});
  OrderRequest request{.name = choice.order,
                       .length = work.sequence_length,
                       .grid = grid_of(work),
                       .dilation = dilation_of(work),
                       .box = choice.order_box,
                       .file = choice.order_file};
  const auto param = choice.order_param;
  switch (info.param) {
    case OrderParam::none:
    case OrderParam::box:
      if (param)
        throw UsageError({fmt::format("param {} of order {}", *param, info.name), "", "the order takes none",
                          fmt::format("write '{}'", info.name)});
      break;
    case OrderParam::chunk:
      request.chunk = std::min(param.value_or(choice.order_chunk), kMostPositions);
      require_range("chunk", request.chunk, param ? 1 : 0, kMostPositions, info.name);
      if (request.chunk == 0 && request.grid.empty()) request.chunk = request.length;
      break;
    case OrderParam::residue:
      request.residue = std::min(param.value_or(dilations_lcm(work)), kMaxResidue);
      require_range("residue", request.residue, 1, kMaxResidue, info.name);
      break;
    case OrderParam::max_residue:
      request.residue = std::min(param.value_or(dilations_power_of_two(work)), kMaxResidue);
      require_range("residue", request.residue, 1, kMaxResidue, info.name);
      break;
    case OrderParam::seed:
      require_range("seed", param.value_or(1), 0, std::int64_t{1} << 62, info.name);
      request.seed = static_cast<std::uint64_t>(param.value_or(1));
      break;
  }
  if (info.name == "auto") {
    request.residue = dilations_lcm(work);
    request.name = request.residue > 1 ? "residue" : "linear";
  }
  return request;
}

std::vector<std::int64_t> order_slots(const OrderRequest& request) {
  const OrderEntry& entry = order_entry(request.name);
  require_range("length", request.length, 1, kMostPositions, request.name);
  require_range("chunk", request.chunk, 0, kMostPositions, request.name);
  require_range("residue", request.residue, 1, kMaxResidue, request.name);
  if (entry.grid.only && request.grid.empty())
    throw UsageError(
        {"order " + request.name, "", "it has no form on a sequence", "take another order there"});
  std::vector<std::int64_t> slots(static_cast<std::size_t>(request.length));
  std::int64_t positions = 1;
  for (const std::int64_t extent : request.grid) positions *= extent;
  if (!request.grid.empty() && positions != request.length)
    throw UsageError({fmt::format("{} positions", request.length), fmt::format("order {}", request.name),
                      fmt::format("the grid has {}", positions), ""});
  if (entry.grid.kind == OnGrid::curve && !request.grid.empty())
    curve_on_grid(entry, request, slots);
  else if (entry.curve != nullptr)
    fill_chunks(entry.curve, request.chunk, slots);
  else
    entry.map(request, slots);
  return slots;
}

}  // namespace hilbench
