#include "kernels/case/variant.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace hilbench {
namespace {

constexpr std::array<std::string_view, 2> kScopes = {"memory", "tokens"};
constexpr std::array<std::string_view, 2> kTensors = {"kv", "qkv"};
constexpr std::array<std::string_view, 2> kVisits = {"position", "slot"};
constexpr std::array<std::string_view, 2> kRows = {"auto", "gathered"};
constexpr std::array<std::string_view, 3> kTiles = {"auto", "union", "aligned"};
constexpr std::array<std::string_view, 2> kBuffers = {"pooled", "fresh"};
constexpr std::array<std::string_view, 2> kIndexes = {"cached", "computed"};

constexpr std::array<std::string_view, 9> kRingAlgorithms = {
    "auto",         "allgather",           "ring",    "ring_packed", "allgather_packed",
    "hierarchical", "hierarchical_packed", "ulysses", "local"};
// `local` is no option.
constexpr std::span<const std::string_view> kAskedAlgorithms(kRingAlgorithms.data(),
                                                             kRingAlgorithms.size() - 1);
constexpr std::array<std::string_view, 4> kShardings = {"auto", "contiguous", "zigzag", "striped"};
constexpr std::array<std::string_view, 2> kLinks = {"direct", "emulated_host"};
constexpr std::array<std::string_view, 2> kLaunches = {"steps", "persistent"};
constexpr std::array<std::string_view, 3> kMoves = {"auto", "direct", "regrouped"};
constexpr std::array<std::string_view, 2> kSpans = {"shard", "global"};
constexpr std::array<std::string_view, 5> kTransports = {"auto", "threads", "mpi", "nccl", "peer"};

const std::array kVariantFields = {
    choice_field<&Variant::order_scope, OrderScope>("order_scope", kScopes,
                                                    "memory: layout only; tokens: another function"),
    choice_field<&Variant::order_tensors, OrderTensors>("order_tensors", kTensors, "tensors stored permuted"),
    choice_field<&Variant::key_visit, KeyVisit>("key_visit", kVisits,
                                                "sequence in which a tile visits its keys"),
    choice_field<&Variant::rows, KeyRows>("rows", kRows,
                                          "auto: at a stride if possible; gathered: always by a table"),
    choice_field<&Variant::tiles, KeyTiles>(
        "tiles", kTiles, "keys of a tile of windows: a list (auto, union), or aligned blocks"),
    choice_field<&Variant::buffers, Buffers>("buffers", kBuffers, "workspace: kept, or allocated every time"),
    choice_field<&Variant::index, IndexUse>("index", kIndexes,
                                            "maps and tile lists: kept, or built every time"),
    choice_field<&Variant::ring_algorithm, RingAlgorithm>("ring_algorithm", kAskedAlgorithms,
                                                          "how ranks obtain each other's keys (auto: ring)"),
    Field<Variant>{.name = "ring_groups",
                   .kind = FieldKind::integer,
                   .help = "groups of neighbouring ranks, as if each were a host (0: the hosts of the ranks)",
                   .minimum = 0,
                   .maximum = 256,
                   .get = [](const Variant& variant) { return variant.ring_groups; },
                   .set = [](Variant& variant, std::int64_t value) { variant.ring_groups = value; }},
    choice_field<&Variant::outer_link, OuterLink>(
        "outer_link", kLinks, "between ring_groups: as all links, or emulated by copies through host memory"),
    choice_field<&Variant::ring_launch, RingLaunch>(
        "ring_launch", kLaunches, "steps: a launch for each shard; persistent: one for all, as they arrive"),
    Field<Variant>{
        .name = "head_parts",
        .kind = FieldKind::integer,
        .help = "parts in which ulysses exchanges a rank's heads (0: as many as possible, up to 2)",
        .minimum = 0,
        .maximum = 64,
        .get = [](const Variant& variant) { return variant.head_parts; },
        .set = [](Variant& variant, std::int64_t value) { variant.head_parts = value; }},
    choice_field<&Variant::head_moves, HeadMoves>(
        "head_moves", kMoves,
        "how ulysses moves heads (auto: direct, if the transport moves lines; else regrouped)"),
    choice_field<&Variant::sharding, Sharding>(
        "sharding", kShardings, "which positions a rank owns (auto: zigzag if it balances causal work)"),
    choice_field<&Variant::order_span, OrderSpan>("order_span", kSpans,
                                                  "the order inside each shard, or of the whole sequence"),
    choice_field<&Variant::transport, TransportKind>(
        "transport", kTransports,
        "how ranks exchange data (auto: threads or peer, under mpirun mpi or nccl)"),
};

}  // namespace

