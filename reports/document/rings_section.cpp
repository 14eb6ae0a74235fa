// The section on rings, and what they are compared with.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "reports/document/sections.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

constexpr std::size_t kMostRingRowsOnPage = 300;

bool shows(const Table& table, std::string_view key) {
  return std::ranges::any_of(
      table.columns, [&](const Column& column) { return column.key == key && column.show != Show::data; });
}

// What the columns mean that only some tables have.
std::vector<std::string> column_notes(const Table& rings) {
  const bool same_work = shows(rings, "speedup_text"), per_rank = shows(rings, "efficiency_per_rank_text");
  const std::pair<bool, const char*> notes[] = {
      {same_work, "Speedup over one rank, same work: time of one rank / time of the ring."},
      {same_work,
       "Efficiency, same work: the same ratio divided by the number of devices of the ring. Ranks on a CPU "
       "share the threads that one rank has, so there both numbers are equal. If there are more ranks than "
       "threads, the ranks take turns."},
      {per_rank,
       "Efficiency, same work per rank: time of one rank that has as many FLOPs as each rank of the ring / "
       "time of the ring. Pattern, device and threads are the same. Empty if no such case was measured."},
      {same_work || per_rank,
       "Each ring size is measured in a comparison of its own, so rounds do not pair. The intervals of both "
       "times add up; they do not include what changed on the machine in between."},
      {!same_work && !per_rank,
       "No speedup is known: one rank was measured neither on the same work nor on the work of each rank."},
      {shows(rings, "nvlink"),
       "Over NVLink, if it was counted: the user data that all ranks received in one execution, by the "
       "counters of the links; and this number / the bytes that the transport reports as sent."}};
  std::vector<std::string> shown;
  for (const auto& [holds, note] : notes)
    if (holds) shown.emplace_back(note);
  return shown;
}

}  // namespace

Section rings_section(Table rings, const std::vector<std::string>& sentences) {
  const bool against_one = shows(rings, "speedup_text") || shows(rings, "efficiency_per_rank_text");
  Section section{.id = "rings", .title = against_one ? "Rings against one rank" : "Rings", .blocks = {}};
  for (const std::string& sentence : sentences) section.blocks.push_back(Paragraph{sentence});
  section.blocks.push_back(
      Paragraph{"For each ring: the time until the last rank is done, the bytes that all ranks send "
                "together, the times of computation alone and of exchange alone, and the share of the "
                "exchange that is hidden behind computation. The share is left out if repeated runs differ "
                "by more than the exchange takes."});
  section.blocks.push_back(Bullets{column_notes(rings)});
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
