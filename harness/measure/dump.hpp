// `run --dump`: the tensors of a variant as .npy files.
#pragma once

#include <filesystem>

#include "harness/measure/inputs.hpp"
#include "harness/measure/verify.hpp"
#include "reports/records/record.hpp"

namespace hilbench {

// Writes FOLDER/<case>/<variant, with _ for />/{q,k,v,o,lse}.npy in position order, fp32, BSHD (lse: BSH);
// with gradients also {do,dq,dk,dv}.npy, and O and LSE only if the variant computes them. Throws UsageError
// if a file cannot be written.
void dump_tensors(const std::filesystem::path& folder, const Record& record, const InputTensors& inputs,
                  const OutputReader& output);

}  // namespace hilbench
