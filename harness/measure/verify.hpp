// Verification: compares the output of a variant with the double-precision reference. Only a right variant is
// timed.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/measure/oracle.hpp"
#include "kernels/case/case.hpp"
#include "reports/records/record.hpp"

namespace hilbench {

// Values of an output that are wrong whatever the reference says: NaN, and infinite where no infinity is
// possible.
struct BadValues {
  std::int64_t o = 0, lse = 0;
  OfGradients<std::int64_t> gradients = {};
};

// Reads the rows of an output, in the sequence of their positions: elements from `first` on, widened to fp32.
// They are all rows of a variant, or those of one rank of a ring.
struct OutputReader {
  using Read = std::function<void(std::int64_t first, std::span<float> to)>;
  Read o;    // batch * positions * heads rows of head_dim elements; empty if the pass gives gradients alone
  Read lse;  // one element per row; empty if the variant gives no LSE
  OfGradients<Read> gradients = {};  // like q, k and v; empty if the pass gives none
  // Counts them where the output is; empty: all values must be read to be counted.
  std::function<BadValues()> bad;
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

// A compared row of a gradient.
struct GradientRowErrors {
  RowId row;
  double error = 0;   // largest |gradient - exact| of the row's elements; NaN counts as infinite
  double square = 0;  // sum of its squares
  GradientScale scale;
};
struct GradientErrors {
  std::int64_t values = 0, bad = 0;  // values that were checked, and wrong ones among them
  std::vector<GradientRowErrors> rows;
};

// Errors found in some rows of an output. Those of several outputs add up.
struct OutputErrors {
  std::int64_t values = 0, lse_values = 0;  // values that were checked
  std::int64_t bad = 0, bad_lse = 0;        // wrong: NaN, or infinite if no infinity is possible
  std::vector<RowErrors> rows;
  OfGradients<GradientErrors> gradients = {};
  void add(const OutputErrors& other);
};

// Rows of an output, brought into the memory of this process. An output of the negated inputs keeps its
// signs.
struct TakenRows {
  InputSet inputs = InputSet::first;        // that it was computed on
  std::vector<RowId> rows;                  // of O and dQ, in position order
  std::vector<float> o, lse;                // of these rows; no LSE if the variant gives none
  std::int64_t values = 0, lse_values = 0;  // of the whole output, if it was looked at
  BadValues bad;                            // among them
  std::vector<RowId> keys = {};             // of dK and dV, in position order
  OfGradients<std::vector<float>> gradients = {};
  OfGradients<std::int64_t> gradient_values = {};  // of the whole tensors
};
// Takes rows of an output of `work`, and counts the bad values of all of it.
TakenRows take_rows(const Case& work, const OutputReader& output, const DrawnRows& rows, InputSet inputs,
                    int threads);

// Compares them with the oracle, which must have these rows, of the inputs that are not negated.
OutputErrors compare_rows(const Oracle& oracle, const TakenRows& taken);

// The result of a verification; `fault` says why the output is wrong. All values of O must be finite and must
// have been written, in all rows. So must those of LSE, but -infinity is right for a row that no branch
// covers. If a row's exact LSE is beyond fp32, no output is right, and the fault says so. `scores`: how the
// variant keeps them. The same holds for gradients, each by itself; the check is then that of the worst
// tensor.
struct VerifyResult {
  RowCheck check;
  std::optional<std::string> fault;
};
VerifyResult judge_output(const Case& work, const OutputErrors& errors, Scores scores = Scores::fp32);
// What is wrong with an output of whatever function: values that are NaN, infinite or not written.
std::optional<std::string> unusable_output(const OutputErrors& errors);
// The same for the rows of the oracle, in an output of the first inputs.
VerifyResult verify_output(const Case& work, const Oracle& oracle, const OutputReader& output, int threads,
                           Scores scores = Scores::fp32);

}  // namespace hilbench
