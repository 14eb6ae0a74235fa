// The time of a ring, from what its ranks compute and send. A model of few coefficients, all of them times:
//
//   piece      t = launch + flop * 4 * head_dim * pairs / threads + row * head_dim * rows / threads
//                  + tile * tiles
//              `launch` is the cost of a kernel launch and `flop` the kernel's rate. `row` is the cost of
//              merging a row of O. On a GPU, pairs are those that all multiprocessors would compute while the
//              busiest of them walks its tiles, and `tile` is what each of its tiles costs besides
//              (tile_schedule.hpp): so a piece with few tiles is as slow as it is. On a CPU, `tile` is for
//              head_dim times the keys of the last tile of a launch, which is walked while the other threads
//              are idle.
//   output     before the first piece a rank clears the rows of O that no branch covers, `clear` an element,
//              and O in fp32, if pieces merge, which it rounds at the end: `row` an element. On a GPU that is
//              a launch each.
//   exchange   t = latency * messages received + byte * bytes received. Packed rows, and heads that are
//              regrouped, are copied before that, for `pack` per byte; on a GPU rows are packed by one
//              launch, and each copy of heads counts as one. Heads that move directly are not copied; if
//              nothing is computed meanwhile, all that a GPU receives counts as one message.
//   step       t = max(t_c, t_x) + (1 - hidden) * min(t_c, t_x): it lasts until computation and exchange
//              are both done, plus the part of the shorter one that is not hidden. A message is sent once
//              its sender and its receiver have both posted it.
//   run        of several ranks takes `start` to begin, and lasts until the last rank is done. If ranks share
//   cores (more ranks than threads), it lasts at
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

#include "harness/predict/tile_schedule.hpp"
#include "kernels/base/text/refusal.hpp"
#include "kernels/ring/ring.hpp"
#include "kernels/ring/ring_execution.hpp"

namespace hilbench {

inline constexpr std::size_t kCoefficients = 9;
enum class Coefficient { launch, flop, row, tile, clear, start, latency, byte, pack };
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
    std::vector<Coefficients> pieces;  // amounts of launch .. clear of each piece computed in this step
    double messages = 0;               // received during the step
    double bytes = 0;                  // of these
    std::vector<int> from;             // ranks that send them
  };
  std::vector<std::vector<Step>> ranks;  // the steps of each rank
  std::vector<double> packed_bytes;      // [ranks]
  std::vector<double> copy_launches;     // [ranks]: of what packs rows or moves heads
  double at_once = 1;                    // ranks that run at the same time
  bool on_gpu = false;
  double sent_bytes = 0;  // by all ranks
};
// The reason why the model knows no such ring, or nothing. why_not_ring() must have no objection.
Refusal why_not_modelled(const Case& work, const Variant& variant);
// On GPUs each rank has a device of its own. work.ring_size may be 1.
RingShape ring_shape(const Case& work, const Variant& variant, const RingMachine& machine);

// A time, and the linear function of the coefficients that it is the value of.
struct ModelTime {
  double ns = 0;
  Coefficients amounts{};
};
ModelTime model_time(const RingShape& shape, const RingModel& model, RingPart part = RingPart::all);

}  // namespace hilbench
