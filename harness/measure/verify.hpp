// Verification: compares the output of a variant with the double-precision reference. Only a right variant is
// timed.
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

// Reads the rows of an output, in the sequence of their positions: elements from `first` on, widened to fp32.
// They are all rows of a variant, or those of one rank of a ring.
struct OutputReader {
  using Read = std::function<void(std::int64_t first, std::span<float> to)>;
  Read o;    // batch * positions * heads rows of head_dim elements
  Read lse;  // one element per row; empty if the variant gives no LSE
};

// Errors found in some rows of an output; `plain` holds those of a plain evaluation of the same rows. The
// errors of several ranks add up to those of all rows.
struct OutputErrors {
  PlainErrors plain;
  std::int64_t values = 0, lse_values = 0;  // values that were checked
  std::int64_t bad = 0, bad_lse = 0;        // wrong: NaN, or infinite if no infinity is possible
  std::int64_t rows = 0;                    // rows that were compared
  double max_abs = 0, lse_max_abs = 0, square_error = 0, square_expected = 0;
  void add(const OutputErrors& other);
};
nlohmann::json to_json(const OutputErrors& errors);
OutputErrors output_errors_from_json(const nlohmann::json& json);

// Checks `row_count` rows of an output. row_number(row) is the number of the oracle's `row` among them;
// numbers must rise with the oracle's rows.
OutputErrors compare_output(const Oracle& oracle, const OutputReader& output, std::int64_t row_count,
                            std::int64_t head_dim,
                            const std::function<std::int64_t(const RowId&)>& row_number, int threads);

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
