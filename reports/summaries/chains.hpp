// A claim taken apart: a chain of variants from what was measured first to what it was compared with.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reports/view/chain.hpp"
#include "reports/view/table.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

// "time", "lines of a tile": what the ratios of a chain are of.
std::string quantity_text(const std::string& of);
// The case of the chain, and what it is of unless that is time.
std::string chain_name(const MeasuredChain& chain);

// For each case of the chain: what was reported, what the same programs give here, factor by factor, and what
// was not reproduced. None if the sweep has no chain.
std::vector<std::string> chain_sentences(const View& view);

// Of each case: what was reported, what the same programs give here, the step that changes most, and what
// Hilbert order does in a kernel of this program on the same case.
struct ReportedCase {
  std::string work;
  std::optional<double> reported, measured;  // the ratio; the latter here
  std::string here, largest, own;            // as text
};
std::vector<ReportedCase> reported_cases(const View& view);
Table reported_table(const std::vector<ReportedCase>& cases);

// A row for each step in each case, then one for what was not reproduced, and one for the twin.
Table chains_table(const View& view);

// What scripts report that time the ends of a chain, protocol by protocol, beside the paired rounds.
Table protocols_table(const View& view);

}  // namespace hilbench
