// Whether an order can change what a cache sees. A variant's tiles and blocks of keys are held against those
// of the same kernel in linear order and with traversal `auto`; nothing is run.
//
// If every tile has the same queries, and reads the same keys in the same blocks in the same sequence, then
// the order only renames rows. If the rows of a slot are whole cache lines, it only renames lines: a cache
// that does not look at addresses has the same hits. What then still differs is counted: the sectors of the
// table of slots, and lines that several slots share.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "kernels/base/text/counter.hpp"
#include "kernels/case/case.hpp"
#include "kernels/case/variant.hpp"
#include "kernels/implementation.hpp"
#include "kernels/index/sectors.hpp"

namespace hilbench {

// same: nothing is moved. renamed: lines are renamed, and no sector more or less is read. table: lines of K
// and V are renamed, and other sectors of tables, or of rows past a list, are read. shared: rows are renamed,
// but lines hold rows of several slots. sequence: tiles read the same keys in other blocks, or in another
// sequence. keys: tiles have other queries or keys.
enum class CacheView { same, renamed, table, shared, sequence, keys };
std::string_view to_string(CacheView view);

struct BlockAnalysis {
  CacheView view = CacheView::same;
  std::int64_t tiles = 0, changed_tiles = 0;    // with other queries, or other keys
  std::int64_t blocks = 0, changed_blocks = 0;  // of keys that are not those of linear order at that place
  std::int64_t moved_tiles = 0;                 // at another place of the sequence, or walked the other way
  std::int64_t shared_lines = 0;                // of K (as many of V) that hold rows of several slots
  std::int64_t moved_queries = 0;               // rows of Q at another slot
  StreamUnit unit = {};                         // of what follows
  Sectors own, linear;                          // of the variant, and of linear order
  double least_sectors = 0;                     // of Q, K and V, each read once

  // What is read, against linear order: exact.
  double read_ratio() const;
  // The most by which what a cache lets through may differ from linear order, as a ratio: 1 if it cannot. It
  // is reached only by a cache that holds everything in one order, and nothing in the other.
  double most_ratio() const;
  // "cannot change: ...", "may change by at most ...".
  std::string sentence() const;
};

// The same kernel in linear order with traversal `auto`.
KernelChoice linear_choice(KernelChoice choice);

// Analyses variants one after another, and keeps linear order for the variants that follow.
class BlockAnalyser {
 public:
  // why_no_sectors() must have no objection. Throws UsageError if the order cannot be built.
  BlockAnalysis analyse(const Case& work, const KernelChoice& choice, const Implementation& implementation,
                        const StreamDevice& device);
  // The same of a variant whose index exists.
  BlockAnalysis analyse(const Case& work, const KernelChoice& choice, const Implementation& implementation,
                        const StreamDevice& device, const Index& own);

 private:
  void take_linear(const Case& work, const KernelChoice& choice, const Implementation& implementation,
                   const StreamDevice& device);

  // What `linear_` is of; no kernel: nothing.
  const Implementation* kernel_ = nullptr;
  StreamDevice device_;
  Case work_;
  KernelChoice choice_;
  Index linear_;
  Sectors linear_sectors_;
};

// As counters of a record, `derived_...`: blocks and tiles, and how many of them are not those of linear
// order.
std::map<std::string, Counter> block_counters(const BlockAnalysis& analysis);

}  // namespace hilbench
