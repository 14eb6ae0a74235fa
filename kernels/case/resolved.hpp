// What a variant of a case comes to on the machine that runs it: all that is known before it runs. The plan
// resolves it once; its tasks and records hold the same values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/case/case.hpp"
#include "kernels/case/variant.hpp"

namespace hilbench {

// (query, key) pairs of windows, of all heads. Counted, not measured.
struct Pairs {
  double needed = 0;          // that the windows select
  double computed = 0;        // that the tiles multiply
  double density = 0;         // computed, as a share of all pairs
  double partial_blocks = 0;  // share of the blocks of keys that need a mask
};

struct Resolved {
  Case work;
  Variant variant;  // as written
  std::string case_id;
  std::string variant_id;
  bool twin = false;   // a second instance of the reference: what it differs by is noise (docs/method.md)
  std::string kernel;  // "dilated_cpu"; as written if nothing of this build computes it
  ImplementationKind kind = ImplementationKind::kernel;
  std::int64_t order_chunk = 0;              // 0: not applicable
  std::int64_t threads = 0;                  // of a processor
  std::vector<std::string> traversals;       // of each branch, if the variant leaves them to `auto`
  KeyTiles key_tiles = KeyTiles::automatic;  // of windows by tiles: united or aligned
  // Of a ring. Not set on one rank, or if no ring is possible:
  std::string ring_algorithm;                   // `local` if nothing is exchanged; empty if not set
  std::int64_t ring_groups = 0;                 // groups of ranks; 0 also if none are known
  std::string transport;                        // empty if not set
  Sharding sharding = Sharding::automatic;      // automatic if not set
  HeadMoves head_moves = HeadMoves::automatic;  // automatic also if no heads move
  // What an execution computes, moves and holds:
  std::optional<double> flops;
  std::optional<double> min_bytes;
  // On the device: operands, permuted copies, index, workspace; all ranks together.
  std::optional<double> memory_bytes;
  // Of one step of a training with this variant, by the plan: what it holds between the forward and the
  // backward pass, and the most that it holds at a time. None if no gradients are computed.
  std::optional<double> held_bytes, peak_bytes;
  std::optional<double> comm_bytes;          // sent by all ranks
  std::optional<double> comm_bytes_inside;   // of groups of ranks; none if there are no groups
  std::optional<double> comm_bytes_between;  // the same
  std::optional<Pairs> pairs;                // of windows, if it computes them by tiles
};

// As written, but for the tiles of windows: those that are computed.
inline Variant computed_variant(const Resolved& resolved) {
  Variant variant = resolved.variant;
  if (resolved.key_tiles != KeyTiles::automatic) variant.change().tiles = resolved.key_tiles;
  return variant;
}
inline KernelChoice computed_choice(const Resolved& resolved) {
  return computed_variant(resolved).kernel();
}

}  // namespace hilbench
