// Holds costs against accepted ones.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "harness/costs/costs.hpp"
#include "kernels/base/text/error.hpp"

namespace hilbench {

enum class CostChange {
  grew,     // beyond its tolerance
  lacks,    // an accepted cost, variant or kernel that is not there now, or has no value now
  shrank,   // beyond its tolerance
  appeared  // not among the accepted ones
};

struct CostFinding {
  CostChange change = CostChange::grew;
  std::string row;               // CASE/VARIANT or ARCHITECTURE/KERNEL
  std::string cost;              // empty: the whole row
  double accepted = 0, now = 0;  // of what grew or shrank
  std::string reason;            // of what lacks
};

struct CostVerdict {
  std::vector<CostFinding> findings;
  std::size_t judged = 0;            // costs that were compared
  std::set<std::string> not_judged;  // what could not be compared here, and why
  std::string changed_code;          // what of the GPU code is not as when the costs were accepted
};

// Which accepted rows must be there now.
using ExpectedRow = std::function<bool(const CostRow&)>;

// Costs that do not depend on the machine must be equal; instructions may differ by the accepted
// tolerance, and are judged only if everything they were taken with is equal; so are kernels.
CostVerdict compare_costs(const CostTable& accepted, const CostTable& now, const ExpectedRow& expected);

// failed: something grew or lacks; inconclusive: nothing could be judged.
ExitCode exit_code(const CostVerdict& verdict);
std::string verdict_text(const CostVerdict& verdict, const std::string& accepted_file);

}  // namespace hilbench
