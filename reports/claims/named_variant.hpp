// Variants as claims name them: by the ids that records have.
#pragma once

#include <string>

#include "kernels/base/text/yaml.hpp"
#include "reports/records/record.hpp"

namespace hilbench {

// "dilated/hilbert.qkv": the kernel `dilated` stands for each kernel. "torch_windows.flex": a baseline.
// "*": every variant of a kernel. "*.fresh": every one with this option.
struct NamedVariant {
  std::string id;         // as written; empty: none is named
  std::string kernel;     // "dilated"; empty: a baseline, or any kernel
  std::string order;      // "hilbert"; empty likewise
  std::string option;     // "fresh", of "*.fresh"
  std::string traversal;  // "sawtooth", of "dilated/linear/sawtooth"; empty: none is named
  std::string place;      // in its file, for messages

  bool any() const { return id.starts_with('*'); }
  bool named() const { return !id.empty(); }
};

// Throws UsageError with file, line and row if it is no id, or if an option in it is unknown. Which orders
// and traversals there are, reports do not know: harness/sweep/claim_names.hpp checks them.
NamedVariant named_variant(const YamlValue& value);

// True if the record is of this variant, which names no `*`. The parameter of the order, such as a chunk or
// a seed, may be any unless the id states it.
bool is_of(const Record& record, const NamedVariant& variant);

// "hilbert"; of a baseline its id.
std::string order_or_id(const NamedVariant& variant);

}  // namespace hilbench
