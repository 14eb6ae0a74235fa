#include "reports/findings/all_tables.hpp"

#include "reports/summaries/chains.hpp"
#include "reports/summaries/effects.hpp"
#include "reports/summaries/followed_counts.hpp"
#include "reports/tables/claim_levels.hpp"
#include "reports/tables/claim_tables.hpp"
#include "reports/tables/commands.hpp"
#include "reports/tables/comparison.hpp"
#include "reports/tables/counters_beside_ratios.hpp"
#include "reports/tables/environment.hpp"
#include "reports/tables/literature.hpp"
#include "reports/tables/locality.hpp"
#include "reports/tables/problems.hpp"
#include "reports/tables/rings.hpp"
#include "reports/tables/rivals.hpp"
#include "reports/tables/summary.hpp"
#include "reports/tables/training.hpp"
#include "reports/tables/twins.hpp"
#include "reports/tables/window_pairs.hpp"
#include "reports/tables/window_times.hpp"
#include "reports/tables/windows.hpp"

namespace hilbench {

std::vector<Table> all_tables(const View& view, const std::vector<ClaimAnswer>& answers) {
  const std::vector<ClaimAnswer> of_reports = answers_of(ClaimOrigin::report, answers);
  return {claims_table(of_reports),
          claim_levels_table(of_reports),
          literature_table(answers_of(ClaimOrigin::paper, answers)),
          chains_table(view),
          protocols_table(view),
          comparison_table(view.cases),
          effects_table(view),
          followed_counts_table(view),
          explained_table(view.cases),
          rivals_table(view),
          rings_table(view),
          summary_table(view),
          training_table(view),
          twins_table(view),
          windows_table(view),
          window_pairs_table(view),
          window_times_table(view),
          locality_table(view),
          problems_table(view),
          unavailable_table(view),
          environment_table(view),
          commands_table(view.cases, view)};
}

}  // namespace hilbench
