// What Hilbert order did to the time of kernels.
#include <fmt/format.h>

#include "reports/claims/claim_records.hpp"
#include "reports/claims/claims_file.hpp"
#include "reports/findings/headline.hpp"
#include "reports/findings/sentences.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

constexpr const char* kUncontrolled =
    "It was not measured beside a random permutation, so a gain may come from any change of order, not from "
    "the curve.";

std::string linear_sentence(const Tally& linear, std::string_view chunk_text) {
  return linear.compared(fmt::format("Hilbert order{}", chunk_text),
                         "linear order, which stores rows as they come,", "Hilbert order", "linear order");
}

// Hilbert order against random order: what the two share is no merit of the curve.
std::string control_sentence(const Tally& control) {
  if (control.cases == 0) return kUncontrolled;
  return control.compared("Hilbert order", "a random permutation, the control,", "Hilbert order",
                          "the random permutation");
}

// Kernel time of Hilbert order against linear order, and against random order.
struct HilbertTallies {
  Tally linear, control;
  std::vector<const Record*> records;  // of Hilbert order
  bool any() const { return linear.cases > 0; }
};

HilbertTallies hilbert_tallies(const View& view, std::int64_t chunk) {
  ComparedVariants compared = compared_by_reports();
  compared.order_chunk = chunk;
  HilbertTallies tallies;
  for (const CaseView& of_case : view.cases) {
    const ClaimRecords records = claim_records(of_case, compared);
    if (!records.against || !records.variant) continue;
    const auto ratio = time_ratio(*records.against, *records.variant);
    if (!ratio) continue;
    tallies.linear.add(*ratio);
    tallies.records.push_back(records.variant);
    if (!records.random) continue;
    if (const auto against = time_ratio(*records.random, *records.variant)) tallies.control.add(*against);
  }
  return tallies;
}

struct OfChunk {
  HilbertTallies tallies;
  std::string chunk;  // " in chunks of 4096"
};

// In the chunks that the claims are about, and over the whole length if that is another order.
std::vector<OfChunk> both_tallies(const View& view) {
  OfChunk claimed{hilbert_tallies(view, claimed_chunk()), ""};
  OfChunk whole{hilbert_tallies(view, 0), " over the whole length"};
  if (whole.tallies.records == claimed.tallies.records) return {std::move(claimed)};  // a chunk is the length
  if (whole.tallies.any()) claimed.chunk = fmt::format(" in chunks of {}", claimed_chunk());
  return {std::move(claimed), std::move(whole)};
}

}  // namespace

std::int64_t claimed_chunk() {
  return compared_by_reports().order_chunk.value_or(0);
}

bool has_claimed_order(const View& view) {
  return hilbert_tallies(view, claimed_chunk()).any();
}

std::vector<Outcome> hilbert_outcomes(const View& view) {
  std::vector<Outcome> outcomes;
  for (const auto& [tallies, chunk] : both_tallies(view)) {
    if (!tallies.any()) continue;
    outcomes.push_back({.what = "Hilbert order" + chunk, .against = "linear order", .tally = tallies.linear});
    if (tallies.control.cases > 0)
      outcomes.push_back(
          {.what = "Hilbert order" + chunk, .against = "random order", .tally = tallies.control});
  }
  return outcomes;
}

std::string uncontrolled_sentence(const View& view) {
  for (const auto& [tallies, chunk] : both_tallies(view))
    if (tallies.any() && tallies.control.cases == 0) return kUncontrolled;
  return "";
}

std::vector<std::string> hilbert_sentences(const View& view) {
  std::vector<std::string> said;
  Tally all;
  for (const auto& [tallies, chunk] : both_tallies(view)) {
    if (!tallies.any()) continue;
    said.push_back(linear_sentence(tallies.linear, chunk));
    said.push_back(control_sentence(tallies.control));
    all.cases += tallies.linear.cases;
    all.in_one_process += tallies.linear.in_one_process;
  }
  if (std::string one_process = all.one_process(); !one_process.empty())
    said.push_back(std::move(one_process));
  return said;
}

}  // namespace hilbench
