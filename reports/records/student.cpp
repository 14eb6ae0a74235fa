#include "reports/records/student.hpp"

#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

namespace hilbench {
namespace {

// By default Boost computes with long double, and fills tables of it when the program starts, which ends a
// program under valgrind: it has no numbers that large.
using Doubles = boost::math::policies::policy<boost::math::policies::promote_double<false>>;
using StudentsT = boost::math::students_t_distribution<double, Doubles>;
using Binomial = boost::math::binomial_distribution<double, Doubles>;

}  // namespace

double student_quantile(double probability, double freedom) {
  return boost::math::quantile(StudentsT(freedom), probability);
}

double student_above(double t, double freedom) {
  if (std::isinf(t)) return t > 0 ? 0 : 1;
  return boost::math::cdf(boost::math::complement(StudentsT(freedom), t));
}

double binomial_at_least(std::size_t count, std::size_t trials, double rate) {
  if (count == 0) return 1;
  const Binomial successes(static_cast<double>(trials), rate);
  return boost::math::cdf(boost::math::complement(successes, static_cast<double>(count) - 1));
}

Interval rate_interval(std::size_t count, std::size_t trials) {
  constexpr double kTail = 0.025;
  const auto successes = static_cast<double>(count), of = static_cast<double>(trials);
  return {.low = Binomial::find_lower_bound_on_p(of, successes, kTail),
          .high = Binomial::find_upper_bound_on_p(of, successes, kTail)};
}

std::optional<std::size_t> median_interval_rank(std::size_t count) {
  constexpr double kTail = 0.025;
  if (count < 2) return std::nullopt;
  // The rank-th smallest value lies above the median if fewer than `rank` of the values lie below it.
  const Binomial below(static_cast<double>(count), 0.5);
  const auto exceeds = [&](std::size_t rank) {
    return boost::math::cdf(below, static_cast<double>(rank) - 1) > kTail;
  };
  if (exceeds(1)) return std::nullopt;
  // Near the normal approximation; at most a few steps from it.
  const double guess = static_cast<double>(count) / 2 - 0.98 * std::sqrt(static_cast<double>(count));
  auto rank = static_cast<std::size_t>(guess < 1 ? 1 : guess);
  while (rank > 1 && exceeds(rank)) --rank;
  while (!exceeds(rank + 1)) ++rank;
  return rank;
}

}  // namespace hilbench
