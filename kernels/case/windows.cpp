#include "kernels/case/windows.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "kernels/case/mask_blocks.hpp"

namespace hilbench {
namespace {

const std::array kDimensionFields = {
    number_field<&WindowDimension::extent>("grid", "positions along each dimension, the slowest first",
                                           kLongestExtent),
    number_field<&WindowDimension::window>("window", "keys of a query along each dimension", kLongestExtent),
    number_field<&WindowDimension::dilation>("window_dilation", "distance of neighbouring keys of a window",
                                             kLongestExtent),
    number_field<&WindowDimension::stride>("window_stride", "neighbouring queries that share a window",
                                           kLongestExtent),
    Field<WindowDimension>{
        .name = "window_causal",
        .kind = FieldKind::boolean,
        .help = "no key after the query along the dimension",
        .get = [](const WindowDimension& dimension) { return std::int64_t{dimension.causal}; },
        .set = [](WindowDimension& dimension, std::int64_t value) { dimension.causal = value != 0; }},
};

// Sums over the queries of one dimension.
struct DimensionCounts {
  double selected = 0;  // keys
  double earlier = 0;   // keys before the query
};

DimensionCounts count_dimension(const WindowDimension& dimension, Edges edges) {
  DimensionCounts counts;
  for (std::int64_t c = 0; c < dimension.extent; ++c) {
    const KeyRange keys = selected_keys(dimension, edges, c);
    counts.selected += static_cast<double>(keys.count);
    counts.earlier += static_cast<double>((c - keys.first) / keys.step);  // the query's own key is among them
  }
  return counts;
}

std::array<std::int64_t, kMostDimensions> coordinates_of(const Case& work, std::int64_t position) {
  std::array<std::int64_t, kMostDimensions> coordinates = {};
  for (std::size_t d = work.windows.size(); d-- > 0;) {
    coordinates[d] = position % work.windows[d].extent;
    position /= work.windows[d].extent;
  }
  return coordinates;
}

// Why one dimension is impossible, or "".
Refusal why_not_dimension(const WindowDimension& dimension, Edges edges) {
  if (dimension.stride > dimension.window)
    return fmt::format("window_stride {} is above window {}: some queries would be outside of their window",
                       dimension.stride, dimension.window);
  if (edges == Edges::shift && dimension.window > dimension.extent / dimension.dilation)
    return fmt::format(
        "window {} with window_dilation {} does not fit into {} positions of the grid; edges: cut allows it",
        dimension.window, dimension.dilation, dimension.extent);
  return std::nullopt;
}

std::string_view misplaced(std::string_view parameter, const Case& work) {
  if (parameter == "edges")
    return has_mask_blocks(work) ? "is for windows on a grid, the case has a mask"
                                 : "is for windows, write grid: [H, W] and window: [w, w] too";
  return has_mask_blocks(work) ? "is for branches, the case has a mask"
                               : "is for branches, the case has windows on a grid";
}

}  // namespace

std::span<const Field<WindowDimension>> window_fields() {
  return kDimensionFields;
}

char list_separator(const Field<WindowDimension>& field) {
  return field.kind == FieldKind::integer ? 'x' : '.';
}

std::string list_text(const Field<WindowDimension>& field, std::span<const WindowDimension> dimensions) {
  std::string text;
  for (const WindowDimension& dimension : dimensions) {
    if (!text.empty()) text += list_separator(field);
    text += field_text(field, field.get(dimension));
  }
  return text;
}

PatternKind pattern_kind(const Case& work) {
  if (has_mask_blocks(work)) return PatternKind::mask;
  return has_grid(work) ? PatternKind::windows : PatternKind::branches;
}

bool of_pattern(std::string_view name, PatternKind kind) {
  if (name == "edges") return kind == PatternKind::windows;
  return kind == PatternKind::branches ||
         (name != "queries" && name != "head_offset" && name != "branch_heads");
}

std::int64_t grid_positions(std::span<const WindowDimension> dimensions) {
  std::int64_t positions = 1;
  for (const WindowDimension& dimension : dimensions) positions *= dimension.extent;
  return positions;
}

std::vector<std::int64_t> grid_of(const Case& work) {
  std::vector<std::int64_t> extents;
  for (const WindowDimension& dimension : work.windows) extents.push_back(dimension.extent);
  return extents;
}

std::vector<std::int64_t> dilation_of(const Case& work) {
  std::vector<std::int64_t> dilation;
  for (const WindowDimension& dimension : work.windows) dilation.push_back(dimension.dilation);
  return dilation;
}

void fill_in_windows(Case& work, Length length) {
  if (length == Length::derived)
    work.sequence_length =
        has_grid(work) ? grid_positions(work.windows) : work.mask_blocks.blocks * work.mask_blocks.block;
  work.pattern = {{work.sequence_length, 1}};
}

Refusal why_not_windows(const Case& work) {
  const Case defaults;
  for (const Field<Case>& field : case_fields())
    if (!of_pattern(field.name, pattern_kind(work)) && field.get(work) != field.get(defaults))
      return fmt::format("{}: {} {}", field.name, field_text(field, field.get(work)),
                         misplaced(field.name, work));
  const std::int64_t positions = grid_positions(work.windows);
  if (has_grid(work) && work.sequence_length != positions)
    return fmt::format("sequence_length {} is not that of the grid: {} = {}; leave sequence_length out",
                       work.sequence_length, fmt::join(grid_of(work), " x "), positions);
  if (has_mask_blocks(work)) return why_not_mask(work);
  for (const WindowDimension& dimension : work.windows)
    if (Refusal why = why_not_dimension(dimension, work.edges)) return why;
  return std::nullopt;
}

KeyRange selected_keys(const WindowDimension& dimension, Edges edges, std::int64_t coordinate) {
  const std::int64_t d = dimension.dilation, w = dimension.window, s = dimension.stride;
  const std::int64_t group = coordinate % d, index = coordinate / d;
  const std::int64_t length = (dimension.extent - group + d - 1) / d;  // of the group
  const std::int64_t block = index / s * s;
  const std::int64_t leader = std::min(block + (dimension.causal ? s - 1 : s / 2), length - 1);
  std::int64_t begin = leader - w / 2, end = 0;
  if (dimension.causal) {
    begin = std::max<std::int64_t>(leader - w + 1, 0);
    end = index + 1;
  } else if (edges == Edges::shift) {
    begin = std::clamp<std::int64_t>(begin, 0, length - w);
    end = begin + w;
  } else {
    end = std::min(begin + w, length);
    begin = std::max<std::int64_t>(begin, 0);
  }
  return {group + d * begin, d, end - begin};
}

std::vector<KeyBox> visible_boxes(const Case& work, std::int64_t position) {
  const auto coordinates = coordinates_of(work, position);
  KeyBox whole;
  whole.fill({0, 1, 1});
  for (std::size_t d = 0; d < work.windows.size(); ++d)
    whole[d] = selected_keys(work.windows[d], work.edges, coordinates[d]);
  if (work.mask == Mask::full) return {whole};
  // Keys that are earlier in dimension d and have the query's coordinates in all slower ones; in the last
  // dimension the query's own key too.
  std::vector<KeyBox> boxes;
  for (std::size_t d = 0; d < work.windows.size(); ++d) {
    KeyBox earlier = whole;
    for (std::size_t slower = 0; slower < d; ++slower)
      earlier[slower] = {coordinates[slower], whole[slower].step, 1};
    earlier[d].count = (coordinates[d] - whole[d].first) / whole[d].step;
    if (d + 1 == work.windows.size()) ++earlier[d].count;
    if (earlier[d].count > 0) boxes.push_back(earlier);
  }
  return boxes;
}

std::int64_t visible_count(const Case& work, std::int64_t position) {
  if (has_mask_blocks(work)) return seen_count(work, position);
  std::int64_t count = 0;
  for (const KeyBox& box : visible_boxes(work, position)) {
    std::int64_t keys = 1;
    for (const KeyRange& range : box) keys *= range.count;
    count += keys;
  }
  return count;
}

double window_pairs(const Case& work) {
  std::vector<DimensionCounts> counts;
  for (const WindowDimension& dimension : work.windows)
    counts.push_back(count_dimension(dimension, work.edges));
  double pairs = 0, equal = 1;
  if (work.mask == Mask::causal) {  // by the slowest dimension in which the key is earlier than the query
    for (std::size_t d = 0; d < counts.size(); ++d) {
      double earlier = equal * counts[d].earlier;
      for (std::size_t faster = d + 1; faster < counts.size(); ++faster) earlier *= counts[faster].selected;
      pairs += earlier;
      equal *= static_cast<double>(work.windows[d].extent);
    }
    return pairs + equal;
  }
  pairs = 1;
  for (const DimensionCounts& count : counts) pairs *= count.selected;
  return pairs;
}

}  // namespace hilbench
