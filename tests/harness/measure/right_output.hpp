// Outputs as a variant would write them, made from the reference.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "harness/measure/verify.hpp"
#include "kernels/case/rounding.hpp"

namespace hilbench {

struct Output {
  std::vector<float> o, lse;  // lse may be empty
};

// `output` must outlive the reader.
inline OutputReader reader(const Output& output) {
  const auto part_of = [](const std::vector<float>& all) {
    return [&all](std::int64_t first, std::span<float> to) {
      std::copy_n(all.begin() + first, to.size(), to.begin());
    };
  };
  return {.o = part_of(output.o),
          .lse = output.lse.empty() ? nullptr : OutputReader::Read(part_of(output.lse))};
}

inline std::size_t number_of(const Case& work, const RowId& row) {
  return static_cast<std::size_t>((row.batch * work.sequence_length + row.position) * work.heads + row.head);
}

// The rows of the oracle, rounded to the case's dtype; all others are 0.
inline Output right_output(const Case& work, const Oracle& oracle) {
  const auto rows = static_cast<std::size_t>(work.batch * work.sequence_length * work.heads);
  const auto width = static_cast<std::size_t>(work.head_dim);
  Output output{std::vector<float>(rows * width), std::vector<float>(rows)};
  for (std::size_t i = 0; i < oracle.rows.size(); ++i) {
    const std::size_t at = number_of(work, oracle.rows[i]);
    for (std::size_t d = 0; d < width; ++d)
      output.o[at * width + d] = round_to(work.dtype, static_cast<float>(oracle.expected[i].o[d]));
    output.lse[at] = static_cast<float>(oracle.expected[i].lse);
  }
  return output;
}

}  // namespace hilbench
