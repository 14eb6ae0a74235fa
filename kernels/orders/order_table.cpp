#include "kernels/orders/order_table.hpp"

#include <algorithm>
#include <array>

#include "kernels/orders/grids.hpp"
#include "kernels/orders/named_entry.hpp"

namespace hilbench {
namespace {

using Extents = std::span<const std::int64_t>;

// A curve over a box steps by one if all of its extents are even.
bool flat_or_even(Extents extents) {
  return extents.size() == 2 ||
         std::all_of(extents.begin(), extents.end(), [](std::int64_t extent) { return extent % 2 == 0; });
}

bool wider_than_one(Extents extents) {
  return std::all_of(extents.begin(), extents.end(), [](std::int64_t extent) { return extent > 1; });
}

constexpr GridForm kAsSequence{.kind = OnGrid::as_sequence};

constexpr GridForm over(BoxCurve box) {
  return {.kind = OnGrid::curve, .box = box};
}

void residue_or_groups(const OrderRequest& request, std::span<std::int64_t> slots) {
  request.grid.empty() ? residue_map(request, slots) : group_map(request, slots);
}

void auto_map(const OrderRequest& request, std::span<std::int64_t> slots) {
  request.residue > 1 ? residue_map(request, slots) : linear_map(request, slots);
}

// To add an order, add a row.
constexpr auto kEntries = std::to_array<OrderEntry>({
    {{"linear", "slot = position", OrderParam::none, false}, nullptr, linear_map, kAsSequence},
    {{"snake", "rows of the raster there and back", OrderParam::chunk, true},
     snake_curve,
     nullptr,
     over(snake_box)},
    {{"morton", "Z-order of the raster (bits of row and column interleaved)", OrderParam::chunk, false},
     morton_curve,
     nullptr,
     over(morton_box)},
    {{"gray", "Gray-code order of the raster", OrderParam::chunk, false}, gray_curve, nullptr, over(nullptr)},
    {{"hilbert", "Hilbert curve over the raster, generalised to any rectangle", OrderParam::chunk, true},
     hilbert_curve,
     nullptr,
     {OnGrid::curve, hilbert_box, "", false, flat_or_even}},
    {{"moore", "Moore curve (closed) over the raster, generalised to any rectangle", OrderParam::chunk, true},
     moore_curve,
     nullptr,
     {OnGrid::curve, nullptr, "", false, wider_than_one}},
    {{"residue",
      "by (t mod r, t): each dilated stream contiguous; r: the dilations' lcm. On a grid: group after group "
      "of a dilated window, each row-major",
      OrderParam::residue, false},
     nullptr,
     residue_or_groups,
     {.kind = OnGrid::own, .inside = "linear"}},
    {{"residue_hilbert", "on a grid: group after group of a dilated window, a Hilbert curve over each",
      OrderParam::none, false},
     nullptr,
     group_map,
     {.kind = OnGrid::own, .inside = "hilbert", .only = true}},
    {{"residue_boxes", "on a grid: group after group of a dilated window, each in boxes of A x B [x C]",
      OrderParam::box, false},
     nullptr,
     group_map,
     {.kind = OnGrid::own, .inside = "boxes", .only = true}},
    {{"bitrev_residue",
      "by (bit-reversed t mod r_max, t / r_max): streams of all power-of-two dilations up to r_max "
      "contiguous; r_max: the largest dilation, rounded up to a power of two",
      OrderParam::max_residue, false},
     nullptr,
     bitrev_residue_map},
    {{"boxes", "on a grid: box after box of A x B [x C] positions, row-major, and row-major inside",
      OrderParam::box, false},
     nullptr,
     box_map,
     {.kind = OnGrid::own, .only = true}},
    {{"random", "a seeded random permutation: the negative control", OrderParam::seed, false},
     nullptr,
     random_map,
     kAsSequence},
    {{"file", "the permutation in `order_file`: .npy with the slot of each position", OrderParam::none,
      false},
     nullptr,
     file_map,
     kAsSequence},
    {{"auto", "residue if a dilation is above 1, else linear", OrderParam::none, false}, nullptr, auto_map},
    {{"seed_d2xy", "a published index formula that is not a bijection: invalid from 2 positions on",
      OrderParam::none, true},
     nullptr,
     seed_d2xy_map},
    {{"seed_zeros",
      "a map of a published analysis that leaves slots at 0: invalid unless the length is a power of 4",
      OrderParam::none, false},
     nullptr,
     seed_zeros_map},
    {{"seed_list",
      "a published list of 16, applied to every 16 positions, that is not a Hilbert curve: invalid from "
      "16 positions on",
      OrderParam::none, true},
     nullptr,
     seed_list_map},
});

constexpr auto kInfos = infos_of(kEntries);

}  // namespace

std::span<const OrderInfo> orders() {
  return kInfos;
}

const OrderEntry* find_order_entry(std::string_view name) {
  const auto found = std::find_if(kEntries.begin(), kEntries.end(),
                                  [&](const auto& entry) { return entry.info.name == name; });
  return found == kEntries.end() ? nullptr : &*found;
}

const OrderInfo* find_order(std::string_view name) {
  const OrderEntry* entry = find_order_entry(name);
  return entry == nullptr ? nullptr : &entry->info;
}

const OrderEntry& order_entry(std::string_view name) {
  return entry_named(kEntries, "order", name);
}

}  // namespace hilbench
