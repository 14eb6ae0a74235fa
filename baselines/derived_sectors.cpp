#include "baselines/derived_sectors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "baselines/table.hpp"

namespace hilbench {
namespace {

constexpr auto kPairs = std::to_array<SectorPair>({
    {"tma_load_sectors", [](const Sectors& s) { return s[MemoryPath::tma].sectors; }},
    {"cp_async_instructions", [](const Sectors& s) { return s.copy_instructions; }},
    {"l1_load_requests", [](const Sectors& s) { return s.l1_loads().requests; }},
    {"l1_load_sectors", [](const Sectors& s) { return s.l1_loads().sectors; }},
    {"l1_store_requests", [](const Sectors& s) { return s.l1_stores().requests; }},
    {"l1_store_sectors", [](const Sectors& s) { return s.l1_stores().sectors; }},
    {"tma_store_sectors", [](const Sectors& s) { return s.tma_stores.sectors; }},
});

Refusal why_not_streamed(const Case& work, const Implementation& implementation, const StreamDevice& device) {
  if (implementation.stream == nullptr) return fmt::format("what {} reads is not known", implementation.name);
  if (Refusal reason = implementation.stream->why_not(work, device))
    return fmt::format("{}: {}", implementation.name, *reason);
  return std::nullopt;
}

}  // namespace

StreamDevice stream_device(const Gpu& gpu) {
  return {.compute_capability = gpu.compute_capability, .multiprocessors = gpu.multiprocessors};
}

const Implementation* streamed_implementation(const Case& work, const Variant& variant,
                                              const StreamDevice& device) {
  if (const Implementation* named = find_implementation(variant.name(), work.device)) return named;
  if (variant.name() != "dilated") return nullptr;
  const Implementation* found = nullptr;
  for (const Implementation* each : implementation_table()) {
    if (each->stream == nullptr || each->device != work.device || each->raster_storage ||
        variant.is_baseline())
      continue;
    found = each;
    if (!why_not_streamed(work, *each, device)) break;
  }
  return found;
}

Refusal why_no_sectors(const Case& work, const Variant& variant, const Implementation* implementation,
                       const StreamDevice& device) {
  if (variant.is_baseline() || implementation == nullptr)
    return fmt::format("what {} reads is not known", variant.name());
  if (work.ring_size != 1) return Refusal("sectors are derived for one rank");
  if (work.pass != Pass::forward) return Refusal("sectors are derived for the forward pass");
  return why_not_streamed(work, *implementation, device);
}

Index streamed_index(const Case& work, const KernelChoice& choice, const Implementation& implementation,
                     const StreamDevice& device, IndexContents contents) {
  return case_index(work, choice, implementation.stream->tile_rows(work, device),
                    {.causal = implementation.causal_traversal,
                     .at_once = std::max<std::int64_t>(1, device.multiprocessors)},
                    contents);
}

std::map<std::string, Counter> sector_counters(const Sectors& sectors) {
  std::map<std::string, Counter> counters;
  const auto add = [&](const std::string& name, std::int64_t value, const char* unit) {
    counters.emplace("derived_" + name,
                     Counter{.value = static_cast<double>(value), .unit = unit, .source = "derived"});
  };
  for (std::size_t i = 0; i < kMemoryPaths; ++i)
    add(fmt::format("{}_sectors", to_string(static_cast<MemoryPath>(i))), sectors.of[i].sectors, "sectors");
  add("load_requests", sectors.l1_loads().requests, "count");
  add("copy_instructions", sectors.copy_instructions, "count");
  add("store_requests", sectors.l1_stores().requests, "count");
  add("tma_store_sectors", sectors.tma_stores.sectors, "sectors");
  return counters;
}

std::span<const SectorPair> sector_pairs() {
  return kPairs;
}

}  // namespace hilbench
