// Which keys of one rank another rank needs: the least that a ring must move.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/case/case.hpp"
#include "kernels/ring/shards.hpp"

namespace hilbench {

// K/V heads that select the same positions in every branch that they take part in.
struct HeadClasses {
  explicit HeadClasses(const Case& work);
  struct Class {
    std::vector<std::int64_t> offsets;  // [branches]: offset o, or -1 if no head of the class runs the branch
  };
  std::vector<Class> classes;
  std::vector<std::int32_t> of_head;  // [kv_heads]
};

// One segment of a branch for K/V heads of one offset.
struct Selection {
  std::int64_t branch = 0, offset = 0, segment = 0;
};
Stretch key_rows(const Case& work, const Shards& shards, const Selection& of, std::int64_t rank,
                 std::int64_t stretch);
Stretch query_rows(const Case& work, const Shards& shards, const Selection& of, std::int64_t rank,
                   std::int64_t stretch);

// The end of what others need: queries of other ranks see a rank's selected keys below this position,
// and no further ones.
std::int64_t needed_end(const Case& work, const Shards& shards, const Selection& of, std::int64_t rank);

// How many selected keys of a rank lie below position `end`.
std::int64_t needed_count(const Case& work, const Shards& shards, const Selection& of, std::int64_t rank,
                          std::int64_t end);

// Segments of which more than one rank may hold a part. Each stands for `times` equal ones.
struct SharedSegment {
  std::int64_t segment = 0, times = 1;
};
std::vector<SharedSegment> shared_segments(const Case& work, const Shards& shards, std::int64_t branch);

// What ranks need of each other, in closed form: the time depends on ranks, branches and heads,
// not on the length.
class RingNeeds {
 public:
  RingNeeds(const Case& work, const Shards& shards, const HeadClasses& classes);
  // True if some query of `rank` sees some key of `source`, another rank.
  bool sees(std::int64_t rank, std::int64_t source) const {
    return sees_[static_cast<std::size_t>(rank * ranks_ + source)];
  }
  // True if any rank sees keys of another.
  bool any() const;
  // Rows in the packed shard of `source`: the needed rows of each branch, one branch after another, for the
  // K/V head that has most.
  std::int64_t packed_rows(std::int64_t source) const {
    return packed_rows_[static_cast<std::size_t>(source)];
  }

 private:
  std::int64_t ranks_;
  std::vector<bool> sees_;
  std::vector<std::int64_t> packed_rows_;
};

}  // namespace hilbench
