// Input of a report: stored records, predictions for rings, and where the records are from.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reports/records/record.hpp"

namespace hilbench {

// A prediction for a ring, by a model fitted on some of the records. The ring may be measured too.
struct PredictedRing {
  Case work;  // ring_size: that of the predicted ring
  std::string variant_id;
  double ns = 0;
  Interval ci_ns;  // expected to hold one new measurement
  double sent_bytes = 0;
  std::optional<double> hidden;  // share of the exchange; none if nothing is exchanged
  bool fitted = false;           // on a record of this ring, so agreement with it proves nothing
};

// A picture that stands in the report as it is.
struct Picture {
  std::string name;  // figures/NAME.svg and .png
  std::string title, caption;
  std::string svg;
};

struct ReportInput {
  std::vector<Record> records;
  std::map<std::string, std::string> meta;  // of the store: name and title of the sweep, command, ...
  std::vector<PredictedRing> predictions;
  std::vector<std::string> prediction_notes;  // how well the model fits, or why there is none
  std::vector<Picture> order_pictures;        // of the orders that the sweep compares
  std::filesystem::path source;               // DIR as the user gave it
  std::filesystem::path claims_file;          // empty: the claims embedded in this build
  std::filesystem::path chart_library;        // find_chart_library()
};

}  // namespace hilbench
