// Records whose hardware counted sectors, held against the sectors that are derived for them.
#pragma once

#include <cstddef>
#include <map>
#include <set>
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

// How far counts are from what they are held against, as shares.
struct Deviations {
  std::vector<double> shares;
  std::set<std::string> records;  // CASE/VARIANT
  std::string worst;              // of these
  void add(double share, const Record& record);
};

struct ComparedSectors {
  std::map<std::string, std::size_t> equal;         // records by kernel: every counter is what is derived
  std::map<std::string, std::size_t> different;     // records by kernel
  std::map<std::string, std::size_t> not_compared;  // records with such counters, by reason
  std::size_t values = 0;                           // counters of records that were compared
  std::vector<SectorDifference> differences;
  // Reads of the L2, of executions whose coalescer was counted too, from what is derived: sectors asked for,
  // less those that hit the L1, less those that the coalescer between multiprocessors and L2 merged, and a
  // quarter of what TMA gets from DRAM.
  Deviations l2_reads;
  // The standard deviation of the bytes that DRAM moved in executions of a record, as a share of their mean
  // or of those that must be moved, whichever is more.
  Deviations dram_bytes;
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

// "Half are within x %, nine of ten within y %, all within z %.\nThe furthest: CASE/VARIANT".
std::string to_text(const Deviations& deviations);

// A row for each kernel, and one for each reason.
Table compared_table(const ComparedSectors& compared);

}  // namespace hilbench
