// Which positions each rank of a ring owns (docs/definitions.md), and which of its rows a branch selects.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/case/case.hpp"
#include "kernels/case/variant.hpp"

namespace hilbench {

// Equally spaced rows of a rank's tensors.
struct Stretch {
  std::int64_t row = 0, step = 1, count = 0;
  std::int64_t last() const { return row + (count - 1) * step; }
};

// Half-open.
struct Span {
  std::int64_t begin = 0, end = 0;
};

// A rank's rows are in position order for every sharding. The length may be any, also below
// the number of ranks.
class Shards {
 public:
  Shards(Sharding sharding, std::int64_t length, std::int64_t ranks);

  std::int64_t length() const { return length_; }
  std::int64_t ranks() const { return ranks_; }
  Sharding sharding() const { return sharding_; }

  std::int64_t count(std::int64_t rank) const;
  std::int64_t owner(std::int64_t position) const;
  // How many rows of `rank` are below `position`: that is the row of a position that the rank owns, else the
  // row of its next position.
  std::int64_t rows_below(std::int64_t rank, std::int64_t position) const;
  std::int64_t position(std::int64_t rank, std::int64_t row) const;

  // Stretches of equally spaced positions that a rank owns: 1, or 2 with zigzag. Striped
  // positions are `ranks` apart.
  std::int64_t stretches() const { return sharding_ == Sharding::zigzag ? 2 : 1; }
  // Rows of a rank in its stretch number `stretch`, at positions first, first + step, ... below end.
  Stretch rows_of(std::int64_t rank, std::int64_t stretch, std::int64_t first, std::int64_t step,
                  std::int64_t end) const;

  // Positions at which a stretch begins, ascending from 0; only 0 for striped shards.
  std::vector<std::int64_t> borders() const;

 private:
  Span stretch(std::int64_t rank, std::int64_t stretch) const;  // not of striped shards
  std::int64_t chunk_begin(std::int64_t chunk) const;
  std::int64_t chunk_of(std::int64_t rank, std::int64_t stretch) const;

  Sharding sharding_;
  std::int64_t length_, ranks_;
  std::int64_t chunks_;  // contiguous and zigzag: balanced parts of the sequence, the first ones longer
};

}  // namespace hilbench