std::string_view to_string(RingAlgorithm algorithm) {
  return kRingAlgorithms[static_cast<std::size_t>(algorithm)];
}
std::string_view to_string(Sharding sharding) {
  return kShardings[static_cast<std::size_t>(sharding)];
}
std::string_view to_string(TransportKind transport) {
  return kTransports[static_cast<std::size_t>(transport)];
}

TransportKind transport_named(std::string_view name) {
  const auto found = std::find(kTransports.begin(), kTransports.end(), name);
  return found == kTransports.end() ? TransportKind::automatic
                                    : static_cast<TransportKind>(found - kTransports.begin());
}
std::string_view to_string(HeadMoves moves) {
  return kMoves[static_cast<std::size_t>(moves)];
}

std::span<const Field<Variant>> variant_fields() {
  return kVariantFields;
}

std::string variant_id(const Variant& variant) {
  if (variant.baseline) return variant.kernel;
  const Variant defaults;
  std::string id = variant.kernel + "/" + variant.order;
  if (variant.order_param) id += fmt::format(".{}", *variant.order_param);
  for (const std::int64_t extent : variant.order_box) id += fmt::format(".{}", extent);
  if (variant.chunk_in_id && !variant.order_param) id += fmt::format(".{}", variant.order_chunk);
  if (!variant.order_file.empty()) id += fmt::format(".{:08x}", variant.order_file_hash);
  for (const Field<Variant>& field : kVariantFields) {
    const bool said_elsewhere = field.name == "order_scope" || field.name == "ring_algorithm" ||
                                field.name == "ring_groups" || field.name == "outer_link" ||
                                field.name == "ring_launch" || field.name == "head_parts" ||
                                field.name == "head_moves" || field.name == "transport";
    if (said_elsewhere || field.get(variant) == field.get(defaults)) continue;
    id += fmt::format(".{}", field_text(field, field.get(variant)));
  }
  if (variant.order_scope == OrderScope::tokens) id += "@tokens";
  if (variant.traversal != defaults.traversal || variant.traversal_param) {
    id += "/" + variant.traversal;
    if (variant.traversal_param) id += fmt::format(".{}", *variant.traversal_param);
  }
  const bool grouped = variant.ring_groups != defaults.ring_groups;
  const bool emulated = variant.outer_link != defaults.outer_link;
  const bool parts = variant.head_parts != defaults.head_parts;
  const bool moves = variant.head_moves != defaults.head_moves;
  const bool persistent = variant.ring_launch != defaults.ring_launch;
  if (variant.ring_algorithm != defaults.ring_algorithm || grouped || emulated || persistent || parts ||
      moves)
    id += fmt::format("/{}", to_string(variant.ring_algorithm));
  if (grouped) id += fmt::format(".{}", variant.ring_groups);
  if (parts) id += fmt::format(".parts{}", variant.head_parts);
  if (moves) id += fmt::format(".{}", to_string(variant.head_moves));
  if (emulated) id += fmt::format(".{}", kLinks[static_cast<std::size_t>(variant.outer_link)]);
  if (persistent) id += fmt::format(".{}", kLaunches[static_cast<std::size_t>(variant.ring_launch)]);
  return id;
}

std::string one_rank_id(Variant variant) {
  variant.ring_algorithm = RingAlgorithm::automatic;
  variant.ring_groups = 0;
  variant.outer_link = OuterLink::direct;
  variant.ring_launch = RingLaunch::steps;
  variant.head_parts = 0;
  variant.head_moves = HeadMoves::automatic;
  variant.sharding = Sharding::automatic;
  variant.order_span = OrderSpan::shard;
  return variant_id(variant);
}

}  // namespace hilbench
