// The section of how it was measured.
#include "reports/document/sections.hpp"

namespace hilbench {

Section method_section(const View& view) {
  Section section{.id = "method", .title = "How it was measured", .blocks = {}};
  section.blocks.push_back(Bullets{
      {"Same work, same inputs: all variants of a case compute it from the same seeded tensors, outliers "
       "among them, in the same process and rounds.",
       "Verification first: each variant's output is compared with a double-precision reference, all rows of "
       "small cases and up to 256 sampled rows of large ones. A variant that misses its tolerance is failed "
       "and never timed.",
       "Timing: the variants of a case run in interleaved rounds of balanced order, warm-up outside. Times "
       "are medians with 95 % bootstrap intervals.",
       "Speedup: the median over rounds of reference time / variant time, with its 95 % bootstrap interval. "
       "The permutation of K and V is outside the kernel time and stands beside it.",
       "FLOPs: 4 x head_dim per query-key pair that is selected and not masked, counted pair by pair; "
       "backward 2.5 times that.",
       "Counters: read after the timing, each pass of a set in an execution of its own, caches warm or cold "
       "as they were for the times; source and passes stand with each counter in the records.",
       "Peak: what `peak` reached beside the case; on a processor the highest in these records with the same "
       "dtype, instructions and threads.",
       "A rate that the peak measured by the process itself rules out makes a record invalid: something did "
       "not run.",
       "Memory: bytes of operands, permuted copies, index and workspace that the plan counts for a "
       "variant."}});
  const auto command = view.meta.find("command");
  if (command != view.meta.end() && !command->second.empty()) {
    section.blocks.push_back(Paragraph{"The store was made by:"});
    section.blocks.push_back(Command{command->second});
  }
  return section;
}

}  // namespace hilbench
