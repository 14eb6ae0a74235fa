#include "kernels/index/sectors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace hilbench {
std::string_view to_string(MemoryPath path) {
  switch (path) {
    case MemoryPath::tma:
      return "tma";
    case MemoryPath::copies:
      return "copies";
    case MemoryPath::tables:
      return "tables";
    case MemoryPath::loads:
      return "loads";
    case MemoryPath::stores:
      return "stores";
    case MemoryPath::clears:
      return "clears";
  }
  return "";
}

Sectors& Sectors::operator+=(const Sectors& other) {
  for (std::size_t i = 0; i < kMemoryPaths; ++i) of[i] += other.of[i];
  copy_instructions += other.copy_instructions;
  tma_stores += other.tma_stores;
  return *this;
}

Sectors Sectors::operator*(std::int64_t times) const {
  Sectors product = *this;
  for (Asked& asked : product.of) asked = asked * times;
  product.copy_instructions *= times;
  product.tma_stores = product.tma_stores * times;
  return product;
}

std::int64_t Sectors::read() const {
  const Asked loads = l1_loads();
  return (*this)[MemoryPath::tma].sectors + loads.sectors;
}

Asked Sectors::l1_loads() const {
  Asked sum = (*this)[MemoryPath::copies];
  sum += (*this)[MemoryPath::tables];
  sum += (*this)[MemoryPath::loads];
  return sum;
}

Asked Sectors::l1_stores() const {
  Asked sum = (*this)[MemoryPath::stores];
  sum += (*this)[MemoryPath::clears];
  return {sum.requests - tma_stores.requests, sum.sectors - tma_stores.sectors};
}

Refusal why_not_whole_sectors(std::int64_t row_bytes) {
  if (row_bytes % kSectorBytes == 0) return std::nullopt;
  return fmt::format("rows of {} bytes share sectors of {}", row_bytes, kSectorBytes);
}

std::int64_t table_sectors(std::int64_t first, std::int64_t count) {
  constexpr std::int64_t kNumbers = kSectorBytes / 4;
  return count <= 0 ? 0 : (first + count - 1) / kNumbers - first / kNumbers + 1;
}

std::int64_t distinct_sectors(std::span<std::int64_t> bytes, std::int64_t lane_bytes) {
  std::sort(bytes.begin(), bytes.end());
  std::int64_t count = 0, last = -1;
  for (const std::int64_t byte : bytes) {
    const std::int64_t first = std::max(byte / kSectorBytes, last + 1);
    const std::int64_t end = (byte + lane_bytes - 1) / kSectorBytes;
    if (end < first) continue;
    count += end - first + 1;
    last = end;
  }
  return count;
}

Asked alternate_reads(std::int64_t first, std::int64_t end) {
  constexpr std::int64_t kTogether = 8;
  Asked asked;
  std::vector<std::int64_t> bytes;
  for (std::int64_t begin = first; begin < end; begin += kTogether)
    for (std::int64_t odd = 0; odd < 2; ++odd) {
      bytes.clear();
      for (std::int64_t i = begin + odd; i < std::min(begin + kTogether, end); i += 2) bytes.push_back(4 * i);
      if (!bytes.empty()) asked += {1, distinct_sectors(bytes, 4)};
    }
  return asked;
}

}  // namespace hilbench
