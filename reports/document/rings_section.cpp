// The section of rings.
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
      Paragraph{"Time until the last rank is done, bytes that all ranks send together, computation and "
                "exchange alone, and the share of the exchange that the run hides; no share where repeated "
                "runs differ by more than the exchange takes."});
  section.blocks.push_back(Bullets{
      {"Over one rank, same work: time on one rank / time of the ring.",
       "Efficiency, same work: that by how many more devices the ring has. Ranks on a CPU share the threads "
       "that the one rank has, so there both are the same; more ranks than threads take turns.",
       "Efficiency, same work a rank: time of one rank on as many FLOPs as each rank of the ring has, with "
       "the same pattern and the same device or threads, over the time of the ring; empty where no such case "
       "was measured.",
       "Ring sizes are measured in comparisons of their own, so that their rounds do not pair: the intervals "
       "of both times add up, and what the machine did in between is not in them.",
       "Over NVLink, where it was counted: user data that all ranks received in one execution, by counters "
       "of the links, and the same over the bytes that the transport says it sent."}});
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
