// Which blocks of keys the queries of each block see: the content of a `mask` file, as bits.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hilbench {

// The most blocks along a side: of 64 positions each they are a sequence of two million, and take 128 MiB.
inline constexpr std::int64_t kMostMaskBlocks = std::int64_t{1} << 15;

class BlockBits {
 public:
  // No block sees another. `blocks`: 1 to kMostMaskBlocks.
  explicit BlockBits(std::int64_t blocks);
  // `bits`: row(0), row(1), ... one after another, with no bit past the last block.
  BlockBits(std::int64_t blocks, std::vector<std::uint64_t> bits);

  void set(std::int64_t query_block, std::int64_t key_block) {
    bits_[word_of(query_block, key_block)] |= std::uint64_t{1} << key_block % 64;
  }
  bool selects(std::int64_t query_block, std::int64_t key_block) const {
    return (bits_[word_of(query_block, key_block)] >> key_block % 64 & 1) != 0;
  }

  std::int64_t blocks() const { return blocks_; }
  // Bit k % 64 of word k / 64: block k of the keys.
  std::span<const std::uint64_t> row(std::int64_t query_block) const {
    return std::span(bits_).subspan(static_cast<std::size_t>(query_block) * words_, words_);
  }

  // The same on every machine.
  std::uint64_t hash() const;
  // The bits as hexadecimal digits, as numpy.packbits orders them: each row begins a byte, and the first
  // block is the highest bit.
  std::string text() const;
  // From such a text. Throws UsageError if it is not one of `blocks` rows.
  static BlockBits from_text(std::int64_t blocks, std::string_view text);

 private:
  std::size_t word_of(std::int64_t query_block, std::int64_t key_block) const {
    return static_cast<std::size_t>(query_block) * words_ + static_cast<std::size_t>(key_block / 64);
  }

  std::int64_t blocks_;
  std::size_t words_;  // of a row
  std::vector<std::uint64_t> bits_;
};

}  // namespace hilbench
