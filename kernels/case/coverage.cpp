#include "kernels/case/coverage.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <utility>

#include "kernels/base/text/hash.hpp"

namespace hilbench {
namespace {

__extension__ typedef __int128 Wide;  // products of two sizes pass 2^63

// Most stretches between segment borders that an exact count walks.
constexpr std::int64_t kMaxStretches = 256;
// Most branches for which a union is counted by inclusion and exclusion.
constexpr std::size_t kMaxUnion = 12;

// Least common multiple, or nothing if it exceeds `limit`.
std::optional<std::int64_t> bounded_lcm(std::int64_t a, std::int64_t b, std::int64_t limit) {
  const Wide product = Wide{a} / std::gcd(a, b) * b;
  if (product > limit) return std::nullopt;
  return static_cast<std::int64_t>(product);
}

// Positions t with t mod modulus == residue.
struct ResidueClass {
  std::int64_t modulus = 1, residue = 0;
  std::int64_t count_below(std::int64_t n) const { return selected_count(n, residue, modulus); }
  bool contains(const ResidueClass& other) const {
    return other.modulus % modulus == 0 && other.residue % modulus == residue;
  }
};

// Greatest common divisor g of a and m, and the inverse of a / g modulo m / g (extended Euclid).
struct Divisor {
  std::int64_t value, inverse;
};
Divisor common_divisor(std::int64_t a, std::int64_t m) {
  std::int64_t r0 = m, r1 = a % m, s0 = 0, s1 = 1;
  while (r1 != 0) {
    const std::int64_t q = r0 / r1;
    r0 = std::exchange(r1, r0 - q * r1);
    s0 = std::exchange(s1, s0 - q * s1);
  }
  const std::int64_t step = m / r0;
  s0 %= step;
  return {r0, s0 < 0 ? s0 + step : s0};
}

// Intersection of two classes by the Chinese remainder theorem; nothing if it has no member below `limit`.
// `Product` is wide enough for the product of a modulus with another modulus or with `limit`.
template <class Product>
std::optional<ResidueClass> intersect_in(const ResidueClass& a, const ResidueClass& b, std::int64_t limit) {
  const Divisor divisor = common_divisor(a.modulus, b.modulus);
  const std::int64_t quotient = (b.residue - a.residue) / divisor.value;
  if (quotient * divisor.value != b.residue - a.residue) return std::nullopt;
  const std::int64_t step = b.modulus / divisor.value;
  Product lift = Product{quotient % step} * divisor.inverse % step;
  if (lift < 0) lift += step;
  const Product residue = a.residue + lift * a.modulus;
  if (residue >= limit) return std::nullopt;
  const Product modulus =
      std::min(Product{a.modulus} * step, Product{limit});  // one member below limit at most
  return ResidueClass{static_cast<std::int64_t>(modulus), static_cast<std::int64_t>(residue)};
}
std::optional<ResidueClass> intersect(const ResidueClass& a, const ResidueClass& b, std::int64_t limit) {
  constexpr std::int64_t kNarrow = std::int64_t{1} << 31;
  if (a.modulus < kNarrow && b.modulus < kNarrow) return intersect_in<std::int64_t>(a, b, limit);
  return intersect_in<Wide>(a, b, limit);
}

// Inclusion and exclusion: the signed sum over the non-empty subsets of classes[from..]
// intersected with `base`.
std::int64_t union_with(const std::vector<ResidueClass>& classes, std::size_t from, const ResidueClass& base,
                        std::int64_t n) {
  std::int64_t total = 0;
  for (std::size_t i = from; i < classes.size(); ++i)
    if (const auto both = intersect(base, classes[i], n))
      total += both->count_below(n) - union_with(classes, i + 1, *both, n);
  return total;
}

// Members below n of the union of `classes`.
std::int64_t union_count(std::vector<ResidueClass> classes, std::int64_t n) {
  if (classes.size() == 1) return classes.front().count_below(n);
  std::vector<ResidueClass> kept;
  std::sort(classes.begin(), classes.end(),
            [](const auto& a, const auto& b) { return a.modulus < b.modulus; });
  std::int64_t sum = 0;
  for (const ResidueClass& one : classes) {
    if (std::any_of(kept.begin(), kept.end(), [&](const auto& other) { return other.contains(one); }))
      continue;
    kept.push_back(one);
    sum += one.count_below(n);
  }
  if (kept.size() == 1) return sum;
  return kept.size() > kMaxUnion ? std::min(n, sum) : union_with(kept, 0, {}, n);
}

// [begin, end) lies between borders of every cover.
std::int64_t stretch_count(const std::vector<Cover>& covers, std::int64_t begin, std::int64_t end) {
  std::vector<ResidueClass> classes;
  classes.reserve(covers.size());
  for (const Cover& cover : covers) {
    const std::int64_t inside = begin % cover.segment_length;
    if (!cover.from_offset) {
      const std::int64_t shift = (cover.offset - inside) % cover.dilation;
      classes.push_back({cover.dilation, shift < 0 ? shift + cover.dilation : shift});
    } else if (inside >= cover.offset) {
      return end - begin;
    }
  }
  return union_count(classes, end - begin);
}

// Borders in ascending order from 0, and the number of distinct positions below each.
struct Walk {
  std::vector<std::int64_t> borders{0}, counts{0};
};

struct CoversHash {
  std::size_t operator()(const std::vector<Cover>& covers) const {
    std::uint64_t hash = kFnvBasis;
    const auto add = [&](std::int64_t value) { hash = hash_integer(hash, value); };
    for (const Cover& cover : covers) {
      add(cover.segment_length);
      add(cover.dilation);
      add(2 * cover.offset + (cover.from_offset ? 1 : 0));
    }
    return hash;
  }
};

// The walk of `covers` as far as earlier calls made it. The cases of a sweep share their patterns.
Walk& known_walk(const std::vector<Cover>& covers) {
  constexpr std::size_t kMostWalks = 4096;
  static thread_local std::unordered_map<std::vector<Cover>, Walk, CoversHash> walks;
  if (walks.size() >= kMostWalks && !walks.contains(covers)) walks.clear();
  return walks[covers];
}

// Distinct positions below n, counted from border to border; the upper bound if there are too many borders.
std::int64_t walked_count(const std::vector<Cover>& covers, std::int64_t n) {
  std::int64_t stretches = 0, sum = 0;
  for (const Cover& cover : covers) {
    if (!cover.seamless()) stretches += n / cover.segment_length * (cover.from_offset ? 2 : 1);
    sum += cover.count_below(n);
  }
  if (stretches > kMaxStretches) return std::min(n, sum);
  Walk& walk = known_walk(covers);
  while (walk.borders.back() < n) {
    const std::int64_t begin = walk.borders.back();
    std::int64_t end = std::numeric_limits<std::int64_t>::max();
    for (const Cover& cover : covers)
      if (!cover.seamless()) end = std::min(end, cover.next_border(begin));
    if (end > n) break;
    walk.borders.push_back(end);
    walk.counts.push_back(walk.counts.back() + stretch_count(covers, begin, end));
  }
  const auto after = std::upper_bound(walk.borders.begin(), walk.borders.end(), n) - walk.borders.begin();
  const auto last = static_cast<std::size_t>(after) - 1;
  const std::int64_t border = walk.borders[last];
  return walk.counts[last] + (border < n ? stretch_count(covers, border, n) : 0);
}

}  // namespace

std::int64_t distinct_count(const std::vector<Cover>& covers, std::int64_t n) {
  if (n == 0 || covers.empty()) return 0;
  if (covers.size() == 1) return covers.front().count_below(n);
  bool borders = false;
  // If all borders repeat after some of the n positions, that part is counted once.
  std::optional<std::int64_t> period = 1;
  for (const Cover& cover : covers) {
    const bool whole = cover.seamless() || cover.segment_length >= n;
    if (cover.from_offset && whole && cover.offset < n)
      return n - cover.offset + distinct_count(covers, cover.offset);
    if (!whole) borders = true;
    const std::int64_t part = !whole ? cover.segment_length : cover.from_offset ? 1 : cover.dilation;
    if (period) period = bounded_lcm(*period, part, n);
  }
  if (!borders) return stretch_count(covers, 0, n);
  if (period && *period < n)
    return n / *period * distinct_count(covers, *period) + distinct_count(covers, n % *period);
  return walked_count(covers, n);
}

}  // namespace hilbench
