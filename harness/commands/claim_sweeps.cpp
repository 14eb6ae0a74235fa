#include "harness/commands/claim_sweeps.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "harness/sweep/sweep.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/text.hpp"
#include "reports/claims/claims_file.hpp"

namespace hilbench {

// Files of sweeps/claims, built into the program.
std::string_view embedded_sweep_analysis_projection();
std::string_view embedded_sweep_analysis_theory();
std::string_view embedded_sweep_dilated_kernel();
std::string_view embedded_sweep_guide_headlines();
std::string_view embedded_sweep_guide_memory();
std::string_view embedded_sweep_guide_speedup();
std::string_view embedded_sweep_hilbert_local();
std::string_view embedded_sweep_hybrid_core();
std::string_view embedded_sweep_hybrid_memory();
std::string_view embedded_sweep_hybrid_options();
std::string_view embedded_sweep_neighborhood();
std::string_view embedded_sweep_sawtooth();
std::string_view embedded_sweep_scaling_dilation();
std::string_view embedded_sweep_scaling_max_sequence();
std::string_view embedded_sweep_scaling_projection();
std::string_view embedded_sweep_scaling_threshold();
std::string_view embedded_sweep_sliding_tile();

namespace {

const std::vector<std::string>& claims_of(const EmbeddedSweep& sweep) {
  static const std::vector<std::vector<std::string>> kClaims = [] {
    std::vector<std::vector<std::string>> claims;
    for (const EmbeddedSweep& each : claim_sweeps())
      claims.push_back(parse_sweep(std::string(each.text), each.file).claims);
    return claims;
  }();
  return kClaims[static_cast<std::size_t>(&sweep - claim_sweeps().data())];
}

bool names(const EmbeddedSweep& sweep, const std::string& claim) {
  const std::vector<std::string>& claims = claims_of(sweep);
  return std::find(claims.begin(), claims.end(), claim) != claims.end();
}

}  // namespace

std::span<const EmbeddedSweep> claim_sweeps() {
  static const auto kSweeps = std::to_array<EmbeddedSweep>({
      {"sweeps/claims/analysis-projection.yaml", embedded_sweep_analysis_projection()},
      {"sweeps/claims/analysis-theory.yaml", embedded_sweep_analysis_theory()},
      {"sweeps/claims/dilated-kernel.yaml", embedded_sweep_dilated_kernel()},
      {"sweeps/claims/guide-headlines.yaml", embedded_sweep_guide_headlines()},
      {"sweeps/claims/guide-memory.yaml", embedded_sweep_guide_memory()},
      {"sweeps/claims/guide-speedup.yaml", embedded_sweep_guide_speedup()},
      {"sweeps/claims/hilbert-local.yaml", embedded_sweep_hilbert_local()},
      {"sweeps/claims/hybrid-core.yaml", embedded_sweep_hybrid_core()},
      {"sweeps/claims/hybrid-memory.yaml", embedded_sweep_hybrid_memory()},
      {"sweeps/claims/hybrid-options.yaml", embedded_sweep_hybrid_options()},
      {"sweeps/claims/neighborhood.yaml", embedded_sweep_neighborhood()},
      {"sweeps/claims/sawtooth.yaml", embedded_sweep_sawtooth()},
      {"sweeps/claims/scaling-dilation.yaml", embedded_sweep_scaling_dilation()},
      {"sweeps/claims/scaling-max-sequence.yaml", embedded_sweep_scaling_max_sequence()},
      {"sweeps/claims/scaling-projection.yaml", embedded_sweep_scaling_projection()},
      {"sweeps/claims/scaling-threshold.yaml", embedded_sweep_scaling_threshold()},
      {"sweeps/claims/sliding-tile.yaml", embedded_sweep_sliding_tile()},
  });
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
