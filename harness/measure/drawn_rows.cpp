#include "harness/measure/drawn_rows.hpp"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <random>

#include "harness/measure/verify.hpp"
#include "kernels/base/text/error.hpp"
#include "kernels/case/pattern.hpp"

namespace hilbench {
namespace {

// Cases with at most this many multiply-adds and rows are compared in full.
constexpr double kFullMultiplyAdds = 1 << 26;
constexpr std::int64_t kFullRows = 1 << 16;

}  // namespace

std::uint64_t fresh_entropy() {
  std::uint64_t drawn = 0;
  if (::getrandom(&drawn, sizeof drawn, 0) != sizeof drawn) throw_errno("the system gives no random number");
  return drawn;
}

std::string entropy_text(std::uint64_t entropy) {
  return fmt::format("{:016x}", entropy);
}

std::vector<RowId> drawn_rows(const Case& work, std::uint64_t entropy, std::int64_t wanted) {
  const OutputRows all = all_rows(work);
  std::vector<std::int64_t> picks;
  if (all.count <= wanted || (all.count <= kFullRows && flops(work) / 4 <= kFullMultiplyAdds)) {
    for (std::int64_t i = 0; i < all.count; ++i) picks.push_back(i);
  } else {
    std::mt19937_64 generator(entropy);
    if (wanted >= kSampledRows) picks = {0, work.heads - 1, all.count - work.heads, all.count - 1};
    while (std::ssize(picks) < wanted)
      picks.push_back(static_cast<std::int64_t>(generator() % static_cast<std::uint64_t>(all.count)));
    std::sort(picks.begin(), picks.end());
    picks.erase(std::unique(picks.begin(), picks.end()), picks.end());
  }
  std::vector<RowId> rows;
  for (const std::int64_t i : picks) rows.push_back(all.id(i));
  return rows;
}

}  // namespace hilbench
