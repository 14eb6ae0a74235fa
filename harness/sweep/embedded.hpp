// The sweeps of the tree and their schema, built into the program, so that it runs them in any folder.
#pragma once

#include <span>
#include <string_view>

namespace hilbench {

struct EmbeddedSweep {
  std::string_view file;  // "sweeps/cache/cpu-order.yaml"
  std::string_view text;
  std::string_view path() const;    // "cache/cpu-order"
  std::string_view folder() const;  // "sweeps/cache"
  std::string_view name() const;    // "cpu-order": no other has it
};

// All of them, in the order of the tree's listing.
std::span<const EmbeddedSweep> embedded_sweeps();
// The one with that path or that name; null if there is none.
const EmbeddedSweep* find_embedded_sweep(std::string_view path_or_name);

// A file that such a sweep reads.
struct EmbeddedMask {
  std::string_view file;  // "sweeps/windows/points-raster.npy"
  std::string_view bytes;
};
std::span<const EmbeddedMask> embedded_masks();

// sweeps/sweep.schema.json
std::string_view sweep_schema();

}  // namespace hilbench
