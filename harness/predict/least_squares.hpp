// Small least squares: few unknowns, none of them below zero.
#pragma once

#include <cstddef>
#include <vector>

namespace hilbench {

// Minimises |A x - b| over x >= 0. `rows`: A, each as long as x, at most 12. Exact: every set of unknowns
// that are above zero is tried. An unknown that A does not tell from others is 0.
std::vector<double> nonnegative_least_squares(const std::vector<std::vector<double>>& rows,
                                              const std::vector<double>& b);

// Half-width of a 95 % interval in standard deviations: Student's t with `freedom` >= 1 degrees of freedom.
double student_95(std::size_t freedom);

}  // namespace hilbench
