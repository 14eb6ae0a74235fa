#include "reports/records/case_from_json.hpp"

#include <array>
#include <charconv>
#include <string_view>

#include "kernels/base/text/text.hpp"
#include "kernels/case/mask_blocks.hpp"
#include "kernels/case/windows.hpp"

namespace hilbench {
namespace {

using nlohmann::json;

// A record that was stored before the parameter existed lacks it; the case had the default.
bool came_later(std::string_view name) {
  constexpr std::array<std::string_view, 6> kLater = {"score_scale", "data",    "pages",
                                                      "edges",       "dropout", "dropout_seed"};
  return std::ranges::find(kLater, name) != kLater.end();
}

// The branches that `params` list.
std::vector<Branch> branches_from(const json& params) {
  const json& segments = array_at(params, "segments");
  const json& dilations = array_at(params, "dilations");
  if (segments.size() != dilations.size()) refuse_record("'segments' and 'dilations' differ in length");
  std::vector<Branch> pattern;
  for (std::size_t i = 0; i < segments.size(); ++i)
    pattern.push_back({to_integer(segments[i], "segments"), to_integer(dilations[i], "dilations")});
  if (pattern.empty()) refuse_record("'segments' is empty");
  for (const Branch& branch : pattern)
    if (std::min(branch.segment_length, branch.dilation) < 1)
      refuse_record("'segments' or 'dilations' holds less than 1");
  return pattern;
}

// A record that was stored before there were windows has no `grid`, one of before there were masks no `mask`.
PatternKind kind_of(const json& params) {
  const auto has = [&](const char* name) { return params.contains(name) && !params[name].is_null(); };
  if (has("mask")) return PatternKind::mask;
  return has("grid") ? PatternKind::windows : PatternKind::branches;
}

std::vector<WindowDimension> windows_from(const json& params) {
  std::vector<WindowDimension> windows(array_at(params, "grid").size());
  if (windows.size() < 2 || windows.size() > kMostDimensions)
    refuse_record(fmt::format("'grid' has {} entries", windows.size()));
  const std::size_t fields =
      kind_of(params) == PatternKind::mask ? 1 : window_fields().size();  // the grid alone
  for (const Field<WindowDimension>& field : window_fields().first(fields)) {
    const json& list = array_at(params, field.name);
    if (list.size() != windows.size())
      refuse_record(fmt::format("'grid' and '{}' differ in length", field.name));
    for (std::size_t d = 0; d < windows.size(); ++d) {
      const bool boolean = field.kind == FieldKind::boolean;
      if (boolean && !list[d].is_boolean()) refuse_record(fmt::format("'{}' is not boolean", field.name));
      const std::int64_t value =
          boolean ? std::int64_t{list[d].get<bool>()} : to_integer(list[d], field.name);
      if (!boolean && (value < field.minimum || value > field.maximum))
        refuse_record(
            fmt::format("'{}' holds {}, not {} to {}", field.name, value, field.minimum, field.maximum));
      field.set(windows[d], value);
    }
  }
  return windows;
}

// Without the bits.
MaskBlocks mask_from(const json& params, std::int64_t length) {
  const std::int64_t block = integer_at(params, "mask_block");
  if (block < 1 || block > kLongestMaskBlock) refuse_record(fmt::format("'mask_block' is {}", block));
  const json& text = params["mask"];
  if (!text.is_string()) refuse_record("'mask' is no text");
  MaskBlocks mask{.block = block, .blocks = blocks_of_length(length, block)};
  const std::string digits = text.get<std::string>();
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), mask.hash, 16);
  if (error != std::errc() || digits != mask_text(mask))
    refuse_record(fmt::format("'mask' is '{}', not 16 hexadecimal digits", one_line(digits, 40)));
  return mask;
}

// What case_fields() list.
void read_fields(const json& params, const json& asked, PatternKind kind, Case& work) {
  for (const Field<Case>& field : case_fields())
    if (of_pattern(field.name, kind) && (!came_later(field.name) || params.contains(field.name)))
      read_field(params, field, work);
  work.threads = positive_at(asked, "threads");
  if (work.dtype_by_device) refuse_record("'dtype' is 'auto'");
  const Case unset;
  for (const Field<Case>& field : case_fields()) {
    const std::int64_t value = field.get(work);
    if (field.kind != FieldKind::integer || value == field.get(unset)) continue;
    if (value < field.minimum || value > field.maximum)
      refuse_record(fmt::format("'{}' is {}, not {} to {}", field.name, value, field.minimum, field.maximum));
  }
  if (work.kv_heads > work.heads)
    refuse_record(fmt::format("'kv_heads' is {} and 'heads' {}", work.kv_heads, work.heads));
  if (work.ring_size > 1 && work.kv_heads == 0) refuse_record("'kv_heads' of a ring is 0");
}

}  // namespace

Case case_from_json(const json& params, const json& asked) {
  Case work;
  const PatternKind kind = kind_of(params);
  read_fields(params, asked, kind, work);
  if (kind == PatternKind::branches) {
    work.pattern = branches_from(params);
    return work;
  }
  if (kind == PatternKind::mask) work.mask_blocks = mask_from(params, work.sequence_length);
  if (kind == PatternKind::windows || (params.contains("grid") && !params["grid"].is_null()))
    work.windows = windows_from(params);
  work.pattern = {{work.sequence_length, 1}};
  if (const Refusal why = why_not_windows(work)) refuse_record(*why);
  return work;
}

}  // namespace hilbench
