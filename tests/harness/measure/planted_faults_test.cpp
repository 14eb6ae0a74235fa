// Faults of whole rows, planted in right outputs of long cases: the smallest row of all, in every dtype.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "harness/measure/drawn_rows.hpp"
#include "harness/measure/verify.hpp"
#include "tests/harness/measure/right_output.hpp"

namespace hilbench {
namespace {

constexpr Dtype kFaultyDtypes[] = {Dtype::fp32, Dtype::bf16, Dtype::fp16};

double largest_of(const ReferenceRow& row) {
  double largest = 0;
  for (const double value : row.o) largest = std::max(largest, std::abs(value));
  return largest;
}

class LongCase : public testing::TestWithParam<Mask> {
 protected:
  static constexpr std::int64_t kLength = 1 << 16;

  void SetUp() override {
    work_.mask = GetParam();
    for (const Dtype dtype : kFaultyDtypes) check(dtype);
  }

  void check(Dtype dtype) {
    work_.dtype = dtype;
    const InputTensors inputs(work_, {}, 3);
    // About 32 of the 256 sampled rows, to be quick.
    std::vector<RowId> rows = drawn_rows(work_, 1, kSampledRows);
    std::erase_if(rows, [](const RowId& row) { return row.position % 8 != 7; });
    const Oracle oracle = make_oracle(work_, inputs, {}, rows, 2);
    const Output right = right_output(work_, oracle);
    ASSERT_GT(oracle.rows.size(), 20u);
    const auto fault = verify_output(work_, oracle, reader(right), 2).fault;
    ASSERT_FALSE(fault) << *fault;
    std::size_t smallest = 0, next = 1;
    for (std::size_t i = 0; i < oracle.rows.size(); ++i)
      if (largest_of(oracle.expected[i]) < largest_of(oracle.expected[smallest]))
        next = smallest, smallest = i;
    plant(oracle, right, smallest, next);
  }

  void plant(const Oracle& oracle, const Output& right, std::size_t smallest, std::size_t other) {
    const auto width = static_cast<std::size_t>(work_.head_dim);
    const std::string where = row_text(oracle.rows[smallest]);
    const std::size_t at = number_of(work_, oracle.rows[smallest]) * width,
                      beside = number_of(work_, oracle.rows[other]) * width;
    Output zeros = right;
    std::fill_n(zeros.o.begin() + static_cast<std::ptrdiff_t>(at), width, 0.0f);
    expect_fault(oracle, zeros, where);
    Output swapped = right;
    std::swap_ranges(swapped.o.begin() + static_cast<std::ptrdiff_t>(at),
                     swapped.o.begin() + static_cast<std::ptrdiff_t>(at + width),
                     swapped.o.begin() + static_cast<std::ptrdiff_t>(beside));
    expect_fault(oracle, swapped, "");
    Output one = right;  // one element of the smallest row, by a tenth of the row's largest
    one.o[at + 5] += static_cast<float>(0.1 * largest_of(oracle.expected[smallest]));
    expect_fault(oracle, one, where);
  }

  void expect_fault(const Oracle& oracle, const Output& output, const std::string& where) {
    const auto fault = verify_output(work_, oracle, reader(output), 2).fault;
    ASSERT_TRUE(fault) << case_id(work_);
    EXPECT_NE(fault->find(where), std::string::npos) << *fault;
  }

  Case work_{
      .sequence_length = kLength, .pattern = {{kLength, 1}}, .heads = 1, .kv_heads = 1, .head_dim = 32};
};

TEST_P(LongCase, FaultsOfTheSmallestRowShow) {}
INSTANTIATE_TEST_SUITE_P(Masks, LongCase, testing::Values(Mask::full, Mask::causal));

}  // namespace
}  // namespace hilbench
