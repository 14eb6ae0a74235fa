// The section "Rings against one rank".
#include <fmt/format.h>

#include "reports/document/sections.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

constexpr std::size_t kMostRingRowsOnPage = 300;

}  // namespace

Section rings_section(Table rings, const std::vector<std::string>& predicted) {
  Section section{.id = "rings", .title = "Rings against one rank", .blocks = {}};
  section.blocks.push_back(
      Paragraph{"For each ring: the time until the last rank is done, the bytes that all ranks send "
                "together, the times of computation alone and of exchange alone, and the share of the "
                "exchange that is hidden behind computation. The share is left out if repeated runs differ "
                "by more than the exchange takes."});
  section.blocks.push_back(Bullets{
      {"Speedup over one rank, same work: time of one rank / time of the ring.",
       "Efficiency, same work: the same ratio divided by the number of devices of the ring. Ranks on a CPU "
       "share the threads that one rank has, so there both numbers are equal. If there are more ranks than "
       "threads, the ranks take turns.",
       "Efficiency, same work per rank: time of one rank that has as many FLOPs as each rank of the ring / "
       "time of the ring. Pattern, device and threads are the same. Empty if no such case was measured.",
       "Each ring size is measured in a comparison of its own, so rounds do not pair. The intervals of both "
       "times add up; they do not include what changed on the machine in between.",
       "Over NVLink, if it was counted: the user data that all ranks received in one execution, by the "
       "counters of the links; and this number / the bytes that the transport reports as sent."}});
  if (!predicted.empty()) section.blocks.push_back(Bullets{predicted});
  const std::size_t rows = rings.rows.size();
  if (rows > kMostRingRowsOnPage) rings.rows.resize(kMostRingRowsOnPage);
  rings.fold = plural(rows, "row, ring size by ring size", "rows, ring size by ring size");
  section.blocks.push_back(std::move(rings));
  if (rows > kMostRingRowsOnPage)
    section.blocks.push_back(
        Paragraph{fmt::format("The other {} rows are in tables/rings.csv.", rows - kMostRingRowsOnPage)});
  return section;
}

}  // namespace hilbench
