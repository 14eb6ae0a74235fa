#include "harness/sweep/claim_sweeps.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/sweep/sweep.hpp"
#include "kernels/base/text/error.hpp"
#include "kernels/base/text/text.hpp"
#include "reports/claims/claims_file.hpp"

namespace hilbench {

namespace {

const std::vector<std::string>& claims_of(const EmbeddedSweep& sweep) {
  static const std::vector<std::vector<std::string>> kClaims = [] {
    std::vector<std::vector<std::string>> claims;
    for (const EmbeddedSweep& each : claim_sweeps()) claims.push_back(parse_embedded(each).claims);
    return claims;
  }();
  return kClaims[static_cast<std::size_t>(&sweep - claim_sweeps().data())];
}

bool names(const EmbeddedSweep& sweep, const std::string& claim) {
  const std::vector<std::string>& claims = claims_of(sweep);
  return std::find(claims.begin(), claims.end(), claim) != claims.end();
}

}  // namespace

const std::vector<EmbeddedSweep>& claim_sweeps() {
  static const std::vector<EmbeddedSweep> kSweeps = [] {
    std::vector<EmbeddedSweep> sweeps;
    for (const EmbeddedSweep& each : embedded_sweeps())
      if (each.path().starts_with("claims/")) sweeps.push_back(each);
    return sweeps;
  }();
  return kSweeps;
}

std::vector<std::string> sweeps_naming(const std::string& claim) {
  std::vector<std::string> files;
  for (const EmbeddedSweep& sweep : claim_sweeps())
    if (names(sweep, claim)) files.emplace_back(sweep.file);
  return files;
}

const EmbeddedSweep& sweep_of_claim(const std::string& claim) {
  const EmbeddedSweep* first = nullptr;
  for (const EmbeddedSweep& sweep : claim_sweeps()) {
    if (!names(sweep, claim)) continue;
    if (sweep.file.ends_with(fmt::format("/{}.yaml", claim))) return sweep;
    if (first == nullptr) first = &sweep;
  }
  if (first != nullptr) return *first;
  std::vector<std::string_view> ids;
  for (const std::string& name : claim_names())
    if (!sweeps_naming(name).empty()) ids.push_back(name);
  const std::string near = nearest_name(claim, ids);
  throw UsageError({.what = fmt::format("no sweep of this build answers claim '{}'", one_line(claim, 60)),
                    .where = "--claim",
                    .why = fmt::format("the claims are {}", fmt::join(ids, ", ")),
                    .remedy = near.empty() ? "" : fmt::format("did you mean '{}'?", near)});
}

}  // namespace hilbench
