// The mathematics of windows on grids (docs/definitions.md): which keys a position sees, and how many pairs
// result. The neighbourhoods are those of NATTEN (arXiv 2504.16922 and its mask.hpp).
//
// Positions number a grid row-major: the last dimension is the fastest. A key is seen if every dimension
// selects it; with `causal: true` on whole positions besides, if it does not come after the query.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/text/field.hpp"
#include "kernels/base/text/refusal.hpp"
#include "kernels/case/case.hpp"

namespace hilbench {

constexpr std::size_t kMostDimensions = 3;
constexpr std::int64_t kLongestExtent = std::int64_t{1} << 20;

// Every parameter that has one value for each dimension, in the order in which records list them: grid,
// window, window_dilation, window_stride, window_causal.
std::span<const Field<WindowDimension>> window_fields();
// The values of all dimensions as ids and --axis write them: "18x24x24", "true.false".
char list_separator(const Field<WindowDimension>& field);
std::string list_text(const Field<WindowDimension>& field, std::span<const WindowDimension> dimensions);

// The three kinds of pattern, and whether a parameter of case_fields() means something for one: `edges` is of
// windows on a grid, `queries`, `head_offset` and `branch_heads` are of branches.
enum class PatternKind { branches, windows, mask };
PatternKind pattern_kind(const Case& work);
bool of_pattern(std::string_view name, PatternKind kind);

// Positions of the grid: the product of its extents.
std::int64_t grid_positions(std::span<const WindowDimension> dimensions);
// Extents of the grid of a case, the slowest first; empty if it has none.
std::vector<std::int64_t> grid_of(const Case& work);
// The dilation of the windows in each dimension of the grid; empty without one.
std::vector<std::int64_t> dilation_of(const Case& work);

// Sets the one branch that the windows of a case restrict; and the length, unless it is given, that follows
// from the grid, or else from the mask.
enum class Length { derived, given };
void fill_in_windows(Case& work, Length length = Length::derived);

// Why the windows or the mask of a case are impossible.
Refusal why_not_windows(const Case& work);

// Keys along one dimension: first, first + step, ...
struct KeyRange {
  std::int64_t first = 0, step = 1, count = 0;
  std::int64_t last() const { return first + (count - 1) * step; }
  bool operator==(const KeyRange&) const = default;
};

// What one dimension selects for a query at `coordinate`; at least the query's own coordinate.
KeyRange selected_keys(const WindowDimension& dimension, Edges edges, std::int64_t coordinate);

// Keys of the product of the ranges of all dimensions; those beyond the case's own have one coordinate, 0.
using KeyBox = std::array<KeyRange, kMostDimensions>;
// The keys that the query at `position` sees in a case without a mask: boxes without a common key. One box,
// or with a causal mask at most one for each dimension.
std::vector<KeyBox> visible_boxes(const Case& work, std::int64_t position);
// Keys that the query at `position` sees, of any pattern of windows.
std::int64_t visible_count(const Case& work, std::int64_t position);

// (query, key) pairs of one head and batch entry of a case without a mask, in a number of steps that grows
// with the sum of the extents.
double window_pairs(const Case& work);

}  // namespace hilbench
