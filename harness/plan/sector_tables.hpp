// `hilbench plan --sectors`: what each variant reads on a GPU or a processor, and whether its order can
// change what a cache sees.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "baselines/block_analysis.hpp"
#include "harness/plan/plan.hpp"
#include "reports/terminal/screen.hpp"

namespace hilbench {

// One variant of a case; one of the two is set.
struct SectorRow {
  std::string case_id, variant_id, kernel;
  DeviceKind device = DeviceKind::cpu;
  double queries = 0;  // rows of Q of all heads
  std::optional<BlockAnalysis> analysis;
  std::string unknown;  // why there are no sectors
};

// Of every variant but twins, in the sequence of the plan. Variants that this build has no code for have rows
// too. `gpu`: null if no case is for GPUs.
std::vector<SectorRow> sector_rows(const Plan& plan, const Gpu* gpu);

// A table for GPUs, in sectors, and one for processors, in lines; either only if it has rows.
std::string sector_table(const std::vector<SectorRow>& rows, const Gpu* gpu, const Screen& screen);
// An array of objects, one for each row.
std::string sector_json(const std::vector<SectorRow>& rows, const Gpu* gpu);

}  // namespace hilbench
