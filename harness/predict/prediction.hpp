// Predicts rings that were not measured from stored records of few ranks, as values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/predict/fit.hpp"
#include "kernels/machine/host.hpp"
#include "reports/claims/claims.hpp"

namespace hilbench {

// A ring to predict.
struct RingQuestion {
  Case work;  // ring_size and kv_heads resolved; device is the group's, not `auto`
  Variant variant;
  RingMachine machine;
};

struct RingPrediction {
  const RingFit* fit = nullptr;
  RingQuestion question;
  std::string algorithm;  // the algorithm that runs: `local` if nothing is exchanged
  Estimate ns;
  double compute_ns = 0, exchange_ns = 0;  // of the slowest rank, each by itself
  double hidden = 0;                       // the share of the exchange that the run hides
  Estimate one_rank_ns;                    // the same work on one rank of the same machine
  double speedup = 0, efficiency = 0;  // over one rank; efficiency is speedup divided by the ring's devices
  double sent_bytes = 0;
  double rank_bytes = 0;  // operands and buffers of the rank that holds most
};
RingPrediction predict(const RingFit& fit, const RingQuestion& question);
// The record's case and variant, at another ring size.
RingQuestion at_ring_size(const Record& record, std::int64_t ranks);

// How predictions agree with measured records that the model was not fitted on.
struct RingCheck {
  std::int64_t ranks = 0;
  Errors errors;
  std::size_t inside = 0;  // how many of errors.count lie inside the predicted interval
  std::string worst;       // case and variant with the largest error ...
  Estimate worst_measured_ns, worst_predicted_ns;  // ... and its two times
};
std::vector<RingCheck> check(const RingFit& fit);

// Query rows of a tile if no kernel is known: tiles are about a thousandth of a rank's memory.
inline constexpr std::int64_t kPlannedTileRows = 64;

// Bytes of the rank that holds most, on a GPU of its own: operands, buffers, O in fp32, index.
double rank_device_bytes(const Case& work, const Variant& variant);
// The longest sequence for which every rank fits into `device_bytes`, by the plan: a multiple of the longest
// segment times the ranks. Segments that cover the whole sequence grow with it. 0: none fits.
std::int64_t longest_on_ranks(Case work, const Variant& variant, double device_bytes);

// A claim about rings, and the answer that is possible without measuring.
struct ClaimPrediction {
  ClaimRow claim;
  std::string claimed, predicted, says;
  ClaimVerdict verdict = ClaimVerdict::not_testable;  // by the rules for measurements
};
// Answers claims about rings of a length that name no pattern, and those of the longest sequence on a number
// of devices. `fits` may be empty: claims about memory need no records.
std::vector<ClaimPrediction> answer_projections(const std::vector<ClaimRow>& claims,
                                                const std::vector<RingFit>& fits);

}  // namespace hilbench
