// The section "How it was measured".
#include <fmt/format.h>

#include <algorithm>

#include "reports/document/sections.hpp"
#include "reports/tables/variant_rows.hpp"
#include "reports/view/format.hpp"
#include "reports/view/margins.hpp"

namespace hilbench {
namespace {

std::string margin_sentence(const View& view) {
  double asked = 0, least = 0, most = 0;
  for (const CaseView& of_case : view.cases)
    for (const Record* record : of_case.records) {
      asked = std::max(asked, record->margin);
      if (!record->speedup) continue;
      least = most == 0 ? record->speedup->margin : std::min(least, record->speedup->margin);
      most = std::max(most, record->speedup->margin);
    }
  const std::string twins = fmt::format("{} of references, which differ from them by noise alone",
                                        plural(view.twins.size(), "twin", "twins"));
  if (most > asked)
    return fmt::format(
        "Margin, the smallest effect worth a name: {} to {}. The sweep asks for {}; where {} differ by more "
        "(95th percentile of other comparisons of like duration), that is the margin.",
        margin_text(least), margin_text(most), margin_text(asked), twins);
  return fmt::format(
      "Margin, the smallest effect worth a name: {}, as the sweep asks. These records hold {}; {} of other "
      "comparisons of like duration are needed before their differences can raise it.",
      margin_text(asked), twins, kFewestTwins);
}

constexpr const char* kGradients =
    " Of gradients, rows of dQ, dK and dV are compared so; a second run, in which every row's sum of pairs "
    "is "
    "known, looks at all of them. O and LSE of the forward pass are verified first, and are the same for all "
    "variants.";

std::string timing_sentence(const View& view) {
  std::string text =
      "Timing: the variants of a case take turns, in rounds of balanced order. Warm-up is not timed. If "
      "several processes measured, each is one value: the median of its rounds. Times are then the "
      "geometric mean of these values with Student's t interval; within one process, the median of the "
      "rounds with the exact interval of their order statistics. All intervals are 95 % and unadjusted.";
  if (any_steady(view.cases))
    text +=
        " In a steady round each variant runs back to back for the seconds that the table names: the time is "
        "that of the whole window, divided by its executions. Joules per run are what the counter of the "
        "device (NVML, or RAPL of the processor's packages) adds in the same window, divided alike; they "
        "hold all that used the device.";
  return text;
}

bool has_programs(const View& view) {
  return std::any_of(view.records->begin(), view.records->end(),
                     [](const Record& record) { return record.requests.has_value(); });
}

}  // namespace

Section method_section(const View& view) {
  Section section{.id = "method", .title = "How it was measured", .blocks = {}};
  section.blocks.push_back(Bullets{
      {"Same work, same inputs: all variants of a case read the same tensors, made from a seed and with "
       "outliers, in the same rounds" +
           std::string(has_programs(view)
                           ? ". Libraries and programs run in processes of their own, in turn with "
                             "what runs here."
                           : " and the same process."),
       "Verification first: the output of each variant is compared with a double-precision reference. Of "
       "small cases all rows are compared, of large ones up to 256 sampled rows, each with a tolerance of "
       "its own. A second run with equal scores counts keys. A variant that misses a tolerance fails and is "
       "never timed." +
           std::string(has_gradients(view) ? kGradients : ""),
       timing_sentence(view),
       "Speedup: reference time / variant time, paired round by round; each process gives the median of its "
       "rounds, on the logarithmic scale. Permuting K and V is not part of the kernel time; its time is "
       "shown separately.",
       "Verdicts: faster or slower if a one-sided t-test at 2.5 % finds the effect beyond the margin, "
       "corrected by Holm's method for all pairs of a case and a kernel variant here; equivalent if the 90 "
       "% interval lies inside the margin; otherwise inconclusive. Baselines are judged by themselves. "
       "Within one process nothing is known of how processes differ, so the verdict says so and is never "
       "equivalent.",
       margin_sentence(view),
       "FLOPs: 4 x head_dim for each query-key pair that is selected and not masked, counted pair by pair; "
       "10 x "
       "in the backward pass, 14 x in both.",
       "Counters: read after the timing, each pass of a counter set in a separate execution. Caches are warm "
       "or cold as they were for the times. The records name the source and the passes of each counter.",
       "Peak: the rate that `peak` reached in the same case; on a processor, the highest in these records "
       "with the same dtype, instructions and threads.",
       "Impossible rates: if a rate is higher than the peak measured in the same process allows, the record "
       "is invalid, because some of the work did not run.",
       "Memory: bytes of operands, permuted copies, index and workspace that the plan counts for "
       "a variant."}});
  const auto command = view.meta.find("command");
  if (command != view.meta.end() && !command->second.empty()) {
    section.blocks.push_back(Paragraph{"This command made the store:"});
    section.blocks.push_back(Command{command->second});
  }
  return section;
}

}  // namespace hilbench
