#include "kernels/case/variant.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace hilbench {
namespace {

constexpr std::array<std::string_view, 3> kScopes = {"memory", "tokens", "keys"};
constexpr std::array<std::string_view, 2> kTensors = {"kv", "qkv"};
constexpr std::array<std::string_view, 2> kVisits = {"position", "slot"};
constexpr std::array<std::string_view, 2> kRows = {"auto", "gathered"};
constexpr std::array<std::string_view, 3> kTiles = {"auto", "union", "aligned"};
constexpr std::array<std::string_view, 2> kBuffers = {"pooled", "fresh"};
constexpr std::array<std::string_view, 2> kIndexes = {"cached", "computed"};
constexpr std::array<std::string_view, 2> kSaved = {"statistics", "inputs"};

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

// Fields of a kernel; a baseline has the defaults.
template <auto Member, class Enum>
constexpr Field<Variant> kernel_choice(std::string_view name, std::span<const std::string_view> choices,
                                       std::string_view help) {
  Field<Variant> field{.name = name, .kind = FieldKind::choice, .help = help, .choices = choices};
  field.get = [](const Variant& of) { return static_cast<std::int64_t>(of.kernel().*Member); };
  field.set = [](Variant& of, std::int64_t value) { of.change().*Member = static_cast<Enum>(value); };
  return field;
}
// Fields of Variant::ring.
template <auto Member, class Enum>
constexpr Field<Variant> ring_choice(std::string_view name, std::span<const std::string_view> choices,
                                     std::string_view help) {
  Field<Variant> field{.name = name, .kind = FieldKind::choice, .help = help, .choices = choices};
  field.get = [](const Variant& of) { return static_cast<std::int64_t>(of.ring.*Member); };
  field.set = [](Variant& of, std::int64_t value) { of.ring.*Member = static_cast<Enum>(value); };
  return field;
}
template <auto Member>
constexpr Field<Variant> ring_count(std::string_view name, std::string_view help, std::int64_t maximum) {
  Field<Variant> field{
      .name = name, .kind = FieldKind::integer, .help = help, .minimum = 0, .maximum = maximum};
  field.get = [](const Variant& of) { return of.ring.*Member; };
  field.set = [](Variant& of, std::int64_t value) { of.ring.*Member = value; };
  return field;
}

constexpr OptionScope kernels = OptionScope::kernels, windows = OptionScope::windows,
                      rings = OptionScope::rings;

// The options of rings with IdPart::ring stand in an id in the sequence that they have here.
const std::array kVariantOptions = {
    VariantOption{kernel_choice<&KernelChoice::order_scope, OrderScope>(
                      "order_scope", kScopes, "memory: layout only; tokens, keys: another function"),
                  kernels, IdPart::own},
    VariantOption{kernel_choice<&KernelChoice::order_tensors, OrderTensors>("order_tensors", kTensors,
                                                                            "tensors stored permuted"),
                  kernels},
    VariantOption{kernel_choice<&KernelChoice::key_visit, KeyVisit>(
                      "key_visit", kVisits, "sequence in which a tile visits its keys"),
                  kernels},
    VariantOption{kernel_choice<&KernelChoice::rows, KeyRows>(
                      "rows", kRows, "auto: at a stride if possible; gathered: always by a table"),
                  kernels},
    VariantOption{
        kernel_choice<&KernelChoice::tiles, KeyTiles>(
            "tiles", kTiles, "keys of a tile of windows: a list, aligned blocks, or what is faster"),
        windows},
    VariantOption{kernel_choice<&KernelChoice::buffers, Buffers>("buffers", kBuffers,
                                                                 "workspace: kept, or allocated every time"),
                  kernels},
    VariantOption{kernel_choice<&KernelChoice::index, IndexUse>(
                      "index", kIndexes, "maps and tile lists: kept, or built every time"),
                  kernels},
    VariantOption{kernel_choice<&KernelChoice::saved, Saved>(
                      "saved", kSaved, "between the passes: O and LSE too, or the inputs alone"),
                  kernels},
    VariantOption{ring_choice<&RingOptions::algorithm, RingAlgorithm>(
                      "ring_algorithm", kAskedAlgorithms, "how ranks obtain each other's keys (auto: ring)"),
                  rings, IdPart::own},
    VariantOption{
        ring_count<&RingOptions::groups>(
            "ring_groups", "groups of neighbouring ranks, as if each were a host (0: the hosts of the ranks)",
            256),
        rings, IdPart::ring},
    VariantOption{
        ring_count<&RingOptions::head_parts>(
            "head_parts", "parts in which ulysses exchanges a rank's heads (0: as many as possible, up to 2)",
            64),
        rings, IdPart::ring, "parts"},
    VariantOption{ring_choice<&RingOptions::head_moves, HeadMoves>(
                      "head_moves", kMoves,
                      "how ulysses moves heads (auto: direct, if the transport moves lines; else regrouped)"),
                  rings, IdPart::ring},
    VariantOption{ring_choice<&RingOptions::outer_link, OuterLink>(
                      "outer_link", kLinks,
                      "between ring_groups: as all links, or emulated by copies through host memory"),
                  rings, IdPart::ring},
    VariantOption{ring_choice<&RingOptions::launch, RingLaunch>(
                      "ring_launch", kLaunches,
                      "steps: a launch for each shard; persistent: one for all, as they arrive"),
                  rings, IdPart::ring},
    VariantOption{
        ring_choice<&RingOptions::sharding, Sharding>(
            "sharding", kShardings, "which positions a rank owns (auto: zigzag if it balances causal work)"),
        rings},
    VariantOption{ring_choice<&RingOptions::order_span, OrderSpan>(
                      "order_span", kSpans, "the order inside each shard, or of the whole sequence"),
                  rings},
    VariantOption{ring_choice<&RingOptions::transport, TransportKind>(
                      "transport", kTransports,
                      "how ranks exchange data (auto: threads or peer, under mpirun mpi or nccl)"),
                  rings, IdPart::own},
};

// The values of the options that stand in this part of the id and are not at their defaults.
std::string id_words(const Variant& variant, IdPart part) {
  const Variant defaults;
  std::string words;
  for (const VariantOption& option : kVariantOptions)
    if (option.id == part && option.get(variant) != option.get(defaults))
      words += fmt::format(".{}{}", option.id_prefix, field_text(option, option.get(variant)));
  return words;
}

}  // namespace

