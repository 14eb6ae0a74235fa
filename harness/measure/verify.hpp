// Verification: compares the output of a variant with the double-precision reference. Only a right variant is
// timed.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/measure/oracle.hpp"
#include "kernels/case/case.hpp"
#include "reports/records/record.hpp"

namespace hilbench {

// Reads the rows of an output, in the sequence of their positions: elements from `first` on, widened to fp32.
// They are all rows of a variant, or those of one rank of a ring.
struct OutputReader {
  using Read = std::function<void(std::int64_t first, std::span<float> to)>;
  Read o;    // batch * positions * heads rows of head_dim elements
  Read lse;  // one element per row; empty if the variant gives no LSE
};

// The rows that an output holds, numbered from 0 as the reader reads them.
struct OutputRows {
  std::int64_t count = 0;
  std::function<std::int64_t(const RowId&)>
      number;  // of a row that is held; rises with batch, position, head
  std::function<RowId(std::int64_t number)> id;
};
// All rows of a case.
OutputRows all_rows(const Case& work);

// "batch 0, position 65535, head 3".
std::string row_text(const RowId& row);

// A compared row: errors of the output, and what they are judged by.
struct RowErrors {
  RowId row;
  double o = 0, lse = 0;  // largest |output - exact| of the row's elements; NaN counts as infinite
  double square_o = 0;    // sum of |output - exact|^2 over O
  RowScale scale;         // what its tolerance is made of
};

// Errors found in some rows of an output. The errors of several ranks add up to those of all rows.
struct OutputErrors {
  std::int64_t values = 0, lse_values = 0;  // values that were checked
  std::int64_t bad = 0, bad_lse = 0;        // wrong: NaN, or infinite if no infinity is possible
  std::vector<RowErrors> rows;
  void add(const OutputErrors& other);
};
nlohmann::json to_json(const OutputErrors& errors);
OutputErrors output_errors_from_json(const nlohmann::json& json);

// Checks an output that holds `rows`, those of the oracle among them.
OutputErrors compare_output(const Oracle& oracle, const OutputReader& output, const OutputRows& rows,
                            std::int64_t head_dim, int threads);

// The result of a verification; `fault` says why the output is wrong. All values of O must be finite and must
// have been written, in all rows. So must those of LSE, but -infinity is right for a row that no branch
// covers.
struct VerifyResult {
  Verification verification;
  std::optional<std::string> fault;
};
VerifyResult judge_output(const Case& work, const OutputErrors& errors);
// The same for all rows of a case.
VerifyResult verify_output(const Case& work, const Oracle& oracle, const OutputReader& output, int threads);

}  // namespace hilbench
