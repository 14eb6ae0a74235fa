#include "kernels/case/block_bits.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "kernels/base/text/error.hpp"
#include "kernels/base/text/hash.hpp"

namespace hilbench {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

std::int64_t digits_of_row(std::int64_t blocks) {
  return (blocks + 7) / 8 * 2;
}

std::size_t words_of_row(std::int64_t blocks) {
  return static_cast<std::size_t>((blocks + 63) / 64);
}

}  // namespace

BlockBits::BlockBits(std::int64_t blocks)
    : BlockBits(blocks, std::vector<std::uint64_t>(static_cast<std::size_t>(blocks) * words_of_row(blocks))) {
}

BlockBits::BlockBits(std::int64_t blocks, std::vector<std::uint64_t> bits)
    : blocks_(blocks), words_(words_of_row(blocks)), bits_(std::move(bits)) {
  if (bits_.size() != static_cast<std::size_t>(blocks) * words_)
    throw std::logic_error("the bits of a mask are not as many as its blocks");
}

std::uint64_t BlockBits::hash() const {
  std::uint64_t hash = hash_integer(kFnvBasis, blocks_);
  for (const std::uint64_t word : bits_) hash = hash_integer(hash, static_cast<std::int64_t>(word));
  return hash;
}

std::string BlockBits::text() const {
  std::string text;
  text.reserve(static_cast<std::size_t>(blocks_ * digits_of_row(blocks_)));
  for (std::int64_t q = 0; q < blocks_; ++q)
    for (std::int64_t k = 0; k < 4 * digits_of_row(blocks_); k += 4) {
      std::size_t digit = 0;
      for (std::int64_t i = k; i < k + 4; ++i) digit = digit * 2 + (i < blocks_ && selects(q, i) ? 1 : 0);
      text += kDigits[digit];
    }
  return text;
}

BlockBits BlockBits::from_text(std::int64_t blocks, std::string_view text) {
  const auto refuse = [&](const std::string& why) {
    throw UsageError({.what = "the blocks of a mask cannot be read", .why = why});
  };
  if (blocks < 1 || blocks > kMostMaskBlocks)
    refuse(fmt::format("{} blocks, 1 to {} are possible", blocks, kMostMaskBlocks));
  const std::int64_t digits = digits_of_row(blocks);
  if (static_cast<std::int64_t>(text.size()) != blocks * digits)
    refuse(fmt::format("{} digits for {} blocks, {} are expected", text.size(), blocks, blocks * digits));
  BlockBits bits(blocks);
  for (std::int64_t q = 0; q < blocks; ++q)
    for (std::int64_t d = 0; d < digits; ++d) {
      const std::size_t digit = kDigits.find(text[static_cast<std::size_t>(q * digits + d)]);
      if (digit == std::string_view::npos) refuse("not a hexadecimal digit");
      for (std::int64_t i = 0; i < 4; ++i) {
        if ((digit >> (3 - i) & 1) == 0) continue;
        if (4 * d + i >= blocks) refuse("a bit past the last block");
        bits.set(q, 4 * d + i);
      }
    }
  return bits;
}

}  // namespace hilbench
