#include "kernels/windows/tile_mask.hpp"

namespace hilbench {

TileMask::TileMask(const Case& work)
    : bits_(work.mask_blocks.bits),
      block_(static_cast<std::uint32_t>(work.mask_blocks.block)),
      length_(work.sequence_length),
      causal_(work.mask == Mask::causal),
      seen_(static_cast<std::size_t>(bits_of(work).blocks())),
      listed_(bits_->row(0).size()) {}

void TileMask::load(std::span<const Coordinates> queries) {
  for (std::size_t w = 0; w < listed_.size(); ++w)
    for (std::uint64_t word = listed_[w]; word != 0; word &= word - 1)
      seen_[w * 64 + static_cast<std::size_t>(__builtin_ctzll(word))] = {};
  std::fill(listed_.begin(), listed_.end(), 0);
  queries_.clear();
  for (const Coordinates& query : queries)
    queries_.push_back({query.back(), static_cast<std::int32_t>(queries_.size()), {}});
  std::sort(queries_.begin(), queries_.end(),
            [](const Query& a, const Query& b) { return a.position < b.position; });
  all_ = {};
  for (std::size_t i = queries_.size(); i-- > 0;) {
    const std::int32_t number = queries_[i].number;
    all_[static_cast<std::size_t>(number / 64)] |= std::uint64_t{1} << number % 64;
    queries_[i].from_here = all_;
  }
  // Queries of one block see the same blocks of keys.
  for (std::size_t i = 0; i < queries_.size();) {
    const std::int64_t block = queries_[i].position / static_cast<std::int32_t>(block_);
    KeyMask together = {};
    for (; i < queries_.size() && queries_[i].position / static_cast<std::int32_t>(block_) == block; ++i) {
      const std::int32_t number = queries_[i].number;
      together[static_cast<std::size_t>(number / 64)] |= std::uint64_t{1} << number % 64;
    }
    add_row(block, together);
  }
}

void TileMask::add_row(std::int64_t query_block, const KeyMask& queries) {
  const std::span<const std::uint64_t> row = bits_->row(query_block);
  for (std::size_t w = 0; w < row.size(); ++w) {
    listed_[w] |= row[w];
    for (std::uint64_t word = row[w]; word != 0; word &= word - 1) {
      KeyMask& seen = seen_[w * 64 + static_cast<std::size_t>(__builtin_ctzll(word))];
      seen = seen | queries;
    }
  }
}

KeyMask TileMask::not_before(std::int32_t key) const {
  const auto first =
      std::lower_bound(queries_.begin(), queries_.end(), key,
                       [](const Query& query, std::int32_t at) { return query.position < at; });
  return first == queries_.end() ? KeyMask{} : first->from_here;
}

}  // namespace hilbench
