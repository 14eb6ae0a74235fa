// `hilbench predict`: what stored records of few ranks say of rings that were not measured, as values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/predict/fit.hpp"
#include "kernels/machine/host.hpp"
#include "reports/claims/claims.hpp"

namespace hilbench {

// A ring whose time is asked for.
struct RingQuestion {
  Case work;  // ring_size and kv_heads resolved; the group's device in place of `auto`
  Variant variant;
  std::int64_t threads = 1;  // CPU threads that the ranks share
};

struct RingPrediction {
  const RingFit* fit = nullptr;
  RingQuestion question;
  std::string algorithm;  // what runs: `local` where nothing is exchanged
  Estimate ns;
  double compute_ns = 0, exchange_ns = 0;  // of the slowest rank, each alone
  double hidden = 0;                       // share of the exchange that the run hides
  Estimate one_rank_ns;                    // the same work on one rank of the same machine
  double speedup = 0, efficiency = 0;      // over that; the latter by what the ring has more of
  double sent_bytes = 0;
  double rank_bytes = 0;  // most that one rank holds of operands and buffers
};
RingPrediction predict(const RingFit& fit, const RingQuestion& question);
// The question for work and variant of the record at another ring size.
RingQuestion at_ring_size(const Record& record, std::int64_t ranks);

// Measured records held against what the model says of them, those that it was not fitted on.
struct RingCheck {
  std::int64_t ranks = 0;
  Errors errors;
  std::size_t inside = 0;  // of errors.count: measured within the predicted interval
  std::string worst;       // case and variant
};
std::vector<RingCheck> check(const RingFit& fit);

// Query rows of a tile where no kernel is asked: tiles are a thousandth of what a rank holds.
inline constexpr std::int64_t kPlannedTileRows = 64;

// Bytes that the rank with most of them holds on a GPU of its own: operands, buffers, fp32 O, index.
double rank_device_bytes(const Case& work, const Variant& variant);
// The longest sequence of which every rank fits into `device_bytes`, by the plan; lengths in steps of the
// longest segment times the ranks. A segment as long as the sequence grows with it. 0: none.
std::int64_t longest_on_ranks(Case work, const Variant& variant, double device_bytes);

// A claim about rings, and what can be said of it without measuring it.
struct ClaimPrediction {
  ClaimRow claim;
  std::string claimed, predicted, says;
};
// Claims analysis-projection and scaling-projection. `fits` may be empty: memory needs no records.
std::vector<ClaimPrediction> answer_projections(const std::vector<ClaimRow>& claims,
                                                const std::vector<RingFit>& fits);

}  // namespace hilbench
