// The claims that are built into the program, by their names.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <sstream>

#include "kernels/base/files/files.hpp"
#include "reports/claims/claims_file.hpp"

namespace hilbench {

std::string_view embedded_claims();      // claims.yaml of this folder, built into the program
std::string_view embedded_literature();  // literature.yaml

namespace {

constexpr std::string_view kSeeds = "seeds";            // claims.yaml, the claims of the seed reports
constexpr std::string_view kLiterature = "literature";  // literature.yaml, those of papers

}  // namespace

const std::vector<ClaimRow>& built_in_claims() {
  static const std::vector<ClaimRow> kRows = [] {
    std::vector<ClaimRow> rows = load_claims({});
    for (ClaimRow& row : parse_claims(std::string(embedded_literature()), "literature.yaml"))
      rows.push_back(std::move(row));
    return rows;
  }();
  return kRows;
}

const std::vector<std::string>& claim_names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names = {std::string(kSeeds), std::string(kLiterature)};
    for (const ClaimRow& row : built_in_claims())
      if (names.back() != row.claim_id && (!of_paper(row) || row.test)) names.push_back(row.claim_id);
    return names;
  }();
  return kNames;
}

std::vector<ClaimRow> named_claims(const std::vector<std::string>& names) {
  const auto named = [&](std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  std::vector<ClaimRow> rows = built_in_claims();
  std::erase_if(rows, [&](const ClaimRow& row) {
    const bool of_file = row.reading_of.empty() && named(of_paper(row) ? kLiterature : kSeeds);
    return !of_file && !named(row.claim_id);
  });
  return rows;
}

std::vector<ClaimRow> load_claims(const std::filesystem::path& file) {
  if (file.empty()) return parse_claims(std::string(embedded_claims()), "claims.yaml");
  return parse_claims(read_text(file, "claims file", kMostInputBytes), file.string());
}

const ComparedVariants& compared_by_reports() {
  static const ComparedVariants kCompared = load_claims({}).front().compared;
  return kCompared;
}

std::vector<ClaimRow> claims_of(const ReportInput& input) {
  const auto named = input.meta.find("claims");
  if (!input.claims_file.empty()) return load_claims(input.claims_file);
  if (named == input.meta.end()) return named_claims({std::string(kSeeds)});
  std::istringstream words(named->second);
  return named_claims({std::istream_iterator<std::string>(words), {}});
}

}  // namespace hilbench
