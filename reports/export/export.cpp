#include "reports/export/export.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kernels/base/text/error.hpp"
#include "kernels/base/text/text.hpp"
#include "reports/export/formats.hpp"
#include "reports/export/history.hpp"

namespace hilbench {
namespace {

constexpr std::array<std::string_view, 7> kFormats = {"jsonl",  "csv",     "csv-samples", "latex",
                                                      "gbench", "bencher", "github"};

void export_jsonl(const std::vector<Record>& records, std::ostream& out) {
  for (const Record& record : records)
    out << to_json(record).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
}

}  // namespace

bool compared_by_others(const Record& record) {
  return !record.twin && record.injected == 0 && record.status == Status::ok && record.time &&
         std::isfinite(record.time->median_ns);
}

std::span<const std::string_view> export_formats() {
  return kFormats;
}

void export_records(std::string_view format, const std::vector<Record>& records, std::ostream& out,
                    std::string_view hostname) {
  if (format == "jsonl") return export_jsonl(records, out);
  if (format == "csv") return export_csv(records, hostname, out);
  if (format == "csv-samples") return export_csv_samples(records, out);
  if (format == "latex") return export_latex(records, out);
  if (format == "gbench") return export_gbench(records, out);
  if (format == "bencher") return export_bencher(records, out);
  if (format == "github") return export_github(records, out);
  std::vector<std::string_view> names(kFormats.begin(), kFormats.end());
  names.push_back(kOtava);
  const std::string nearest = nearest_name(format, names);
  throw UsageError({.what = fmt::format("unknown export format '{}'", format),
                    .where = "--format",
                    .why = fmt::format("the formats are {}", fmt::join(names, ", ")),
                    .remedy = nearest.empty() ? "" : fmt::format("did you mean '{}'?", nearest)});
}

}  // namespace hilbench
