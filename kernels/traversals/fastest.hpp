// Traversal `auto`: the fastest that is known for a branch (docs/definitions.md).
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

// What `variant` asks for, or the fastest if that is `auto`.
Traversal traversal_of(const Case& work, const Branch& branch, const Variant& variant,
                       CausalTraversal causal);

}  // namespace hilbench
