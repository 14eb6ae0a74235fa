#include "harness/predict/least_squares.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <optional>

namespace hilbench {
namespace {

using Matrix = std::vector<std::vector<double>>;

// Solves M x = v for the unknowns in `chosen` by Cholesky's factorisation; nothing if M does not determine
// them. M has ones on its diagonal.
std::optional<std::vector<double>> solved(const Matrix& m, const std::vector<double>& v,
                                          const std::vector<std::size_t>& chosen) {
  constexpr double kSmallestPivot = 1e-10;
  const std::size_t n = chosen.size();
  Matrix factor(n, std::vector<double>(n, 0));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      double rest = m[chosen[i]][chosen[j]];
      for (std::size_t k = 0; k < j; ++k) rest -= factor[i][k] * factor[j][k];
      if (i == j && rest < kSmallestPivot) return std::nullopt;
      factor[i][j] = i == j ? std::sqrt(rest) : rest / factor[j][j];
    }
  std::vector<double> x(n);
  for (std::size_t i = 0; i < n; ++i) {
    x[i] = v[chosen[i]];
    for (std::size_t k = 0; k < i; ++k) x[i] -= factor[i][k] * x[k];
    x[i] /= factor[i][i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) x[i] -= factor[k][i] * x[k];
    x[i] /= factor[i][i];
  }
  return x;
}

}  // namespace

std::vector<double> nonnegative_least_squares(const std::vector<std::vector<double>>& rows,
                                              const std::vector<double>& b) {
  const std::size_t unknowns = rows.empty() ? 0 : rows.front().size();
  std::vector<double> norms(unknowns, 0), v(unknowns, 0), best(unknowns, 0);
  for (const auto& row : rows)
    for (std::size_t i = 0; i < unknowns; ++i) norms[i] += row[i] * row[i];
  for (double& norm : norms) norm = std::sqrt(norm);
  Matrix m(unknowns, std::vector<double>(unknowns, 0));
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (std::size_t i = 0; i < unknowns; ++i) {
      if (norms[i] == 0) continue;
      v[i] += rows[r][i] / norms[i] * b[r];
      for (std::size_t j = 0; j < unknowns; ++j)
        if (norms[j] > 0) m[i][j] += rows[r][i] / norms[i] * rows[r][j] / norms[j];
    }
  double gained = 0;  // |b|^2 - |A x - b|^2 of the best solution so far
  for (std::size_t set = 1; set < std::size_t{1} << unknowns; ++set) {
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < unknowns; ++i)
      if ((set >> i & 1) != 0) chosen.push_back(i);
    const std::optional<std::vector<double>> x = solved(m, v, chosen);
    if (!x) continue;
    double gain = 0;
    bool above = true;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      above = above && (*x)[i] >= 0;
      gain += (*x)[i] * v[chosen[i]];
    }
    if (!above || gain <= gained) continue;
    gained = gain;
    best.assign(unknowns, 0);
    for (std::size_t i = 0; i < chosen.size(); ++i) best[chosen[i]] = (*x)[i] / norms[chosen[i]];
  }
  return best;
}

double student_95(std::size_t freedom) {
  constexpr std::array<double, 11> kTable = {std::numeric_limits<double>::infinity(),
                                             12.706,
                                             4.303,
                                             3.182,
                                             2.776,
                                             2.571,
                                             2.447,
                                             2.365,
                                             2.306,
                                             2.262,
                                             2.228};
  if (freedom < kTable.size()) return kTable[freedom];
  // Cornish and Fisher's expansion to the third term (Abramowitz and Stegun, 26.7.5).
  constexpr double kNormal = 1.959964;
  const auto n = static_cast<double>(freedom);
  const double cube = kNormal * kNormal * kNormal, fifth = cube * kNormal * kNormal;
  return kNormal + (cube + kNormal) / (4 * n) + (5 * fifth + 16 * cube + 3 * kNormal) / (96 * n * n) +
         (3 * fifth * kNormal * kNormal + 19 * fifth + 17 * cube - 15 * kNormal) / (384 * n * n * n);
}

}  // namespace hilbench
