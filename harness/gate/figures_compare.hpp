// Holds figures against accepted ones.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "harness/gate/figures.hpp"
#include "kernels/base/error.hpp"

namespace hilbench {

enum class FigureChange {
  grew,     // beyond its tolerance
  lacks,    // an accepted figure, variant or kernel that is not there now, or has no value now
  shrank,   // beyond its tolerance
  appeared  // not among the accepted ones
};

struct FigureFinding {
  FigureChange change = FigureChange::grew;
  std::string row;               // CASE/VARIANT or ARCHITECTURE/KERNEL
  std::string figure;            // empty: the whole row
  double accepted = 0, now = 0;  // of what grew or shrank
  std::string reason;            // of what lacks
};

struct FigureVerdict {
  std::vector<FigureFinding> findings;
  std::size_t judged = 0;            // figures that were compared
  std::set<std::string> not_judged;  // what could not be compared here, and why
  std::string changed_code;          // what of the GPU code is not as when the figures were accepted
};

// Which accepted rows must be there now.
using ExpectedRow = std::function<bool(const FigureRow&)>;

// Figures that do not depend on the machine must be equal; instructions may differ by the accepted
// tolerance, and are judged only if everything they were taken with is equal; so are kernels.
FigureVerdict compare_figures(const FigureTable& accepted, const FigureTable& now,
                              const ExpectedRow& expected);

// failed: something grew or lacks; inconclusive: nothing could be judged.
ExitCode exit_code(const FigureVerdict& verdict);
std::string verdict_text(const FigureVerdict& verdict, const std::string& accepted_file);

}  // namespace hilbench
