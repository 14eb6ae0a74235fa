// A variant as a sweep names it: a kernel with an order, a traversal and options, or a baseline.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "kernels/base/text/field.hpp"

namespace hilbench {

// What computes a variant: a kernel of this project, or a rival or limit that kernels are compared with.
enum class ImplementationKind { kernel, baseline };

// tokens: permutes the tokens, which computes another function; keys: K and V alone, which computes yet
// another.
enum class OrderScope { memory, tokens, keys };
enum class OrderTensors { kv, qkv };         // which tensors are stored permuted
enum class KeyVisit { position, slot };      // sequence in which a tile visits its keys
enum class KeyRows { automatic, gathered };  // gathered: by a table of slots even if a stride would suffice
enum class Buffers { pooled, fresh };        // workspace: allocated once, or in every timed execution
enum class KeyTiles { automatic, united, aligned };  // of windows, see KernelChoice::tiles
// What a step of a training keeps between its passes, see KernelChoice::saved.
enum class Saved { statistics, inputs };
enum class IndexUse { cached, computed };  // maps and tile lists: built once, or in every timed execution

// How the ranks of a ring obtain each other's keys. A sweep cannot ask for `local`: it is used if no segment
// crosses a shard, so that nothing is exchanged.
enum class RingAlgorithm {
  automatic,
  allgather,
  ring,
  ring_packed,
  allgather_packed,
  hierarchical,
  hierarchical_packed,
  ulysses,
  local
};
// Which positions a rank owns. automatic: zigzag if that balances causal work, otherwise contiguous
// (kernels/ring/ring.hpp).
enum class Sharding { automatic, contiguous, zigzag, striped };
// How groups of ranks reach each other. emulated_host: as hosts do over a network, by copies through host
// memory.
enum class OuterLink { direct, emulated_host };
// How a rank computes. steps: a launch for each shard, while the next one moves. persistent: one launch for
// all shards, whose tiles wait for keys that have not arrived.
enum class RingLaunch { steps, persistent };
// How heads move in ulysses. direct: in lines, from where they are to where they belong. regrouped: the heads
// of each receiver are copied together before they are sent, and into place when they have arrived.
// automatic: direct if the transport moves lines.
enum class HeadMoves { automatic, direct, regrouped };
enum class OrderSpan { shard, global };  // the order inside each shard, or of the whole sequence
enum class TransportKind { automatic, threads, mpi, nccl, peer };  // names of `list transports`

std::string_view to_string(RingAlgorithm algorithm);
std::string_view to_string(KeyTiles tiles);
std::string_view to_string(Sharding sharding);
std::string_view to_string(TransportKind transport);
std::string_view to_string(HeadMoves moves);
// automatic if none is called so.
TransportKind transport_named(std::string_view name);

// How the ranks of a ring share the work.
struct RingOptions {
  RingAlgorithm algorithm = RingAlgorithm::automatic;
  std::int64_t groups = 0;  // groups of neighbouring ranks; 0: the hosts, if there are several
  OuterLink outer_link = OuterLink::direct;
  RingLaunch launch = RingLaunch::steps;
  std::int64_t head_parts = 0;  // of ulysses: a rank's heads in as many parts; 0: up to kMostHeadParts
  HeadMoves head_moves = HeadMoves::automatic;  // of ulysses
  Sharding sharding = Sharding::automatic;
  OrderSpan order_span = OrderSpan::shard;
  TransportKind transport = TransportKind::automatic;
  bool operator==(const RingOptions&) const = default;
};

// A kernel of this project, and how it is to run.
struct KernelChoice {
  std::string name;                         // as written: "dilated", "dilated_cpu"
  std::string order = "linear";             // a name of `list orders`
  std::optional<std::int64_t> order_param;  // PARAM of NAME.PARAM: a curve's chunk, r of residue, r_max of
                                            // bitrev_residue, seed of random
  std::vector<std::int64_t> order_box;      // A, B[, C] of boxes.A.B[.C]
  std::int64_t order_chunk = 0;             // `order_chunk`; 0: the whole length
  bool chunk_in_id = false;                 // true if the sweep lists several chunks
  std::filesystem::path order_file;         // order `file`: .npy with the slot of each position
  std::uint32_t order_file_hash = 0;        // hash of the file's content, shown in the id
  OrderScope order_scope = OrderScope::memory;
  OrderTensors order_tensors = OrderTensors::kv;
  KeyVisit key_visit = KeyVisit::position;
  std::string traversal = "auto";               // a name of `list traversals`
  std::optional<std::int64_t> traversal_param;  // NAME.PARAM: group size of `grouped`, wave of `sawtooth`
  KeyRows rows = KeyRows::automatic;
  // The keys that a tile of queries of windows reads. united: the list of those that some query of the tile
  // sees. aligned: the blocks of 128 slots that hold such keys, whole. automatic: what the kernel reads
  // fastest (Implementation::automatic_tiles); united to who does not know the kernel.
  KeyTiles tiles = KeyTiles::automatic;
  Buffers buffers = Buffers::pooled;
  IndexUse index = IndexUse::cached;
  // Of a backward pass. statistics: O and LSE are kept beside Q, K and V. inputs: Q, K and V alone, and the
  // forward pass is computed again before the gradients.
  Saved saved = Saved::statistics;
  bool operator==(const KernelChoice&) const = default;
};

// A rival or limit, as written: "gemm", "external:torch_sdpa".
struct BaselineName {
  std::string name;
  bool operator==(const BaselineName&) const = default;
};

struct Variant {
  std::variant<KernelChoice, BaselineName> choice;
  RingOptions ring;  // of a baseline the algorithm alone

  bool is_baseline() const { return std::holds_alternative<BaselineName>(choice); }
  const std::string& name() const;  // of the kernel or baseline
  // Of a baseline the defaults: its tensors are stored in linear order.
  const KernelChoice& kernel() const;
  // For changes. Throws std::bad_variant_access for a baseline, which has no choices.
  KernelChoice& change() { return std::get<KernelChoice>(choice); }
  bool operator==(const Variant&) const = default;
};

// The kernel or baseline of this name, with all options at their defaults.
Variant variant_named(ImplementationKind kind, std::string name);

enum class OptionScope { kernels, windows, rings };  // to what an option applies
// Where an option that is not at its default stands in the id: after the order, or after the ring algorithm.
// own: variant_id() says where, if anywhere.
enum class IdPart { order, ring, own };

// A row of the table of options. CONTRIBUTING says what a new one needs.
struct VariantOption : Field<Variant> {
  OptionScope scope = OptionScope::kernels;
  IdPart id = IdPart::order;
  std::string_view id_prefix = "";  // before the value
};

// The options whose value is one word. order, order_chunk, order_file and traversal are handled apart
// from this table.
std::span<const VariantOption> variant_fields();

// `kernel/order[.param]...[@tokens][/traversal][/ring_algorithm[.ring_groups][.partsN][.head_moves][.outer_link][.persistent]]`
// without trailing defaults; for a baseline its name alone. Options that are not at their default follow the
// order as params: `dilated/hilbert.4096.slot.fresh@tokens`. The transport is not part of the id, because it
// changes no result.
std::string variant_id(const Variant& variant);
// The id without ring options: the same for all rings and ring sizes.
std::string one_rank_id(Variant variant);

}  // namespace hilbench
