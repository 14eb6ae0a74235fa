// Lists the cases of a sweep.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "harness/sweep/parts.hpp"
#include "kernels/base/text/error.hpp"
#include "kernels/base/text/hash.hpp"

namespace hilbench {
namespace {

std::size_t hash_of(const Case& work) {
  std::uint64_t hash = kFnvBasis;
  const auto add = [&](std::int64_t value) { hash = hash_integer(hash, value); };
  for (const Field<Case>& field : case_fields()) add(field.get(work));
  for (const Branch& branch : work.pattern) {
    add(branch.segment_length);
    add(branch.dilation);
  }
  for (const WindowDimension& dimension : work.windows)
    for (const Field<WindowDimension>& field : window_fields()) add(field.get(dimension));
  add(work.mask_blocks.block);
  add(static_cast<std::int64_t>(work.mask_blocks.hash));
  return hash;
}

// One axis as a digit of a counter: its value, and the parameter that it sets.
struct Digit {
  const Axis* axis;
  const Field<Case>* field;  // null: the pattern
  std::size_t at = 0;
};

void set_digit(const CaseSpace& space, const Digit& digit, Case& work) {
  const std::int64_t value = digit.axis->values[digit.at];
  if (digit.field != nullptr) return digit.field->set(work, value);
  if (digit.axis->name == "grid") {
    const WindowPattern& windows = space.patterns.windows[static_cast<std::size_t>(value)];
    work.windows = windows.dimensions;
    work.mask_blocks = windows.mask;
    return;
  }
  work.pattern = space.patterns.branches[static_cast<std::size_t>(value)];
}

void append_product(const CaseSpace& space, std::vector<SweepCase>& cases) {
  if (space.axes.empty()) return;
  std::vector<Digit> digits;
  Case work;
  for (const Axis& axis : space.axes) {
    digits.push_back({&axis, find_field(case_fields(), axis.name)});
    set_digit(space, digits.back(), work);
  }
  const bool names_length = std::any_of(space.axes.begin(), space.axes.end(),
                                        [](const Axis& axis) { return axis.name == "sequence_length"; });
  const Length length = names_length ? Length::given : Length::derived;
  for (std::size_t i = 0; i < digits.size();) {
    cases.push_back({work});
    if (has_windows(work)) fill_in_windows(cases.back().work, length);
    for (i = 0; i < digits.size(); ++i) {
      Digit& digit = digits[digits.size() - 1 - i];
      digit.at = (digit.at + 1) % digit.axis->values.size();
      set_digit(space, digit, work);
      if (digit.at != 0) break;
    }
  }
}

void drop_duplicates(std::vector<SweepCase>& cases) {
  const auto hash = [&](std::size_t i) { return hash_of(cases[i].work); };
  const auto equal = [&](std::size_t a, std::size_t b) { return cases[a].work == cases[b].work; };
  std::unordered_set<std::size_t, decltype(hash), decltype(equal)> seen(cases.size(), hash, equal);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (kept != i) std::swap(cases[kept], cases[i]);
    if (seen.insert(kept).second) ++kept;
  }
  cases.resize(kept);
}

// True if a [batch, sequence, heads, head_dim] tensor in fp32 takes more than 2^62 bytes.
bool overflows(const Case& work, std::int64_t heads) {
  std::int64_t bytes = 4;
  for (const std::int64_t extent : {work.batch, work.sequence_length, heads, work.head_dim})
    if (__builtin_mul_overflow(bytes, extent, &bytes)) return true;
  return bytes > std::int64_t{1} << 62;
}

}  // namespace

std::vector<SweepCase> list_cases(const CaseSpace& space, const Condition& skip_when) {
  std::vector<SweepCase> cases;
  append_product(space, cases);
  for (const Case& point : space.points) cases.push_back({point});
  for (SweepCase& each : cases)
    if (each.work.kv_heads == 0) each.work.kv_heads = each.work.heads;
  if (!space.points.empty()) drop_duplicates(cases);  // axes alone make none: their values are distinct
  for (SweepCase& each : cases) each.skipped = skip_when.matches(each.work);
  return cases;
}

Refusal why_not(const Case& work) {
  const std::int64_t kv_heads = work.kv_heads == 0 ? work.heads : work.kv_heads;
  const auto branches = static_cast<std::int64_t>(work.pattern.size());
  if (kv_heads > work.heads) return fmt::format("kv_heads {} is above heads {}", kv_heads, work.heads);
  if (work.ring_size > work.sequence_length)
    return fmt::format("ring_size {} is above sequence_length {}", work.ring_size, work.sequence_length);
  if (work.branch_heads == BranchHeads::partition && work.heads < branches)
    return fmt::format("branch_heads partition: {} branches share {} heads", branches, work.heads);
  if (overflows(work, work.heads))
    return fmt::format("a tensor of {} x {} x {} x {} elements passes 2^62 bytes", work.batch,
                       work.sequence_length, work.heads, work.head_dim);
  return why_not_windows(work);
}

}  // namespace hilbench
