#include "kernels/ring/shards.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace hilbench {
namespace {

// The smallest i >= 0 with i * a = b (mod m), for a and m without common factor.
std::int64_t solve(std::int64_t a, std::int64_t b, std::int64_t m) {
  // Extended Euclid: `inverse` of a.
  std::int64_t inverse = 0, next = 1, rest = m, next_rest = a % m;
  while (next_rest != 0) {
    const std::int64_t quotient = rest / next_rest;
    inverse = std::exchange(next, inverse - quotient * next);
    rest = std::exchange(next_rest, rest - quotient * next_rest);
  }
  const std::int64_t positive = ((inverse % m) + m) % m;
  return (b % m + m) % m * positive % m;
}

}  // namespace

Shards::Shards(Sharding sharding, std::int64_t length, std::int64_t ranks)
    : sharding_(sharding),
      length_(length),
      ranks_(ranks),
      chunks_(sharding == Sharding::zigzag ? 2 * ranks : ranks) {}

std::int64_t Shards::chunk_begin(std::int64_t chunk) const {
  return chunk * (length_ / chunks_) + std::min(chunk, length_ % chunks_);
}

std::int64_t Shards::chunk_of(std::int64_t rank, std::int64_t stretch) const {
  return stretch == 0 ? rank : chunks_ - 1 - rank;
}

Span Shards::stretch(std::int64_t rank, std::int64_t stretch) const {
  const std::int64_t chunk = chunk_of(rank, stretch);
  return {chunk_begin(chunk), chunk_begin(chunk + 1)};
}

std::int64_t Shards::count(std::int64_t rank) const {
  return rows_below(rank, length_);
}

std::int64_t Shards::owner(std::int64_t position) const {
  if (sharding_ == Sharding::striped) return position % ranks_;
  const std::int64_t size = length_ / chunks_, longer = length_ % chunks_;
  const std::int64_t in_longer = longer * (size + 1);
  const std::int64_t chunk =
      position < in_longer ? position / (size + 1) : longer + (position - in_longer) / size;
  return std::min(chunk, sharding_ == Sharding::zigzag ? chunks_ - 1 - chunk : chunk);
}

std::int64_t Shards::rows_below(std::int64_t rank, std::int64_t position) const {
  if (sharding_ == Sharding::striped) return position <= rank ? 0 : (position - rank - 1) / ranks_ + 1;
  std::int64_t rows = 0;
  for (std::int64_t p = 0; p < stretches(); ++p) {
    const Span span = stretch(rank, p);
    rows += std::clamp(position, span.begin, span.end) - span.begin;
  }
  return rows;
}

std::int64_t Shards::position(std::int64_t rank, std::int64_t row) const {
  if (sharding_ == Sharding::striped) return rank + row * ranks_;
  const Span first = stretch(rank, 0);
  const std::int64_t behind = row - (first.end - first.begin);
  return behind < 0 ? first.begin + row : stretch(rank, 1).begin + behind;
}

Stretch Shards::rows_of(std::int64_t rank, std::int64_t which, std::int64_t first, std::int64_t step,
                        std::int64_t end) const {
  if (sharding_ == Sharding::striped) {
    const std::int64_t common = std::gcd(step, ranks_);
    const std::int64_t distance = ((rank - first) % ranks_ + ranks_) % ranks_;
    if (distance % common != 0) return {};
    const std::int64_t start = first + step * solve(step / common, distance / common, ranks_ / common);
    const std::int64_t period = step / common * ranks_;
    if (start >= end) return {};
    return {(start - rank) / ranks_, step / common, (end - start - 1) / period + 1};
  }
  const Span span = stretch(rank, which);
  const std::int64_t begin = std::max(span.begin, first);
  const std::int64_t start = first + (begin - first + step - 1) / step * step;
  const std::int64_t stop = std::min(span.end, end);
  if (start >= stop) return {};
  const std::int64_t rows_before = which == 0 ? 0 : stretch(rank, 0).end - stretch(rank, 0).begin;
  return {rows_before + start - span.begin, step, (stop - start - 1) / step + 1};
}

std::vector<std::int64_t> Shards::borders() const {
  if (sharding_ == Sharding::striped) return {0};
  std::vector<std::int64_t> begins;
  for (std::int64_t chunk = 0; chunk < chunks_; ++chunk)
    if (chunk_begin(chunk) < length_) begins.push_back(chunk_begin(chunk));
  return begins;
}

}  // namespace hilbench
