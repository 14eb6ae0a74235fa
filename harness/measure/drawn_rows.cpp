#include "harness/measure/drawn_rows.hpp"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

#include "harness/measure/verify.hpp"
#include "kernels/base/text/error.hpp"
#include "kernels/base/text/hash.hpp"
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

std::vector<RowId> rows_with(const Case& work, std::vector<std::int64_t> always, std::uint64_t seed,
                             std::int64_t wanted) {
  const OutputRows all = all_rows(work);
  std::vector<std::int64_t> picks = std::move(always);
  if (all.count <= wanted) {
    picks.resize(static_cast<std::size_t>(all.count));
    std::iota(picks.begin(), picks.end(), 0);
  } else {
    std::mt19937_64 generator(seed);
    while (std::ssize(picks) < wanted)
      picks.push_back(static_cast<std::int64_t>(generator() % static_cast<std::uint64_t>(all.count)));
    std::sort(picks.begin(), picks.end());
    picks.erase(std::unique(picks.begin(), picks.end()), picks.end());
  }
  std::vector<RowId> rows;
  for (const std::int64_t pick : picks) rows.push_back(all.id(pick));
  return rows;
}

std::vector<RowId> drawn_rows(const Case& work, std::uint64_t entropy, std::int64_t wanted) {
  const std::int64_t count = all_rows(work).count;
  if (count <= kFullRows && flops(work) / 4 <= kFullMultiplyAdds) return rows_with(work, {}, entropy, count);
  std::vector<std::int64_t> corners;
  if (wanted >= kSampledRows) corners = {0, work.heads - 1, count - work.heads, count - 1};
  return rows_with(work, std::move(corners), entropy, wanted);
}

DrawnRows drawn(const Case& work, std::uint64_t entropy, std::int64_t wanted) {
  DrawnRows drawn{.entropy = entropy_text(entropy), .rows = drawn_rows(work, entropy, wanted)};
  if (work.pass != Pass::forward) drawn.keys = drawn_rows(rows_of(work, Gradient::k), mix(entropy), wanted);
  return drawn;
}

}  // namespace hilbench
