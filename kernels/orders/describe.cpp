#include "kernels/orders/describe.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "kernels/orders/locality.hpp"

namespace hilbench {
namespace {

constexpr std::size_t kTileKeys = 128;
constexpr std::int64_t kRowBytes = 256;

std::string check_lines(const OrderRequest& request, const OrderCheck& check) {
  std::string text =
      fmt::format("bijection: {} ({} of {} positions have a slot in range, {} slots are distinct)\n",
                  check.bijection() ? "yes" : "NO", check.in_range, check.length, check.distinct);
  const OrderInfo* info = find_order(request.name);
  if (info == nullptr || !info->unit_steps)
    text += "unit steps: not asked of this order\n";
  else if (!check.bijection())
    text += "unit steps: not examined, because the map is no bijection\n";
  else if (check.steps == 0)
    text += "unit steps: not examined, because the raster is no full rectangle\n";
  else
    text += fmt::format(
        "unit steps: {} ({} steps examined, {} longer than one cell, {} diagonal in one rectangle)\n",
        !check.promised ? "not promised on this grid"
        : check.valid() ? "yes"
                        : "NO",
        check.steps, check.long_steps, check.diagonal_steps);
  const std::string fault = order_fault(request, check);
  return text + (fault.empty() ? "valid\n" : fmt::format("invalid: {}\n", fault));
}

Locality dilated_locality(std::span<const std::int64_t> slots, std::size_t dilation) {
  std::vector<std::int64_t> visits;
  std::vector<std::int64_t> tile_begin;
  visits.reserve(slots.size() / dilation + 1);
  for (std::size_t t = 0; t < slots.size(); t += dilation) {
    if (visits.size() % kTileKeys == 0) tile_begin.push_back(static_cast<std::int64_t>(visits.size()));
    visits.push_back(slots[t]);
  }
  tile_begin.push_back(static_cast<std::int64_t>(visits.size()));
  return measure_locality(visits, tile_begin, kRowBytes, kRowBytes);
}

}  // namespace

std::string describe_order(const OrderRequest& request, std::span<const std::int64_t> slots) {
  const OrderCheck check = check_order(request, slots);
  const std::string grid =
      request.grid.empty() ? "" : fmt::format(" of a grid of {}", fmt::join(request.grid, " x "));
  std::string text = fmt::format("order {}, {} positions{}\n", request.name, request.length, grid) +
                     check_lines(request, check);
  if (!check.bijection()) return text;
  text += fmt::format(
      "locality of tiles of {} keys in position order, rows of {} bytes; page reuse over the first {} rows "
      "at most\n",
      kTileKeys, kRowBytes, kReuseVisits);
  text += fmt::format("{:>8}{:>12}{:>12}{:>14}{:>15}{:>14}{:>14}{:>11}{:>12}\n", "dilation", "mean jump",
                      "max jump", "64 B lines", "128 B lines", "4 KiB pages", "reuse median", "reuse p90",
                      "cold pages");
  text += fmt::format("{:>8}{:>12}{:>12}{:>14}{:>15}{:>14}{:>14}{:>11}{:>12}\n", "", "rows", "rows",
                      "per tile", "per tile", "per tile", "pages", "pages", "");
  for (const std::size_t dilation : {1u, 2u, 4u, 8u, 16u}) {
    const Locality l = dilated_locality(slots, dilation);
    text += fmt::format("{:>8}{:>12.1f}{:>12.0f}{:>14.1f}{:>15.1f}{:>14.1f}{:>14.0f}{:>11.0f}{:>12.0f}\n",
                        dilation, l.mean_jump, l.max_jump, l.lines_64, l.lines_128, l.pages_4k,
                        l.reuse_median, l.reuse_p90, l.cold_pages);
  }
  return text;
}

}  // namespace hilbench
