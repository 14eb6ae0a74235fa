#include "kernels/ring/piece_work.hpp"

#include <algorithm>
#include <map>

#include "kernels/case/pattern.hpp"

namespace hilbench {
namespace {

// Equally spaced positions.
struct Positions {
  std::int64_t first = 0, step = 1, count = 0;
};

struct Seen {
  double pairs = 0, rows = 0;
};

// Sum of floor((a i + b) / m) for i < n; a, b >= 0, m > 0. Euclid's algorithm on the line's lattice points.
std::int64_t floor_sum(std::int64_t n, std::int64_t m, std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  while (n > 0) {
    sum += n * (n - 1) / 2 * (a / m) + n * (b / m);
    a %= m, b %= m;
    const std::int64_t top = a * n + b;
    if (top < m) break;
    n = top / m, b = top % m;
    std::swap(a, m);
  }
  return sum;
}

Seen seen_in_full(const Positions& queries, const Positions& keys) {
  if (keys.count == 0) return {};
  const auto rows = static_cast<double>(queries.count);
  return {rows * static_cast<double>(keys.count), rows};
}

// Keys at or before each query.
Seen seen_causally(const Positions& queries, const Positions& keys) {
  if (keys.count == 0 || queries.count == 0) return {};
  const std::int64_t last = keys.first + (keys.count - 1) * keys.step;
  const auto queries_before = [&](std::int64_t position) {  // how many queries are below it
    if (position <= queries.first) return std::int64_t{0};
    return std::min(queries.count, (position - queries.first - 1) / queries.step + 1);
  };
  const std::int64_t none = queries_before(keys.first), some = queries_before(last) - none;
  const std::int64_t all = queries.count - none - some;
  const std::int64_t above = queries.first + none * queries.step - keys.first;
  const std::int64_t pairs =
      (some > 0 ? some + floor_sum(some, keys.step, queries.step, above) : 0) + all * keys.count;
  return {static_cast<double>(pairs), static_cast<double>(some + all)};
}

// Counts one branch for all query heads of one offset.
class StreamCounter {
 public:
  StreamCounter(const Ring& ring, Selection of, double heads, std::vector<PieceWork>& works)
      : work_(ring.work()), shards_(ring.shards()), of_(of), heads_(heads), works_(works) {}

  // The longest key list of each piece, [rank * ranks + source].
  std::vector<double> longest() && { return std::move(longest_); }

  void count() {
    longest_.assign(works_.size(), 0);
    for (const SharedSegment& shared : shared_segments(work_, shards_, of_.branch)) count_shared(shared);
    if (shards_.sharding() != Sharding::striped) count_unshared();
  }

 private:
  const Branch& branch() const { return work_.pattern[static_cast<std::size_t>(of_.branch)]; }

  Positions positions(std::int64_t rank, const Stretch& rows) const {
    if (rows.count == 0) return {};
    const std::int64_t first = shards_.position(rank, rows.row);
    if (rows.count == 1) return {first, 1, 1};
    return {first, (shards_.position(rank, rows.last()) - first) / (rows.count - 1), rows.count};
  }

  // `keys`: of one shard and segment, one entry per stretch of the shard.
  void add(std::int64_t rank, std::int64_t source, const Positions& queries,
           const std::vector<Positions>& keys, double times) {
    Seen seen;
    double listed = 0;
    for (const Positions& stretch : keys) {
      const Seen some =
          work_.mask == Mask::causal ? seen_causally(queries, stretch) : seen_in_full(queries, stretch);
      seen = {seen.pairs + some.pairs, std::max(seen.rows, some.rows)};
      listed += static_cast<double>(some.pairs > 0 ? stretch.count : 0);
    }
    const auto at = static_cast<std::size_t>(rank * shards_.ranks() + source);
    works_[at].pairs += seen.pairs * heads_ * times;
    works_[at].rows += seen.rows * heads_ * times;
    longest_[at] = std::max(longest_[at], listed);
  }

  void count_shared(const SharedSegment& shared) {
    Selection of = of_;
    of.segment = shared.segment;
    std::vector<std::vector<Positions>> queries, keys;  // of each rank
    for (std::int64_t rank = 0; rank < shards_.ranks(); ++rank) {
      auto &asking = queries.emplace_back(), &held = keys.emplace_back();
      for (std::int64_t stretch = 0; stretch < shards_.stretches(); ++stretch) {
        asking.push_back(positions(rank, query_rows(work_, shards_, of, rank, stretch)));
        held.push_back(positions(rank, key_rows(work_, shards_, of, rank, stretch)));
      }
    }
    const auto times = static_cast<double>(shared.times);
    for (std::int64_t rank = 0; rank < shards_.ranks(); ++rank)
      for (const Positions& stretch : queries[static_cast<std::size_t>(rank)])
        for (std::int64_t source = 0; stretch.count > 0 && source < shards_.ranks(); ++source)
          add(rank, source, stretch, keys[static_cast<std::size_t>(source)], times);
  }

