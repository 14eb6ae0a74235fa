// Records whose hardware counted sectors, held against the sectors that are derived for them.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "kernels/index/sectors.hpp"
#include "reports/records/record.hpp"
#include "reports/view/table.hpp"

namespace hilbench {

// A counter that is not what is derived.
struct SectorDifference {
  std::string record;  // CASE/VARIANT
  std::string counter;
  double counted = 0, derived = 0;
};

// Reads of the L2, of executions whose coalescer was counted too, against what is derived: sectors asked for,
// less those that hit the L1, less those that the coalescer between multiprocessors and L2 merged.
struct ExplainedReads {
  std::size_t records = 0, counts = 0;
  double worst = 0;  // largest |read / derived - 1|
  std::string worst_record;
};

struct ComparedSectors {
  std::map<std::string, std::size_t> equal;         // records by kernel: every counter is what is derived
  std::map<std::string, std::size_t> different;     // records by kernel
  std::map<std::string, std::size_t> not_compared;  // records with such counters, by reason
  std::size_t values = 0;                           // counters of records that were compared
  std::vector<SectorDifference> differences;
  ExplainedReads l2_reads;
  std::size_t compared() const;
};

// Compares records one after another. Equal cases and variants are derived once.
class SectorComparison {
 public:
  void add(const Record& record);
  const ComparedSectors& found() const { return found_; }

 private:
  const Sectors& derived(const Record& record, const struct Implementation& implementation,
                         const struct Gpu& gpu);

  ComparedSectors found_;
  std::map<std::string, Sectors> known_;
};

// A row for each kernel, and one for each reason.
Table compared_table(const ComparedSectors& compared);

}  // namespace hilbench
