// The sectors of a variant on a GPU, or its lines on a processor, derived (kernels/index/sectors.hpp):
// nothing is run.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "kernels/base/text/counter.hpp"
#include "kernels/implementation.hpp"
#include "kernels/index/sectors.hpp"
#include "kernels/machine/gpu.hpp"
#include "kernels/windows/case_index.hpp"

namespace hilbench {

StreamDevice stream_device(const Gpu& gpu);

// What computes the variant on that device in a build with all code: of `dilated` the first kernel of the
// table whose sectors are derived for the case. Null if nothing of the name runs on devices of the case's
// kind.
const Implementation* streamed_implementation(const Case& work, const Variant& variant,
                                              const StreamDevice& device);

// Why the sectors of the variant are not known; nothing if they are.
Refusal why_no_sectors(const Case& work, const Variant& variant, const Implementation* implementation,
                       const StreamDevice& device);

// The index that the kernel reads, or its shape, from which the sectors of kernels for GPUs can be told.
// why_no_sectors() must have no objection.
Index streamed_index(const Case& work, const KernelChoice& choice, const Implementation& implementation,
                     const StreamDevice& device, IndexContents contents = IndexContents::all);

// As counters of a record, `derived_...`, with source `derived`; their counts are not measured.
std::map<std::string, Counter> sector_counters(const Sectors& sectors);

// The L1 counters of GPUs that have to equal derived ones, in sectors or as said.
struct SectorPair {
  std::string_view counter;
  std::int64_t (*derived)(const Sectors&);
};
std::span<const SectorPair> sector_pairs();

}  // namespace hilbench
