#include "reports/gate/unlike_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "kernels/base/text/text.hpp"
#include "reports/gate/disturbances.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

// Keys of environments that must agree for times to be comparable. The commit may differ.
bool must_agree(const std::string& key) {
  constexpr std::array<std::string_view, 12> kKeys = {"host.cpu",
                                                      "host.cores",
                                                      "host.simd",
                                                      "device.name",
                                                      "device.driver",
                                                      "device_state.driver",
                                                      "device_state.power_limit_w",
                                                      "build.compiler",
                                                      "build.flags",
                                                      "build.build_type",
                                                      "build.sanitizers",
                                                      "library.bf16_products"};
  return std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end();
}

}  // namespace

void note_unlike(const ComparedRuns& runs, Unlike allowed, GateResult& result) {
  std::vector<std::string>& lines = allowed == Unlike::allowed ? result.notes : result.disturbances;
  const std::size_t before = lines.size();
  for (const ComparedRuns::Difference& difference : runs.environment)
    if (must_agree(difference.key))
      lines.push_back(fmt::format("{} differs: {} / {}", difference.key, one_line(difference.a, 100),
                                  one_line(difference.b, 100)));
  const std::size_t machines = lines.size();
  std::set<std::pair<std::string_view, std::string_view>> counted;  // rivals that are shown do not count
  for (const GateRow& row : result.rows)
    if (row.judged || row.reference) counted.emplace(row.case_id, row.variant_id);
  const auto differs = [&](const RunPair& pair) {
    return !pair.differs.empty() && counted.contains({pair.a->case_id, pair.a->variant_id});
  };
  const auto differing = std::count_if(runs.pairs.begin(), runs.pairs.end(), differs);
  const auto first = std::find_if(runs.pairs.begin(), runs.pairs.end(), differs);
  if (differing > 0)
    lines.push_back(fmt::format("{} measured otherwise, the first in: {} (A / B)",
                                plural(static_cast<std::size_t>(differing), "variant was", "variants were"),
                                first->differs));
  result.unlike = result.unlike || (allowed == Unlike::refused && (machines > before || differing > 0));
  if (result.unlike) result.disturbed = "machines, builds or options differ";
}

void note_busy(const ReportInput& run, const std::string& name, GateResult& result) {
  Disturbances found;
  found.add(run.records);
  for (const std::string& sentence : found.sentences(cores_of(run.records))) {
    result.disturbed = "the machine was disturbed";
    result.disturbances.push_back(fmt::format("{} during {}", sentence, name));
  }
}

}  // namespace hilbench
