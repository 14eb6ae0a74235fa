// The output of `hilbench predict`, as text, Markdown or JSON.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "harness/predict/prediction.hpp"
#include "reports/terminal/screen.hpp"
#include "reports/view/table.hpp"

namespace hilbench {

// Everything that the command prints.
struct PredictionReport {
  const std::vector<RingFit>* fits = nullptr;
  std::vector<RingPrediction> predictions;
  std::vector<ClaimPrediction> claims;
  struct Longest {
    std::string pattern;  // the case, without length and ring size
    std::int64_t ranks = 1, positions = 0;
    double device_bytes = 0;  // usable, of each rank
  };
  std::vector<Longest> longest;
  std::vector<std::string> notes;  // what was asked for and cannot be predicted, with the reason
};

enum class PredictionFormat { text, markdown, json };
// The text fits the screen.
std::string rendered(const PredictionReport& report, PredictionFormat format, const Screen& screen = {});

// "median 3 %, worst 11 %".
std::string error_text(const Errors& errors);

}  // namespace hilbench