std::string_view to_string(RingAlgorithm algorithm) {
  return kRingAlgorithms[static_cast<std::size_t>(algorithm)];
}

std::string_view to_string(KeyTiles tiles) {
  return kTiles[static_cast<std::size_t>(tiles)];
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

std::span<const VariantOption> variant_fields() {
  return kVariantOptions;
}

const std::string& Variant::name() const {
  return std::visit([](const auto& each) -> const std::string& { return each.name; }, choice);
}

const KernelChoice& Variant::kernel() const {
  static const KernelChoice defaults;
  const KernelChoice* kernel = std::get_if<KernelChoice>(&choice);
  return kernel != nullptr ? *kernel : defaults;
}

Variant variant_named(ImplementationKind kind, std::string name) {
  if (kind == ImplementationKind::baseline) return {BaselineName{std::move(name)}};
  return {KernelChoice{.name = std::move(name)}};
}

std::string variant_id(const Variant& variant) {
  if (variant.is_baseline()) return variant.name();
  const Variant defaults;
  const KernelChoice& kernel = variant.kernel();
  std::string id = kernel.name + "/" + kernel.order;
  if (kernel.order_param) id += fmt::format(".{}", *kernel.order_param);
  for (const std::int64_t extent : kernel.order_box) id += fmt::format(".{}", extent);
  if (kernel.chunk_in_id && !kernel.order_param) id += fmt::format(".{}", kernel.order_chunk);
  if (!kernel.order_file.empty()) id += fmt::format(".{:08x}", kernel.order_file_hash);
  id += id_words(variant, IdPart::order);
  if (kernel.order_scope != OrderScope::memory)
    id += fmt::format("@{}", kScopes[static_cast<std::size_t>(kernel.order_scope)]);
  if (kernel.traversal != defaults.kernel().traversal || kernel.traversal_param) {
    id += "/" + kernel.traversal;
    if (kernel.traversal_param) id += fmt::format(".{}", *kernel.traversal_param);
  }
  const std::string ring = id_words(variant, IdPart::ring);
  if (variant.ring.algorithm != defaults.ring.algorithm || !ring.empty())
    id += fmt::format("/{}{}", to_string(variant.ring.algorithm), ring);
  return id;
}

std::string one_rank_id(Variant variant) {
  variant.ring = {};
  return variant_id(variant);
}

}  // namespace hilbench
