#include "harness/pattern.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

namespace hilbench {
namespace {

__extension__ typedef __int128 Wide;  // products of two sizes pass 2^63

// Heads beyond so many K/V heads are counted in blocks of equal offset (see count_work).
constexpr std::int64_t kMaxHeadBlocks = 4096;
// Stretches between segment borders that an exact count of distinct rows may walk.
constexpr std::int64_t kMaxStretches = 256;
// Branches up to which unions are counted by inclusion and exclusion.
constexpr std::size_t kMaxUnion = 12;

std::int64_t ceil_div(Wide a, std::int64_t b) {
  return static_cast<std::int64_t>((a + b - 1) / b);
}

struct Range {
  std::int64_t begin = 0, end = 0;
};
std::int64_t overlap(const Range& a, const Range& b) {
  return std::max<std::int64_t>(0, std::min(a.end, b.end) - std::max(a.begin, b.begin));
}

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

// What one branch covers of each of its segments, in positions u inside the segment: u mod dilation ==
// offset, or, of dense causal queries, u >= offset.
struct Cover {
  std::int64_t segment_length = 0, dilation = 1, offset = 0;
  bool from_offset = false;
  // Whether segments leave no trace: a residue class of the whole sequence.
  bool seamless() const { return !from_offset && segment_length % dilation == 0; }
  std::int64_t period() const { return seamless() ? dilation : segment_length; }
  std::int64_t count_inside(std::int64_t length) const {
    return from_offset ? std::max<std::int64_t>(0, length - offset)
                       : selected_count(length, offset, dilation);
  }
  std::int64_t count_below(std::int64_t n) const {
    return n / segment_length * count_inside(segment_length) + count_inside(n % segment_length);
  }
  // First border after t: between borders the cover is a residue class, all, or nothing.
  std::int64_t next_border(std::int64_t t) const {
    const std::int64_t start = t / segment_length * segment_length;
    return from_offset && t < start + offset ? start + offset : start + segment_length;
  }
};

// [begin, end) lies between borders of every cover.
std::int64_t stretch_count(const std::vector<Cover>& covers, std::int64_t begin, std::int64_t end) {
  std::vector<ResidueClass> classes;
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

// Distinct positions below n that some cover holds. Where all borders repeat after a part of the n positions,
// that part is counted once.
std::int64_t distinct_count(const std::vector<Cover>& covers, std::int64_t n) {
  if (n == 0 || covers.empty()) return 0;
  if (covers.size() == 1) return covers.front().count_below(n);
  bool borders = false;
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

// Pairs and query rows of one head in one branch.
struct HeadWork {
  double pairs = 0, query_rows = 0;
};
HeadWork segment_work(const Case& work, std::int64_t length, std::int64_t offset, std::int64_t dilation) {
  const std::int64_t selected = selected_count(length, offset, dilation);
  if (selected == 0) return {};
  const auto keys = static_cast<double>(selected);
  const bool causal = work.mask == Mask::causal;
  if (work.queries == Queries::dilated) return {causal ? keys * (keys + 1) / 2 : keys * keys, keys};
  if (!causal) return {keys * static_cast<double>(length), static_cast<double>(length)};
  // Key j, at offset + j * dilation, is seen by every query from there to the segment's end.
  const auto open = static_cast<double>(length - offset);
  return {keys * open - static_cast<double>(dilation) * keys * (keys - 1) / 2, open};
}

HeadWork branch_work(const Case& work, const Branch& branch, std::int64_t offset) {
  const auto full = static_cast<double>(work.sequence_length / branch.segment_length);
  const HeadWork each = segment_work(work, branch.segment_length, offset, branch.dilation);
  const HeadWork last =
      segment_work(work, work.sequence_length % branch.segment_length, offset, branch.dilation);
  return {full * each.pairs + last.pairs, full * each.query_rows + last.query_rows};
}

// Query rows of a head that at least one of its branches, given by their key covers, gives a key to.
std::int64_t covered_count(const Case& work, const std::vector<Cover>& keys) {
  const std::int64_t n = work.sequence_length;
  if (work.queries == Queries::dilated) return distinct_count(keys, n);
  std::vector<Cover> queries = keys;
  std::int64_t covered = 0;
  for (Cover& cover : queries) {
    cover.from_offset = true;
    const std::int64_t last = n % cover.segment_length;  // without a key where it is too short
    covered = std::max(covered, last > cover.offset ? n : n - last);
  }
  return work.mask == Mask::full ? covered : distinct_count(queries, n);
}

// Query heads that read K/V heads [begin, end).
Range query_heads(const Case& work, std::int64_t begin, std::int64_t end) {
  return {ceil_div(Wide{begin} * work.heads, work.kv_heads), ceil_div(Wide{end} * work.heads, work.kv_heads)};
}

// Query heads that run a branch.
Range branch_heads(const Case& work, std::int64_t branch_index) {
  if (work.branch_heads == BranchHeads::all) return {0, work.heads};
  const auto branches = static_cast<std::int64_t>(work.pattern.size());
  return {ceil_div(Wide{branch_index} * work.heads, branches),
          ceil_div(Wide{branch_index + 1} * work.heads, branches)};
}

// Distinct rows of one K/V head and of one query head, for the branches in `runs`.
struct Distinct {
  std::vector<std::int64_t> offsets;  // what it was counted for: offset, or -1 where the branch does not run
  double kv_rows = 0, covered_rows = 0;
};
Distinct distinct_rows(const Case& work, std::vector<std::int64_t> offsets) {
  std::vector<Cover> covers;
  for (std::size_t b = 0; b < offsets.size(); ++b)
    if (offsets[b] >= 0)
      covers.push_back({work.pattern[b].segment_length, work.pattern[b].dilation, offsets[b], false});
  return {std::move(offsets), static_cast<double>(distinct_count(covers, work.sequence_length)),
          static_cast<double>(covered_count(work, covers))};
}

// Whether the distinct rows are counted, which takes longer than all the rest.
enum class DistinctRows { counted, left_out };

Work counted_work(const Case& work, DistinctRows distinct) {
  Work total;
  std::vector<Distinct> known;
  const std::int64_t block = ceil_div(work.kv_heads, kMaxHeadBlocks);
  for (std::int64_t first = 0; first < work.kv_heads; first += block) {
    const std::int64_t last = std::min(first + block, work.kv_heads);
    const Range heads = query_heads(work, first, last);
    std::vector<std::int64_t> offsets(work.pattern.size(), -1);
    for (std::size_t b = 0; b < work.pattern.size(); ++b) {
      const Branch& branch = work.pattern[b];
      const std::int64_t runs = overlap(heads, branch_heads(work, static_cast<std::int64_t>(b)));
      if (runs == 0) continue;
      offsets[b] = offset_of(work, branch, first);
      const HeadWork one = branch_work(work, branch, offsets[b]);
      total.pairs += static_cast<double>(runs) * one.pairs;
      total.query_rows += static_cast<double>(runs) * one.query_rows;
      if (work.branch_heads == BranchHeads::partition)
        total.covered_rows += static_cast<double>(runs) * one.query_rows;
    }
    if (distinct == DistinctRows::left_out) continue;
    auto seen = std::find_if(known.begin(), known.end(), [&](const auto& d) { return d.offsets == offsets; });
    if (seen == known.end()) seen = known.insert(known.end(), distinct_rows(work, offsets));
    total.kv_rows += static_cast<double>(last - first) * seen->kv_rows;
    if (work.branch_heads == BranchHeads::all)
      total.covered_rows += static_cast<double>(heads.end - heads.begin) * seen->covered_rows;
  }
  const auto batch = static_cast<double>(work.batch);
  return {total.pairs * batch, total.query_rows * batch, total.kv_rows * batch, total.covered_rows * batch};
}

}  // namespace

std::int64_t kv_head_of(const Case& work, std::int64_t head) {
  return static_cast<std::int64_t>(Wide{head} * work.kv_heads / work.heads);
}

std::int64_t offset_of(const Case& work, const Branch& branch, std::int64_t kv_head) {
  switch (work.head_offset) {
    case HeadOffset::modulo:
      return kv_head % branch.dilation;
    case HeadOffset::contiguous:
      return kv_head / ceil_div(work.kv_heads, branch.dilation);
    case HeadOffset::none:
      break;
  }
  return 0;
}

bool head_runs_branch(const Case& work, std::int64_t head, std::int64_t branch_index) {
  const Range heads = branch_heads(work, branch_index);
  return heads.begin <= head && head < heads.end;
}

std::int64_t segment_count(const Case& work, const Branch& branch) {
  return ceil_div(work.sequence_length, branch.segment_length);
}

std::int64_t segment_begin(const Branch& branch, std::int64_t segment) {
  return segment * branch.segment_length;
}

std::int64_t segment_end(const Case& work, const Branch& branch, std::int64_t segment) {
  return std::min(segment_begin(branch, segment) + branch.segment_length, work.sequence_length);
}

std::int64_t selected_count(std::int64_t length, std::int64_t offset, std::int64_t dilation) {
  return length <= offset ? 0 : (length - offset - 1) / dilation + 1;
}

std::int64_t query_count(const Case& work, std::int64_t length, std::int64_t offset, std::int64_t dilation) {
  return work.queries == Queries::dense ? length : selected_count(length, offset, dilation);
}

Work count_work(const Case& work) {
  return counted_work(work, DistinctRows::counted);
}

double flops(const Case& work) {
  const double forward =
      4 * static_cast<double>(work.head_dim) * counted_work(work, DistinctRows::left_out).pairs;
  return work.pass == Pass::forward ? forward : 2.5 * forward;
}

double min_bytes(const Case& work) {
  const Work counted = count_work(work);
  const auto heads = static_cast<double>(work.batch) * static_cast<double>(work.heads);
  const double rows = heads * static_cast<double>(work.sequence_length);
  const double row_bytes = static_cast<double>(work.head_dim) * static_cast<double>(dtype_bytes(work.dtype));
  const double lse_bytes = 4 * rows;
  return (2 * counted.kv_rows + counted.covered_rows + rows) * row_bytes + lse_bytes;
}

}  // namespace hilbench
