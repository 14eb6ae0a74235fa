// The time of a ring, from what its ranks compute and send. A model of few coefficients, all of them times:
//
//   piece      t = launch + flop * 4 * head_dim * pairs / threads + row * head_dim * rows / threads
//                  + tile * head_dim * keys
//              `launch` is the cost of a kernel launch and `flop` the kernel's rate. `row` is the cost of
//              merging a row of O. `tile` is the cost of the last tile of a launch, which walks its keys
//              while the other threads are idle; it makes small pieces slower than large ones. On a GPU, with
//              its many multiprocessors, a piece takes the longer of two times: its FLOPs at the device's
//              rate, or the walk of one tile.
//   exchange   t = latency * shards received + byte * bytes received. Packed rows are made before that, for
//              `pack` per byte; on a GPU with two launches.
//   step       t = max(t_c, t_x) + (1 - hidden) * min(t_c, t_x): it lasts until computation and exchange
//              are both done, plus the part of the shorter one that is not hidden. A message is sent once
//              its sender and its receiver have both posted it.
//   run        lasts until the last rank is done. If ranks share cores (more ranks than threads), it lasts at
//              least as long as the work of all ranks divided by the threads (Graham's bound; SIAM J. Appl.
//              Math. 17 (1969) 416).
//
// For a given `hidden`, the time is a maximum of linear functions of the coefficients. Every time here
// carries the function that is largest, and the fit solves for its coefficients.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
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

using Coefficients = std::array<double, kCoefficients>;  // in ns, indexed by Coefficient

struct RingModel {
  Coefficients ns{};
  double hidden = 0;  // share that a step hides of its computation or its exchange, whichever is shorter
};

// What the model knows of a case and variant: only counts.
struct RingShape {
  struct Step {
    std::vector<Coefficients> pieces;  // amounts of launch .. tile of each piece computed in this step
    double shards = 0;                 // shards received during the step
    double bytes = 0;                  // bytes of these shards
    std::vector<int> from;             // ranks that send them
  };
  std::vector<std::vector<Step>> ranks;  // the steps of each rank
  std::vector<double> packed_bytes;      // [ranks]
  double at_once = 1;                    // ranks that run at the same time
  bool fills_device = false;  // tiles run at the same time: the last tile counts only if there are few
  double sent_bytes = 0;      // by all ranks
};
// The reason why the model knows no such ring, or nothing. why_not_ring() must have no objection.
std::optional<std::string> why_not_modelled(const Case& work, const Variant& variant);
// `threads`: the CPU threads that the ranks share. Not used for a GPU, where each rank has a device of its
// own. work.ring_size may be 1.
RingShape ring_shape(const Case& work, const Variant& variant, std::int64_t threads);

// A time, and the linear function of the coefficients that it is the value of.
struct ModelTime {
  double ns = 0;
  Coefficients amounts{};
};
ModelTime model_time(const RingShape& shape, const RingModel& model, RingPart part = RingPart::all);

}  // namespace hilbench
