// Verification: a variant's output against the double-precision reference, before it may be timed.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>

#include "harness/measure/oracle.hpp"
#include "kernels/case/case.hpp"
#include "reports/records/record.hpp"

namespace hilbench {

// Rows of an output in the sequence of their positions, read in parts: elements from `first` on, widened to
// fp32. All rows of a variant, or those of one rank of a ring.
struct OutputReader {
  using Read = std::function<void(std::int64_t first, std::span<float> to)>;
  Read o;    // rows of head_dim elements: batch * positions * heads of them
  Read lse;  // an element a row; empty where the variant gives none
};

// What was found in some rows of an output, which plain precision makes `plain` of. Those of several ranks
// add up to those of all rows.
struct OutputErrors {
  PlainErrors plain;
  std::int64_t values = 0, lse_values = 0;  // looked at
  std::int64_t bad = 0, bad_lse = 0;        // no result: NaN, infinite where that cannot be
  std::int64_t rows = 0;                    // compared
  double max_abs = 0, lse_max_abs = 0, square_error = 0, square_expected = 0;
  void add(const OutputErrors& other);
};
nlohmann::json to_json(const OutputErrors& errors);
OutputErrors output_errors_from_json(const nlohmann::json& json);

// Compares rows of an output: `row_count` of them, of which row_number(row) is `row` of the oracle. Row
// numbers rise with the oracle's rows.
OutputErrors compare_output(const Oracle& oracle, const OutputReader& output, std::int64_t row_count,
                            std::int64_t head_dim,
                            const std::function<std::int64_t(const RowId&)>& row_number, int threads);

// What was found, and why the output is wrong if it is. All of o must be finite and no longer the poison,
// also where no row is compared; so must lse, but -infinity is the value of a row that no branch covers.
struct VerifyResult {
  Verification verification;
  std::optional<std::string> fault;
};
VerifyResult judge_output(const Case& work, const OutputErrors& errors);
// Of all rows.
VerifyResult verify_output(const Case& work, const Oracle& oracle, const OutputReader& output, int threads);

}  // namespace hilbench
