// A CUDA forward kernel as an Implementation: its host file, <name>.cpp, fills in ForwardFacts. The host file
// is in every build, so that a sweep may name the kernel anywhere; a build without the code of the .cu says
// why. No CUDA header.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "kernels/base/text/refusal.hpp"
#include "kernels/cuda/shared/forward_execution.hpp"
#include "kernels/cuda/shared/forward_shape.hpp"
#include "kernels/cuda/shared/gradient_execution.hpp"
#include "kernels/cuda/shared/walk_execution.hpp"
#include "kernels/cuda/shared/window_execution.hpp"
#include "kernels/implementation.hpp"

namespace hilbench::cuda {

// What the .cu of a kernel defines, or why this build does not have it.
struct ForwardCode {
  std::string_view architectures = {};  // as CMake names them: "80-real 90a-real 80-virtual"
  std::int32_t (*tile_rows)(const ForwardShape&) = nullptr;  // queries of a tile; 0: no tile fits this GPU
  MakeForwardKernel make = nullptr;                          // of branches
  MakeWindowKernel make_windows = nullptr;                   // of windows on grids
  MakeWalkKernel make_walk = nullptr;                        // of branches over several sources
  std::int32_t (*gradient_rows)(const ForwardShape&) = nullptr;  // as tile_rows, of the backward pass
  MakeGradientKernel make_gradients = nullptr;                   // of branches
  std::string_view absence = {};
};

struct ForwardFacts {
  std::string_view name, help;
  // Compute capabilities that it is written for, 10 * major + minor.
  int first_capability = 0, last_capability = 999;
  bool stores_fp32 = false;
  bool dropout = false;                        // as in Implementation; not if tiles visit keys by slot
  std::span<const int> window_head_dims = {};  // of windows on a grid; empty: it does not compute them
  std::span<const int> head_dims = {};         // empty: 8 to 256 in steps of 8
  std::string_view (*peak_unit)(const Case&) = nullptr;
  CausalTraversal causal_traversal = CausalTraversal::longest_first_grouped;
  KeyTiles automatic_tiles = KeyTiles::united;  // as in Implementation
  const SectorStream* stream = nullptr;
  ForwardCode code;
};

// Rows of a tile of branches in the case's pass; 0: no tile fits this GPU.
std::int32_t rows_of_tile(const ForwardCode& code, const Case& work);
Refusal why_not(const ForwardFacts& facts, const Case& work, const Variant& variant);
Refusal why_not_on(const ForwardFacts& facts, const Gpu& gpu);
nlohmann::json no_library();

template <const ForwardFacts& kFacts>
constexpr Implementation forward_implementation() {
  Implementation implementation = {
      .name = kFacts.name,
      .help = kFacts.help,
      .kind = ImplementationKind::kernel,
      .device = DeviceKind::cuda,
      .windows = !kFacts.window_head_dims.empty(),
      .dropout = kFacts.dropout,
      .peak_unit = kFacts.peak_unit,
      .tile_rows = [](const Case&) { return std::int64_t{1}; },
      .causal_traversal = kFacts.causal_traversal,
      .automatic_tiles = kFacts.automatic_tiles,
      .why_not = [](const Case& work, const Variant& variant) { return why_not(kFacts, work, variant); },
      .why_not_on = [](const Gpu& gpu) { return why_not_on(kFacts, gpu); },
      .workspace_bytes = [](const Case&, int) { return 0.0; },
      .prepare = [](const Case&, const KernelChoice&, int) { return std::unique_ptr<Execution>(); },
      .stream = kFacts.stream,
      .library = no_library,
  };
  if constexpr (kFacts.code.tile_rows != nullptr) {
    implementation.tile_rows = [](const Case& work) -> std::int64_t {
      if (has_windows(work)) return kMaskedRows;
      return rows_of_tile(kFacts.code, work);
    };
    implementation.workspace_bytes = [](const Case& work, int) {
      return work.pass == Pass::backward ? gradient_workspace_bytes(work) : forward_workspace_bytes(work);
    };
    implementation.prepare = [](const Case& work, const KernelChoice& choice, int) {
      if constexpr (kFacts.code.make_gradients != nullptr)
        if (work.pass == Pass::backward)
          return gradient_execution(work, choice, kFacts.code.make_gradients,
                                    rows_of_tile(kFacts.code, work));
      if (has_windows(work)) return window_execution(work, choice, kFacts.code.make_windows);
      if constexpr (kFacts.code.make != nullptr) return forward_execution(work, choice, kFacts.code.make);
      return std::unique_ptr<Execution>();  // why_not() refuses it
    };
  }
  if constexpr (kFacts.code.make_walk != nullptr)
    implementation.prepare_walk = [](const Case& work, const KernelChoice& choice, const WalkLimits& limits) {
      return walk_execution(work, choice, limits, kFacts.code.make_walk);
    };
  return implementation;
}

}  // namespace hilbench::cuda
