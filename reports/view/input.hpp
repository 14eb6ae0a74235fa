// What a report is made from: stored records, what is predicted of rings, and where they came from.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reports/records/record.hpp"

namespace hilbench {

// What a model fitted on some of the records says of a ring, measured among them or not.
struct PredictedRing {
  Case work;  // ring_size: that of the prediction
  std::string variant_id;
  double ns = 0;
  Interval ci_ns;  // in which one new measurement is expected
  double sent_bytes = 0;
  std::optional<double> hidden;  // share of the exchange; none where nothing is exchanged
  bool fitted = false;           // on the record of this very ring, so that meeting it proves nothing
};

struct ReportInput {
  std::vector<Record> records;
  std::map<std::string, std::string> meta;  // of the store: sweep name, title, command, ...
  std::vector<PredictedRing> predictions;
  std::vector<std::string> prediction_notes;  // how well the model fits, or why there is none
  std::filesystem::path source;               // DIR as the user gave it
  std::filesystem::path claims_file;          // empty: the claims embedded in this build
  std::filesystem::path chart_library;        // find_chart_library()
};

}  // namespace hilbench
