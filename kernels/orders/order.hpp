// Orders: bijections from sequence position to memory slot (README, Definitions).
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/case/case.hpp"
#include "kernels/case/variant.hpp"

namespace hilbench {

inline constexpr std::int64_t kMaxResidue = std::int64_t{1} << 31;

enum class OrderParam { none, chunk, residue, max_residue, seed };  // what NAME.PARAM means

struct OrderInfo {
  std::string_view name;
  std::string_view help;
  OrderParam param = OrderParam::none;
  bool unit_steps =
      false;  // neighbours along the order must be neighbours on the raster (one diagonal allowed)
};
std::span<const OrderInfo> orders();
const OrderInfo* find_order(std::string_view name);

struct OrderRequest {
  std::string name;
  std::int64_t length = 0;
  std::int64_t chunk = 0;    // curves: inside each chunk of so many positions; 0: the whole length
  std::int64_t residue = 1;  // residue: r; bitrev_residue: r_max; auto: residue with r, if above 1
  std::uint64_t seed = 1;    // random
  std::filesystem::path file;
};

// What `variant`'s order means for `work`: chunk (the length where none is given; 0 for an order without
// chunks) and seed resolved, residue = lcm of the dilations (bitrev_residue: the largest dilation rounded up
// to a power of two) unless given, at most kMaxResidue; `auto` replaced by the order it stands for. Throws
// UsageError for an unknown order, or a param that the order does not take or that is out of range.
OrderRequest order_request(const Case& work, const Variant& variant);

// Slot of each position. The map need not be a bijection: check_order says; only a `file` that is none is
// refused here. Throws UsageError for an unknown order, an unreadable file, one of a wrong length or no
// bijection, a length outside 1..kMostPositions or a parameter out of range.
std::vector<std::int64_t> order_slots(const OrderRequest& request);

struct OrderCheck {
  std::int64_t length = 0;
  std::int64_t in_range = 0;  // positions whose slot lies in [0, length)
  std::int64_t distinct = 0;  // distinct slots in range: equal to length for a bijection
  std::int64_t steps = 0;     // steps examined: bijections of orders with `unit_steps`, full rectangles only
  std::int64_t long_steps = 0;      // of those, longer than a unit step (a diagonal counts below)
  std::int64_t diagonal_steps = 0;  // the most in any one rectangle (a chunk is a rectangle of its own)
  bool bijection() const { return distinct == length; }
  bool valid() const { return bijection() && long_steps == 0 && diagonal_steps <= 1; }
};
// `slots` holds request.length entries, any values. Throws UsageError for another number.
OrderCheck check_order(const OrderRequest& request, std::span<const std::int64_t> slots);
// One line with the counts: why a map that fails is `invalid`. Empty for a valid one.
std::string order_fault(const OrderRequest& request, const OrderCheck& check);

}  // namespace hilbench
