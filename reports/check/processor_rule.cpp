// The rule on whether the processes had the cores that they were to use.
#include <fmt/format.h>

#include <algorithm>

#include "reports/check/rules.hpp"
#include "reports/gate/cores_had.hpp"

namespace hilbench {
namespace {

// What the process had that had least; nothing if all had enough.
std::optional<CoresHad> too_few(const std::vector<CoresHad>& all) {
  const auto worst = std::min_element(all.begin(), all.end(), [](const CoresHad& a, const CoresHad& b) {
    return std::pair(a.enough(), a.share.value_or(1)) < std::pair(b.enough(), b.share.value_or(1));
  });
  return worst == all.end() || worst->enough() ? std::nullopt : std::optional(*worst);
}

}  // namespace

void check_processors(const std::vector<Record>& records, CheckLines& lines) {
  Chosen short_of, untold;
  std::size_t judged = 0;
  for (const Record& record : records) {
    if (record.status != Status::ok) continue;
    const std::vector<CoresHad> all = cores_had(record);
    judged += all.empty() ? 0 : 1;
    if (too_few(all))
      short_of.push_back(&record);
    else if (std::any_of(all.begin(), all.end(), [](const CoresHad& had) { return !had.known(); }))
      untold.push_back(&record);
  }
  if (!short_of.empty()) {
    const std::string why = too_few_cores_text(*too_few(cores_had(*short_of.front())));
    return add_not_ok(lines,
                      fmt::format("processors: {} in {}; stop other programs, raise the limit of the "
                                  "container, or use fewer threads, and measure again",
                                  why, some_of(short_of, records.size())),
                      why);
  }
  if (!untold.empty())
    return add_note(lines, fmt::format("processors: what the processes had of their cores is not known "
                                       "of {}",
                                       some_of(untold, records.size())));
  add_ok(lines, judged == 0 ? "processors: no case of a processor"
                            : fmt::format("processors: every process had {:.0f} % of its cores or more",
                                          100 * kLeastShare));
}

}  // namespace hilbench
