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

// Roundings of fp32 in an LSE that an implementation may need: a few of the logarithm and of scores, and two
// for each partial result (branch, and rank of a ring) that it merges.
double lse_roundings(const Case& work);

// "batch 0, position 65535, head 3".
std::string row_text(const RowId& row);

// A compared row: errors of the output, and what they are judged by.
struct RowErrors {
  RowId row;
  double o = 0, lse = 0;  // largest |output - exact| of the row's elements; NaN counts as infinite
  double square_o = 0;    // sum of |output - exact|^2 over O
  PlainErrors plain;      // of plain evaluation
  // Of the exact row:
  double size_o = 0;     // largest |element| of O, or o_size of the reference if that is more; 0: uncovered
  double exact_lse = 0;  // |LSE|
  double lost = 0, score_o = 0, score_lse = 0;  // as in ReferenceRow
  double exact_square = 0;                      // sum of O^2
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

// How far each row of an output may be from the exact one. e is the error of plain low precision on the row,
// u = 2^-8 (bf16), 2^-11 (fp16), 2^-24 (fp32), a = size_o, b = max(|LSE|, 1), r = lse_roundings, d =
// head_dim:
//   O:   2 max(e, median(e/a) a) + 4 (u + 2^-24 |LSE|) a + 2 sqrt(d) 2^-24 score_o + 2 lost a
//   LSE: 2 max(e, median(e/b) b) + r 2^-24 b + 2 sqrt(d) 2^-24 score_lse + 2 lost, with the errors e of LSE
// A plain evaluation may be exact by luck. So the median over all compared rows, and a few roundings, stand
// below it. An fp32 rounding of a score s changes its probability by s 2^-24: exp(s (1 + u)) / exp(s) = 1 + s
// u; the LSE stands for s. A score is a sum of d products, and its error in fp32 about 2^-24 sqrt(d)/2 of
// their size: four times that is allowed. It is also twice the bound of first order of a sum of one rounding
// each, 2^-24 scale sum of |q k|, since that sum is at most sqrt(d) times the root of its squares.
// An LSE moves by sum of p_j e_j if the scores move by e_j (its derivative is p). The e_j of equal keys are
// equal and do not average out: so score_lse is a sum over keys, not a root of squares. In O they cancel:
// O moves by sum of p_j e_j (v_j - O), which is 0 for equal e_j. LSE is fp32 in every dtype.
class RowTolerances {
 public:
  RowTolerances(const Case& work, std::span<const RowErrors> rows);
  double o(const RowErrors& row) const;
  double lse(const RowErrors& row) const;
  // Of ||O - exact|| / ||exact|| over all rows: twice that of plain evaluation, and the same roundings.
  double relative() const { return relative_; }

 private:
  double unit_, lse_roundings_, score_unit_;
  double median_o_ = 0, median_lse_ = 0;
  double relative_ = 0;
};

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
