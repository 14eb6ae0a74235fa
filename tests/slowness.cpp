#include "tests/slowness.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/base/text/hash.hpp"

namespace hilbench {
namespace {

constexpr double kReference_s = 0.06;  // half of what a core of 2 GHz of 2017 takes (AMD Zen)

// Makes texts and sorts them.
double reference_work_s() {
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::string> texts;
  for (std::uint64_t i = 0; i < 200'000; ++i) texts.push_back(std::to_string(mix(i)));
  std::sort(texts.begin(), texts.end());
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  return texts.front() <= texts.back() ? took.count() : 0;
}

}  // namespace

double slowness() {
  double least_s = reference_work_s();
  for (int i = 1; i < 5; ++i) least_s = std::min(least_s, reference_work_s());
  return std::max(1.0, least_s / kReference_s);
}

}  // namespace hilbench
