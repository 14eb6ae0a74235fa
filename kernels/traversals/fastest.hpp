// The traversal that a variant means (docs/definitions.md): `auto` is the fastest that is known for a branch,
// and `sawtooth` needs to know the machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "kernels/case/case.hpp"
#include "kernels/case/variant.hpp"

namespace hilbench {

// A traversal as traverse() takes it.
struct Traversal {
  std::string name;
  std::optional<std::int64_t> param;
  bool operator==(const Traversal&) const = default;
};

// "longest_first.4"
std::string to_string(const Traversal& traversal);

// What is fastest under a causal mask; without one, head_major is as fast as any for every kernel.
// longest_first: of all heads. longest_first_grouped: of as many heads as share the cache.
enum class CausalTraversal { head_major, longest_first, longest_first_grouped };

// For one branch of a case on one rank.
Traversal fastest_traversal(const Case& work, const Branch& branch, CausalTraversal causal);

// What a traversal depends on beside the work.
struct TraversalFacts {
  CausalTraversal causal = CausalTraversal::head_major;  // of the kernel
  std::int64_t at_once = 1;  // tiles: multiprocessors of a GPU, threads of a processor
};

// What `choice` asks for: the fastest if that is `auto`, waves of as many tiles as there are at once if that
// is `sawtooth` without a number.
Traversal traversal_of(const Case& work, const Branch& branch, const KernelChoice& choice,
                       const TraversalFacts& facts);
// Whether `choice` leaves that to this program, so that records have to say what was chosen.
bool chosen_by_program(const KernelChoice& choice);

}  // namespace hilbench
