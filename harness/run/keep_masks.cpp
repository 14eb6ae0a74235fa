#include "harness/run/keep_masks.hpp"

#include <nlohmann/json.hpp>

#include "kernels/case/mask_blocks.hpp"

namespace hilbench {

void keep_masks(Store& store, const Plan& plan) {
  for (const Comparison& comparison : plan.comparisons) {
    const MaskBlocks& mask = comparison.work.mask_blocks;
    if (mask.bits == nullptr || !comparison.runnable()) continue;
    store.set_meta("mask." + mask_text(mask),
                   nlohmann::json{{"blocks", mask.blocks}, {"bits", mask.bits->text()}}.dump());
  }
}

}  // namespace hilbench
