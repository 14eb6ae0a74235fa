// Least squares with few unknowns, none of them below zero.
#pragma once

#include <vector>

namespace hilbench {

// The x >= 0 that minimises |A x - b|. `rows`: the rows of A, each as long as x, which has at most 12
// entries. Exact: every possible set of unknowns above zero is tried. An unknown that A cannot tell from
// others is 0.
std::vector<double> nonnegative_least_squares(const std::vector<std::vector<double>>& rows,
                                              const std::vector<double>& b);

}  // namespace hilbench
