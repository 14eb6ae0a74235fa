#include "harness/external/case_json.hpp"

#include <string>

#include "kernels/base/text/field_json.hpp"
#include "kernels/case/windows.hpp"

namespace hilbench {
namespace {

using nlohmann::json;

// `segments` and `dilations`, or the lists of windows; of a case with a mask its grid alone.
void add_pattern(const Case& work, json& fields) {
  if (has_mask_blocks(work)) fields["mask_block"] = work.mask_blocks.block;
  if (has_windows(work)) {
    for (const Field<WindowDimension>& field :
         window_fields().first(has_mask_blocks(work) ? 1 : window_fields().size()))
      for (const WindowDimension& dimension : work.windows)
        fields[std::string(field.name)].push_back(field_json(field, dimension));
    return;
  }
  for (const Branch& branch : work.pattern) {
    fields["segments"].push_back(branch.segment_length);
    fields["dilations"].push_back(branch.dilation);
  }
}

}  // namespace

json case_json(const Case& work, int threads) {
  json fields;
  for (const Field<Case>& field : case_fields())
    if (of_pattern(field.name, pattern_kind(work))) fields[std::string(field.name)] = field_json(field, work);
  fields["threads"] = threads;  // the case has 0 if the sweep does not say
  add_pattern(work, fields);
  return fields;
}

}  // namespace hilbench
