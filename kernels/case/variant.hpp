// A variant as a sweep names it: a kernel with an order, a traversal and their options, or a baseline.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "kernels/base/field.hpp"

namespace hilbench {

// What a variant is computed by: a kernel of this project, or a rival or limit that it is held against.
enum class ImplementationKind { kernel, baseline };

enum class OrderScope { memory, tokens };    // tokens: another function, what the seeds computed
enum class OrderTensors { kv, qkv };         // which tensors are stored permuted
enum class KeyVisit { position, slot };      // sequence in which a tile walks its keys
enum class KeyRows { automatic, gathered };  // gathered: through the table of slots, where a stride would do
enum class Buffers { pooled, fresh };        // workspace: allocated once, or in every timed execution
enum class IndexUse { cached, computed };    // maps and tile lists: built once, or in every timed execution

// How the ranks of a ring come by each other's keys. `local` is never asked for: it is what remains where no
// segment crosses a shard.
enum class RingAlgorithm { automatic, allgather, ring, ring_packed, allgather_packed, local };
enum class Sharding { contiguous, zigzag, striped };  // which positions a rank owns
enum class OrderSpan { shard, global };               // the order inside each shard, or of the whole sequence
enum class TransportKind { automatic, threads, mpi, nccl, peer };  // names of `list transports`

std::string_view to_string(RingAlgorithm algorithm);
std::string_view to_string(TransportKind transport);

struct Variant {
  std::string kernel;                       // as written: "dilated", "dilated_cpu", "gemm"
  bool baseline = false;                    // has no order, traversal or option below, but the ring
                                            // algorithm that it is
  std::string order = "linear";             // a name of `list orders`
  std::optional<std::int64_t> order_param;  // NAME.PARAM: chunk of a curve, r of residue, r_max of
                                            // bitrev_residue, seed of random
  std::int64_t order_chunk = 0;             // `order_chunk`; 0: the whole length
  bool chunk_in_id = false;                 // the sweep lists several chunks, so the id tells them apart
  std::filesystem::path order_file;         // order `file`: .npy with the slot of each position
  std::uint32_t order_file_hash = 0;        // of the file's content: what the id shows
  OrderScope order_scope = OrderScope::memory;
  OrderTensors order_tensors = OrderTensors::kv;
  KeyVisit key_visit = KeyVisit::position;
  std::string traversal = "head_major";         // a name of `list traversals`
  std::optional<std::int64_t> traversal_param;  // NAME.PARAM: group size of `grouped`
  KeyRows rows = KeyRows::automatic;
  Buffers buffers = Buffers::pooled;
  IndexUse index = IndexUse::cached;
  // Of rings only:
  RingAlgorithm ring_algorithm = RingAlgorithm::automatic;
  Sharding sharding = Sharding::contiguous;
  OrderSpan order_span = OrderSpan::shard;
  TransportKind transport = TransportKind::automatic;
  bool operator==(const Variant&) const = default;
};

// The options that are one word each (order, order_chunk, order_file and traversal stand beside this table).
std::span<const Field<Variant>> variant_fields();

// `kernel/order[.param]...[@tokens][/traversal]`, trailing defaults left out; a baseline's name alone.
// Options that are not at their default are params of the order: `dilated/hilbert.4096.slot.fresh@tokens`; a
// ring algorithm comes last, `/ring_packed`. The transport is no part of it: it changes no result.
std::string variant_id(const Variant& variant);
// How the id would read without ring options: what the variants of all rings and ring sizes share.
std::string one_rank_id(Variant variant);

}  // namespace hilbench
