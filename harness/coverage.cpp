#include "harness/coverage.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

namespace hilbench {
namespace {

__extension__ typedef __int128 Wide;  // products of two sizes pass 2^63

// Stretches between segment borders that an exact count of distinct rows may walk.
constexpr std::int64_t kMaxStretches = 256;
// Branches up to which unions are counted by inclusion and exclusion.
constexpr std::size_t kMaxUnion = 12;

// lcm, or nothing where it passes `limit`.
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

// Inverse of a modulo m for coprime a and m (extended Euclid).
std::int64_t inverse(std::int64_t a, std::int64_t m) {
  std::int64_t r0 = m, r1 = a % m, s0 = 0, s1 = 1;
  while (r1 != 0) {
    const std::int64_t q = r0 / r1;
    r0 = std::exchange(r1, r0 - q * r1);
    s0 = std::exchange(s1, s0 - q * s1);
  }
  return (s0 % m + m) % m;
}

// Intersection of two classes by the Chinese remainder theorem; none where it has no member below `limit`.
std::optional<ResidueClass> intersect(const ResidueClass& a, const ResidueClass& b, std::int64_t limit) {
  const std::int64_t divisor = std::gcd(a.modulus, b.modulus);
  if ((b.residue - a.residue) % divisor != 0) return std::nullopt;
  const std::int64_t step = b.modulus / divisor;
  Wide lift = Wide{(b.residue - a.residue) / divisor} % step * inverse(a.modulus / divisor, step) % step;
  if (lift < 0) lift += step;
  const Wide residue = a.residue + lift * a.modulus;
  if (residue >= limit) return std::nullopt;
  const Wide modulus = std::min(Wide{a.modulus} * step, Wide{limit});  // one member below limit at most
  return ResidueClass{static_cast<std::int64_t>(modulus), static_cast<std::int64_t>(residue)};
}

// Signed sum over the non-empty subsets of classes[from..] intersected with `base`.
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

// Distinct positions below n by walking from border to border; where that takes too long, the upper bound.
std::int64_t walked_count(const std::vector<Cover>& covers, std::int64_t n) {
  std::int64_t stretches = 0, sum = 0;
  for (const Cover& cover : covers) {
    if (!cover.seamless()) stretches += n / cover.segment_length * (cover.from_offset ? 2 : 1);
    sum += cover.count_below(n);
  }
  if (stretches > kMaxStretches) return std::min(n, sum);
  std::int64_t total = 0;
  for (std::int64_t begin = 0, end = 0; begin < n; begin = end) {
    end = n;
    for (const Cover& cover : covers)
      if (!cover.seamless()) end = std::min(end, cover.next_border(begin));
    total += stretch_count(covers, begin, end);
  }
  return total;
}

}  // namespace

std::int64_t distinct_count(const std::vector<Cover>& covers, std::int64_t n) {
  if (n == 0 || covers.empty()) return 0;
  if (covers.size() == 1) return covers.front().count_below(n);
  bool borders = false;
  // Where all borders repeat after a part of the n positions, that part is counted once.
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
