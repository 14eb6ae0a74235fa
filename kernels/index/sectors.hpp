// What one run of a kernel asks of the memory system, in sectors of 32 bytes (on processors lines of 64), by
// the path on which it asks: counted from the index and from the tile constants of the kernel, not measured.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/base/text/refusal.hpp"
#include "kernels/case/case.hpp"
#include "kernels/case/variant.hpp"
#include "kernels/index/index.hpp"

namespace hilbench {

inline constexpr std::int64_t kSectorBytes = 32;

// tma: boxes that the tensor memory accelerator reads. copies: rows that cp.async copies. tables: slots,
// positions, masks and the list of tiles. loads: rows, and earlier results of rows, by ordinary loads.
// stores: O and LSE of queries, by whatever path. clears: O and LSE of rows that no query has, and counters
// that a kernel sets back to zero.
enum class MemoryPath { tma, copies, tables, loads, stores, clears };
inline constexpr std::size_t kMemoryPaths = 6;
std::string_view to_string(MemoryPath path);

struct Asked {
  std::int64_t requests = 0;  // boxes of tma; else instructions of a warp with a lane that takes part
  std::int64_t sectors = 0;   // distinct ones of each request
  Asked& operator+=(const Asked& other) {
    requests += other.requests;
    sectors += other.sectors;
    return *this;
  }
  Asked operator*(std::int64_t times) const { return {requests * times, sectors * times}; }
  bool operator==(const Asked&) const = default;
};

struct Sectors {
  std::array<Asked, kMemoryPaths> of{};  // by MemoryPath
  std::int64_t copy_instructions = 0;    // of cp.async; those of tables are among them
  Asked tma_stores;                      // those of `stores` that TMA writes
  Asked& operator[](MemoryPath path) { return of[static_cast<std::size_t>(path)]; }
  const Asked& operator[](MemoryPath path) const { return of[static_cast<std::size_t>(path)]; }
  Sectors& operator+=(const Sectors& other);
  Sectors operator*(std::int64_t times) const;
  // Rows of O or LSE: stored, and read before if an earlier launch has written them.
  void add_output(const Asked& rows, bool merges) {
    (*this)[MemoryPath::stores] += rows;
    if (merges) (*this)[MemoryPath::loads] += rows;
  }
  std::int64_t read() const;  // sectors of all paths that read
  // What a GPU's L1 counts as global loads: all that is read except by TMA.
  Asked l1_loads() const;
  // What it counts as global stores: all that is written except by TMA.
  Asked l1_stores() const;
  bool operator==(const Sectors&) const = default;
};

// The device whose stream is derived.
struct StreamDevice {
  int compute_capability = 0;        // 10 * major + minor; of a processor 0
  std::int64_t multiprocessors = 0;  // of a processor: threads
  bool operator==(const StreamDevice&) const = default;
};

// What is counted. GPUs move sectors of lines, processors whole lines.
struct StreamUnit {
  std::string_view name = "sectors";
  std::int64_t bytes = kSectorBytes;
  std::int64_t line_bytes = 128;  // of the caches
};

// What a kernel's file gives so that its sectors can be derived. No code of a GPU is needed for it.
struct SectorStream {
  // UTC. Since then nothing has changed that the sectors of such a case depend on: neither tiles nor machine
  // code. Earlier records are of another stream.
  std::string_view (*since)(const Case&) = nullptr;
  StreamUnit unit = {};
  // Why they are not derived for the case on this GPU; nothing if they are. Of one rank and the forward pass.
  Refusal (*why_not)(const Case&, const StreamDevice&) = nullptr;
  std::int64_t (*tile_rows)(const Case&, const StreamDevice&) = nullptr;
  std::int64_t (*block_keys)(const Case&, const StreamDevice&) = nullptr;  // of a block of K or V
  // `index`: of these rows of a tile.
  Sectors (*sectors)(const Case&, const KernelChoice&, const Index& index, const StreamDevice&) = nullptr;
};

// Why not, if a kernel's rows have `row_bytes` bytes: rows that share sectors are not told apart.
Refusal why_not_whole_sectors(std::int64_t row_bytes);

// Those of `keys` keys in blocks of `block_keys`: `of_block(valid)` gives those of a block with so many.
template <class OfBlock>
Sectors sectors_of_blocks(std::int64_t keys, std::int64_t block_keys, const OfBlock& of_block) {
  Sectors sum;
  if (keys >= block_keys) sum += of_block(block_keys) * (keys / block_keys);
  if (keys % block_keys > 0) sum += of_block(keys % block_keys);
  return sum;
}

// The sectors that `count` 32-bit numbers hold, from number `first` of a table on.
std::int64_t table_sectors(std::int64_t first, std::int64_t count);

// The requests of a warp for 32-bit numbers `first` to `end` - 1 of a table: of each eight the even ones,
// then the odd ones.
Asked alternate_reads(std::int64_t first, std::int64_t end);

// The distinct sectors of one request: numbers of bytes in one tensor or table, and how many bytes each lane
// reads.
std::int64_t distinct_sectors(std::span<std::int64_t> bytes, std::int64_t lane_bytes);

}  // namespace hilbench
