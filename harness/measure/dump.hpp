// `run --dump`: the tensors of a variant as .npy files.
#pragma once

#include <filesystem>

#include "harness/inputs.hpp"
#include "harness/record.hpp"
#include "harness/verify.hpp"

namespace hilbench {

// Writes FOLDER/<case>/<variant with / as _>/{q,k,v,o,lse}.npy: position order, fp32, BSHD (lse: BSH).
// Throws UsageError where a file cannot be written.
void dump_tensors(const std::filesystem::path& folder, const Record& record, const InputTensors& inputs,
                  const OutputReader& output);

}  // namespace hilbench
