// The section "How it was measured".
#include "reports/document/sections.hpp"

namespace hilbench {

Section method_section(const View& view) {
  Section section{.id = "method", .title = "How it was measured", .blocks = {}};
  section.blocks.push_back(Bullets{
      {"Same work, same inputs: all variants of a case read the same tensors, made from a seed and with "
       "outliers, in the same process and the same rounds.",
       "Verification first: the output of each variant is compared with a double-precision reference. Of "
       "small cases all rows are compared, of large ones up to 256 sampled rows. A variant that misses its "
       "tolerance fails and is never timed.",
       "Timing: the variants of a case take turns, in rounds of balanced order. Warm-up is not timed. Times "
       "are medians with 95 % bootstrap intervals.",
       "Speedup: the median over rounds of reference time / variant time, with its 95 % bootstrap interval. "
       "Permuting K and V is not part of the kernel time; its time is shown separately.",
       "FLOPs: 4 x head_dim for each query-key pair that is selected and not masked, counted pair by pair. A "
       "backward pass counts 2.5 times as many.",
       "Counters: read after the timing, each pass of a counter set in a separate execution. Caches are warm "
       "or cold as they were for the times. The records name the source and the passes of each counter.",
       "Peak: the rate that `peak` reached in the same case; on a processor, the highest in these records "
       "with the same dtype, instructions and threads.",
       "Impossible rates: if a rate is higher than the peak measured in the same process allows, the record "
       "is invalid, because some of the work did not run.",
       "Memory: bytes of operands, permuted copies, index and workspace that the plan counts for a "
       "variant."}});
  const auto command = view.meta.find("command");
  if (command != view.meta.end() && !command->second.empty()) {
    section.blocks.push_back(Paragraph{"This command made the store:"});
    section.blocks.push_back(Command{command->second});
  }
  return section;
}

}  // namespace hilbench
