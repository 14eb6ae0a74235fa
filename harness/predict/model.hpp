// The time of a ring, from what its ranks compute and send. A model of few coefficients, all of them times:
//
//   piece      t = launch + flop * 4 * head_dim * pairs / threads + row * head_dim * rows / threads
//                  + tile * head_dim * keys
//              The first two are what a kernel costs on its own and its rate; `row` is what merging a row of
//              O adds; `tile` is the last tile of a launch, which walks its keys alone while others idle: it
//              is what makes small pieces slower than large ones. A GPU has many multiprocessors: there a
//              piece takes the longer of its FLOPs at the device's rate and of one tile's walk.
//   exchange   t = latency * shards received + byte * bytes received; packed rows are made first, at `pack`
//              a byte, on a GPU by two launches.
//   step       lasts until its computation and its exchange are both done, and longer by the part of the
//              shorter one that is not hidden: max(t_c, t_x) + (1 - hidden) * min(t_c, t_x). A message comes
//              when its sender and its receiver have both posted it.
//   run        until the last rank is done; where ranks share cores (more ranks than threads), at least the
//              work of all ranks over the threads (Graham's bound; SIAM J. Appl. Math. 17 (1969) 416).
//
// For given `hidden` the time is a maximum of linear functions of the coefficients: every time here carries
// the one that is largest, and the fit solves for it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "kernels/ring/ring.hpp"
#include "kernels/ring/ring_execution.hpp"

namespace hilbench {

inline constexpr std::size_t kCoefficients = 7;
enum class Coefficient { launch, flop, row, tile, latency, byte, pack };
struct CoefficientInfo {
  std::string_view name;
  std::string_view unit;
  double scale;  // from ns to the unit
  std::string_view help;
};
const std::array<CoefficientInfo, kCoefficients>& coefficient_table();

using Coefficients = std::array<double, kCoefficients>;  // in ns, as Coefficient numbers them

struct RingModel {
  Coefficients ns{};
  double hidden = 0;  // share of the shorter of computation and exchange that a step hides
};

// A case and variant as the model sees it: counts only.
struct RingShape {
  struct Step {
    std::vector<Coefficients> pieces;  // launch .. tile, computed in this step by this rank
    double shards = 0;                 // received during the step
    double bytes = 0;                  // of them
    std::vector<int> from;             // ranks that they come from
  };
  std::vector<std::vector<Step>> ranks;  // steps of each rank
  std::vector<double> packed_bytes;      // [ranks]
  double at_once = 1;                    // ranks that run at the same time
  bool fills_device = false;             // tiles run side by side: the last one counts where they are few
  double sent_bytes = 0;                 // of all ranks
};
// `threads`: CPU threads that the ranks share; on a GPU each rank has a device of its own, and `threads` is
// not read. work.ring_size may be 1.
RingShape ring_shape(const Case& work, const Variant& variant, std::int64_t threads);

// A time, and the linear function of the coefficients that gives it.
struct ModelTime {
  double ns = 0;
  Coefficients amounts{};
};
ModelTime model_time(const RingShape& shape, const RingModel& model, RingPart part = RingPart::all);

}  // namespace hilbench
