// Orders: bijections from sequence position to memory slot (docs/definitions.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/text/refusal.hpp"
#include "kernels/case/case.hpp"
#include "kernels/case/variant.hpp"

namespace hilbench {

inline constexpr std::int64_t kMaxResidue = std::int64_t{1} << 31;

enum class OrderParam { none, chunk, residue, max_residue, seed, box };  // what NAME.PARAM means

struct OrderInfo {
  std::string_view name;
  std::string_view help;
  OrderParam param = OrderParam::none;
  bool unit_steps = false;  // neighbours in the order are neighbours on the raster, but for one diagonal
};
std::span<const OrderInfo> orders();
const OrderInfo* find_order(std::string_view name);

struct OrderRequest {
  std::string name;
  std::int64_t length = 0;
  std::vector<std::int64_t> grid =
      {};  // extents of the positions' grid, the slowest first; empty: a sequence
  std::vector<std::int64_t> dilation = {};  // of windows on the grid, for residue*; empty: 1 everywhere
  std::vector<std::int64_t> box = {};       // boxes and residue_boxes: their extents
  std::int64_t chunk = 0;                   // curves: positions that one curve covers; 0: all
  std::int64_t residue = 1;  // residue: r; bitrev_residue: r_max; auto: residue with r if above 1
  std::uint64_t seed = 1;    // random
  std::filesystem::path file;
};

// Why there is no such order for the positions of the case: an order of grids for a sequence, one of
// sequences for a grid, or a parameter that does not fit the grid.
Refusal why_not_order(const Case& work, const KernelChoice& choice);

// The order of `choice` with every parameter that `work` decides. Unless given, chunk is the length (0 for
// an order without chunks, and on a grid), and residue is the lcm of the dilations (for bitrev_residue the
// largest dilation rounded up to a power of two), at most kMaxResidue. `auto` is replaced by the order that
// it means. Throws UsageError if the order is unknown, if its param is not allowed or out of range, or if
// why_not_order says why.
OrderRequest order_request(const Case& work, const KernelChoice& choice);

// The slot of each position. The result may not be a bijection; check_order tells. Throws UsageError if the
// order is unknown, the length is outside 1..kMostPositions, a parameter is out of range, or a `file` cannot
// be read, has another length or is not a bijection.
std::vector<std::int64_t> order_slots(const OrderRequest& request);

struct OrderCheck {
  std::int64_t length = 0;
  std::int64_t in_range = 0;  // positions whose slot is in [0, length)
  std::int64_t distinct = 0;  // distinct slots in range; equal to length for a bijection
  // Steps are counted only for bijections of orders with `unit_steps`, on full rectangles and on grids.
  std::int64_t steps = 0;
  std::int64_t long_steps = 0;      // longer than a unit step and not diagonal
  std::int64_t diagonal_steps = 0;  // the most in one rectangle; each chunk is a rectangle
  bool promised = true;             // unit steps; on some grids there are only few others
  bool bijection() const { return distinct == length; }
  bool valid() const { return bijection() && (!promised || (long_steps == 0 && diagonal_steps <= 1)); }
};
// Values of `slots` are arbitrary. Throws UsageError if it does not have request.length entries.
OrderCheck check_order(const OrderRequest& request, std::span<const std::int64_t> slots);
// One line with the counts that say why a map is `invalid`; empty if it is valid.
std::string order_fault(const OrderRequest& request, const OrderCheck& check);

}  // namespace hilbench