  // Segments inside one stretch of a rank: all are equal, except a short last one.
  void count_unshared() {
    const std::int64_t w = branch().segment_length, length = work_.sequence_length;
    const std::vector<std::int64_t> borders = shards_.borders();
    for (std::size_t i = 0; i < borders.size(); ++i) {
      const std::int64_t begin = borders[i], end = i + 1 < borders.size() ? borders[i + 1] : length;
      if (begin == end) continue;
      const std::int64_t rank = shards_.owner(begin);
      const std::int64_t first = (begin + w - 1) / w, full = end / w - first;
      if (full > 0) add_own(rank, first, static_cast<double>(full));
      if (end == length && length % w != 0 && length / w >= first) add_own(rank, length / w, 1);
    }
  }

  void add_own(std::int64_t rank, std::int64_t segment, double times) {
    const std::int64_t begin = segment_begin(branch(), segment), end = segment_end(work_, branch(), segment);
    const Positions keys{begin + of_.offset, branch().dilation,
                         selected_count(end - begin, of_.offset, branch().dilation)};
    const Positions all{begin, 1, end - begin};
    add(rank, rank, work_.queries == Queries::dense ? all : keys, {keys}, times);
  }

  const Case& work_;
  const Shards& shards_;
  Selection of_;
  double heads_;
  std::vector<PieceWork>& works_;
  std::vector<double> longest_;
};

// Query heads (times batch) by the offset of their keys in a branch.
std::map<std::int64_t, double> heads_by_offset(const Case& work, std::int64_t branch) {
  std::map<std::int64_t, double> heads;
  for (std::int64_t head = 0; head < work.heads; ++head)
    if (head_runs_branch(work, head, branch))
      heads[offset_of(work, static_cast<std::size_t>(branch), kv_head_of(work, head))] +=
          static_cast<double>(work.batch);
  return heads;
}

void spread_over_shards(const Ring& ring, std::vector<PieceWork>& works) {
  const auto ranks = static_cast<std::size_t>(ring.ranks());
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    PieceWork whole;
    for (std::size_t source = 0; source < ranks; ++source) {
      const PieceWork& piece = works[rank * ranks + source];
      whole.pairs += piece.pairs;
      whole.rows = std::max(whole.rows, piece.rows);
      whole.launches = std::max(whole.launches, piece.launches);
      whole.tile_keys += piece.tile_keys;
    }
    for (std::size_t source = 0; source < ranks; ++source) {
      const double share = static_cast<double>(ring.kv_rows(static_cast<std::int64_t>(source))) /
                           static_cast<double>(ring.work().sequence_length);
      works[rank * ranks + source] = {whole.pairs * share, share > 0 ? whole.rows : 0,
                                      share > 0 ? whole.launches : 0, whole.tile_keys * share};
    }
  }
}

}  // namespace

std::vector<PieceWork> piece_works(const Ring& ring) {
  const Case& work = ring.work();
  std::vector<PieceWork> works(static_cast<std::size_t>(ring.ranks() * ring.ranks()));
  for (std::int64_t branch = 0; branch < std::ssize(work.pattern); ++branch) {
    std::vector<double> longest(works.size(), 0);
    for (const auto& [offset, heads] : heads_by_offset(work, branch)) {
      StreamCounter counter(ring, {branch, offset, 0}, heads, works);
      counter.count();
      const std::vector<double> of_stream = std::move(counter).longest();
      for (std::size_t i = 0; i < longest.size(); ++i) longest[i] = std::max(longest[i], of_stream[i]);
    }
    for (std::size_t i = 0; i < works.size(); ++i) {
      works[i].launches += longest[i] > 0 ? 1 : 0;
      works[i].tile_keys += longest[i];
    }
  }
  if (ring.global_order()) spread_over_shards(ring, works);
  for (std::int64_t rank = 0; rank < ring.ranks(); ++rank) {
    PieceWork& own = works[static_cast<std::size_t>(rank * ring.ranks() + rank)];
    own.launches = std::max(own.launches, 1.0);
  }
  return works;
}

}  // namespace hilbench
