#include "kernels/ring/needs.hpp"

#include <algorithm>
#include <numeric>

#include "kernels/case/pattern.hpp"

namespace hilbench {
namespace {

const Branch& branch_of(const Case& work, const Selection& of) {
  return work.pattern[static_cast<std::size_t>(of.branch)];
}

// First and last position of a rank's rows in a segment; `first` is past `last` if there are none.
struct Extent {
  std::int64_t first = 0, last = -1;
  bool empty() const { return last < first; }
};
template <class Rows>
Extent extent(const Case& work, const Shards& shards, const Selection& of, std::int64_t rank,
              const Rows& rows_of_stretch) {
  Extent whole;
  for (std::int64_t stretch = 0; stretch < shards.stretches(); ++stretch) {
    const Stretch rows = rows_of_stretch(work, shards, of, rank, stretch);
    if (rows.count == 0) continue;
    if (whole.empty()) whole.first = shards.position(rank, rows.row);
    whole.last = shards.position(rank, rows.last());
  }
  return whole;
}

// The ranks that have keys or queries in one segment.
struct Present {
  std::int64_t rank = 0;
  Extent keys, queries;
};
std::vector<Present> present_ranks(const Case& work, const Shards& shards, const Selection& of) {
  std::vector<Present> present;
  for (std::int64_t rank = 0; rank < shards.ranks(); ++rank) {
    const Present one{rank, extent(work, shards, of, rank, key_rows),
                      extent(work, shards, of, rank, query_rows)};
    if (!one.keys.empty() || !one.queries.empty()) present.push_back(one);
  }
  return present;
}

std::int64_t end_for_others(const Case& work, const Selection& of, const std::vector<Present>& present,
                            std::int64_t rank) {
  std::int64_t last = -1;
  for (const Present& other : present)
    if (other.rank != rank) last = std::max(last, other.queries.last);
  const Branch& branch = branch_of(work, of);
  if (last < 0) return segment_begin(branch, of.segment);
  return work.mask == Mask::causal ? last + 1 : segment_end(work, branch, of.segment);
}

}  // namespace

HeadClasses::HeadClasses(const Case& work) {
  const auto branches = static_cast<std::int64_t>(work.pattern.size());
  std::vector<Class> heads(static_cast<std::size_t>(work.kv_heads),
                           {std::vector<std::int64_t>(work.pattern.size(), -1)});
  for (std::int64_t head = 0; head < work.heads; ++head) {
    const std::int64_t kv_head = kv_head_of(work, head);
    for (std::int64_t b = 0; b < branches; ++b)
      if (head_runs_branch(work, head, b)) {
        const auto at = static_cast<std::size_t>(b);
        heads[static_cast<std::size_t>(kv_head)].offsets[at] = offset_of(work, at, kv_head);
      }
  }
  for (const Class& head : heads) {
    auto known = std::find_if(classes.begin(), classes.end(),
                              [&](const Class& other) { return other.offsets == head.offsets; });
    if (known == classes.end()) known = classes.insert(classes.end(), head);
    of_head.push_back(static_cast<std::int32_t>(known - classes.begin()));
  }
}

Stretch key_rows(const Case& work, const Shards& shards, const Selection& of, std::int64_t rank,
                 std::int64_t stretch) {
  const Branch& branch = branch_of(work, of);
  return shards.rows_of(rank, stretch, segment_begin(branch, of.segment) + of.offset, branch.dilation,
                        segment_end(work, branch, of.segment));
}

Stretch query_rows(const Case& work, const Shards& shards, const Selection& of, std::int64_t rank,
                   std::int64_t stretch) {
  if (work.queries == Queries::dilated) return key_rows(work, shards, of, rank, stretch);
  const Branch& branch = branch_of(work, of);
  return shards.rows_of(rank, stretch, segment_begin(branch, of.segment), 1,
                        segment_end(work, branch, of.segment));
}

std::int64_t needed_end(const Case& work, const Shards& shards, const Selection& of, std::int64_t rank) {
  return end_for_others(work, of, present_ranks(work, shards, of), rank);
}

std::int64_t needed_count(const Case& work, const Shards& shards, const Selection& of, std::int64_t rank,
                          std::int64_t end) {
  const Branch& branch = branch_of(work, of);
  const std::int64_t stop = std::min(end, segment_end(work, branch, of.segment));
  std::int64_t count = 0;
  for (std::int64_t stretch = 0; stretch < shards.stretches(); ++stretch)
    count +=
        shards.rows_of(rank, stretch, segment_begin(branch, of.segment) + of.offset, branch.dilation, stop)
            .count;
  return count;
}

// Contiguous and zigzag shards share the segments that have a border of shards inside. Striped shards share
// every segment; two full segments are equal if they begin at the same position modulo the number of ranks.
std::vector<SharedSegment> shared_segments(const Case& work, const Shards& shards, std::int64_t branch) {
  const std::int64_t w = work.pattern[static_cast<std::size_t>(branch)].segment_length;
  std::vector<SharedSegment> shared;
  if (shards.sharding() == Sharding::striped) {
    const std::int64_t full = work.sequence_length / w;
    const std::int64_t period = shards.ranks() / std::gcd(w, shards.ranks());
    for (std::int64_t segment = 0; segment < std::min(full, period); ++segment)
      shared.push_back({segment, (full - segment - 1) / period + 1});
    if (work.sequence_length % w != 0) shared.push_back({full, 1});
    return shared;
  }
  for (const std::int64_t border : shards.borders())
    if (border % w != 0 && (shared.empty() || shared.back().segment != border / w))
      shared.push_back({border / w, 1});
  return shared;
}

RingNeeds::RingNeeds(const Case& work, const Shards& shards, const HeadClasses& classes)
    : ranks_(shards.ranks()),
      sees_(static_cast<std::size_t>(ranks_ * ranks_), false),
      packed_rows_(static_cast<std::size_t>(ranks_), 0) {
  for (const HeadClasses::Class& heads : classes.classes) {
    std::vector<std::int64_t> rows(packed_rows_.size(), 0);
    for (std::size_t b = 0; b < work.pattern.size(); ++b) {
      if (heads.offsets[b] < 0) continue;
      const auto branch = static_cast<std::int64_t>(b);
      for (const SharedSegment& shared : shared_segments(work, shards, branch)) {
        const Selection of{branch, heads.offsets[b], shared.segment};
        const std::vector<Present> present = present_ranks(work, shards, of);
        for (const Present& source : present) {
          if (source.keys.empty()) continue;
          for (const Present& rank : present)
            if (rank.rank != source.rank && !rank.queries.empty() &&
                (work.mask == Mask::full || rank.queries.last > source.keys.first))
              sees_[static_cast<std::size_t>(rank.rank * ranks_ + source.rank)] = true;
          rows[static_cast<std::size_t>(source.rank)] +=
              shared.times *
              needed_count(work, shards, of, source.rank, end_for_others(work, of, present, source.rank));
        }
      }
    }
    for (std::size_t rank = 0; rank < rows.size(); ++rank)
      packed_rows_[rank] = std::max(packed_rows_[rank], rows[rank]);
  }
}

bool RingNeeds::any() const {
  return std::find(sees_.begin(), sees_.end(), true) != sees_.end();
}

}  // namespace hilbench
