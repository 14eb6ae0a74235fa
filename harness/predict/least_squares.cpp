#include "harness/predict/least_squares.hpp"

#include <cmath>

namespace hilbench {
namespace {

using Matrix = std::vector<std::vector<double>>;

// Solves M x = v for every set of the unknowns, and keeps the best solution that has none below 0. A set is
// an earlier one and one more unknown, so its factorisation (Cholesky's) is the earlier one and one more row.
class Search {
 public:
  // M has ones on its diagonal; its lower triangle is read. Both must outlive the search.
  Search(const Matrix& m, const std::vector<double>& v)
      : m_(m),
        v_(v),
        factor_(v.size(), std::vector<double>(v.size())),
        forward_(v.size()),
        x_(v.size()),
        best_(v.size(), 0) {
    chosen_.reserve(v.size());
    extend(0);
  }

  const std::vector<double>& best() const { return best_; }

 private:
  // Tries the chosen set with one more unknown, for each from number `first` on, and then with further ones.
  void extend(std::size_t first) {
    for (std::size_t next = first; next < v_.size(); ++next) {
      chosen_.push_back(next);
      if (add_row()) {
        judge();
        extend(next + 1);
      }
      chosen_.pop_back();
    }
  }

  // Adds the row of the last unknown. False if M does not determine the unknowns: nor does it if there are
  // more.
  bool add_row() {
    constexpr double kSmallestPivot = 1e-10;
    const std::size_t i = chosen_.size() - 1;
    std::vector<double>& row = factor_[i];
    double wanted = v_[chosen_[i]];
    for (std::size_t j = 0; j <= i; ++j) {
      double rest = m_[chosen_[i]][chosen_[j]];
      for (std::size_t k = 0; k < j; ++k) rest -= row[k] * factor_[j][k];
      if (i == j && rest < kSmallestPivot) return false;
      row[j] = i == j ? std::sqrt(rest) : rest / factor_[j][j];
      if (j < i) wanted -= row[j] * forward_[j];
    }
    forward_[i] = wanted / row[i];
    return true;
  }

  void judge() {
    const std::size_t n = chosen_.size();
    double gain = 0;  // |b|^2 - |A x - b|^2
    for (std::size_t i = n; i-- > 0;) {
      x_[i] = forward_[i];
      for (std::size_t k = i + 1; k < n; ++k) x_[i] -= factor_[k][i] * x_[k];
      x_[i] /= factor_[i][i];
      if (!(x_[i] >= 0)) return;  // NaN neither
      gain += x_[i] * v_[chosen_[i]];
    }
    if (gain <= gained_) return;
    gained_ = gain;
    best_.assign(v_.size(), 0);
    for (std::size_t i = 0; i < n; ++i) best_[chosen_[i]] = x_[i];
  }

  const Matrix& m_;
  const std::vector<double>& v_;
  std::vector<std::size_t> chosen_;
  Matrix factor_;                 // row by row, of the chosen unknowns
  std::vector<double> forward_;   // what forward substitution gives for them
  std::vector<double> x_, best_;  // x_: of the chosen unknowns; best_: of all
  double gained_ = 0;             // by the best solution
};

}  // namespace

std::vector<double> nonnegative_least_squares(const std::vector<std::vector<double>>& rows,
                                              const std::vector<double>& b) {
  const std::size_t unknowns = rows.empty() ? 0 : rows.front().size();
  std::vector<double> norms(unknowns, 0), v(unknowns, 0);
  for (const auto& row : rows)
    for (std::size_t i = 0; i < unknowns; ++i) norms[i] += row[i] * row[i];
  for (double& norm : norms) norm = std::sqrt(norm);
  Matrix m(unknowns, std::vector<double>(unknowns, 0));
  std::vector<double> scaled(unknowns);  // a row, so that every column has length 1
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::size_t i = 0; i < unknowns; ++i) scaled[i] = norms[i] > 0 ? rows[r][i] / norms[i] : 0;
    for (std::size_t i = 0; i < unknowns; ++i) {
      v[i] += scaled[i] * b[r];
      for (std::size_t j = 0; j <= i; ++j) m[i][j] += scaled[i] * scaled[j];
    }
  }
  std::vector<double> best = Search(m, v).best();
  for (std::size_t i = 0; i < unknowns; ++i)
    if (norms[i] > 0) best[i] /= norms[i];
  return best;
}

}  // namespace hilbench
