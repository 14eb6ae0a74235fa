// Records as reports use them: grouped by case, with the measured limits of each case.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reports/records/record.hpp"
#include "reports/view/input.hpp"

namespace hilbench {

struct CaseView {
  std::string case_id;
  const Case* work = nullptr;
  std::vector<const Record*> records;  // in the store's order
  // From the `peak` record of the case, or what judged one of its records if that is more; on a processor,
  // the highest of the same machine, dtype and threads.
  std::optional<double> peak_flops_per_s;
  std::optional<double> copy_bytes_per_s;
};

struct View {
  std::string sweep;
  std::string title;
  std::string machine;  // "AMD EPYC 9654, 2 threads"; never empty
  std::string source;   // the folder of the store, as the user gave it
  std::map<std::string, std::string> meta;
  std::vector<CaseView> cases;   // in the store's order, without twins
  std::size_t record_count = 0;  // without twins, as are all other members but `twins`
  std::vector<const Record*> twins;
  std::map<Status, std::size_t> status_counts;
  const std::vector<Record>* records = nullptr;  // all, with twins
  std::span<const PredictedRing> predictions;
  std::span<const std::string> prediction_notes;
  std::span<const Picture> order_pictures;
};

// Whether some case asks for gradients.
bool has_gradients(const View& view);

// Refers to `input`, which must outlive the view.
View view_of(const ReportInput& input);

}  // namespace hilbench
