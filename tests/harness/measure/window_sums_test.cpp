#include "harness/measure/window_sums.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "tests/harness/measure/right_output.hpp"
#include "tests/kernels/random_windows.hpp"
#include "tests/sanitized.hpp"

namespace hilbench {
namespace {

std::vector<std::int32_t> random_slots(Random& random, std::int64_t length) {
  std::vector<std::int32_t> slots(static_cast<std::size_t>(length));
  std::iota(slots.begin(), slots.end(), 0);
  std::shuffle(slots.begin(), slots.end(), random);
  return slots;
}

// Sums of the rows of V that each row sees, key by key.
TEST(WindowSums, AreThoseOfTheDefinition) {
  for (std::uint64_t seed = 0; seed < (kSanitized ? 20 : 160); ++seed) {
    Random random(seed);
    const Case work = random_windows_or_mask(random, 12);
    const InputTensors inputs = InputTensors::key_probe(work, seed);
    std::vector<std::int32_t> slots;  // of a `tokens` order
    if (seed % 3 == 0) slots = random_slots(random, work.sequence_length);
    std::vector<std::int64_t> position_of(static_cast<std::size_t>(work.sequence_length));
    std::iota(position_of.begin(), position_of.end(), 0);
    for (std::size_t t = 0; t < slots.size(); ++t)
      position_of[static_cast<std::size_t>(slots[t])] = static_cast<std::int64_t>(t);
    const KeyProbe probe = make_key_probe(work, inputs, {.slots = slots}, 5, 2);
    const auto width = static_cast<std::size_t>(work.head_dim);
    std::vector<float> v(width);
    for (std::size_t i = 0; i < probe.rows.size(); i += 7) {
      const RowId& row = probe.rows[i];
      const std::int64_t slot = slots.empty() ? row.position : slots[static_cast<std::size_t>(row.position)];
      std::vector<float> expected(width, 0.0f);
      for (const std::int64_t key : defined_mask(work, slot)) {
        const std::int64_t at = row.batch * work.sequence_length + position_of[static_cast<std::size_t>(key)];
        inputs.read(Tensor::v, (at * work.kv_heads + row.head * work.kv_heads / work.heads) * work.head_dim,
                    v);
        for (std::size_t d = 0; d < width; ++d) expected[d] += v[d];
      }
      for (std::size_t d = 0; d < width; ++d) {
        ASSERT_EQ(probe.sums[i * width + d], expected[d]) << case_id(work) << ", " << row_text(row);
        ASSERT_EQ(probe.sizes[i * width + d], std::abs(expected[d]));
      }
    }
  }
}

// A missing key, a doubled one and one swapped for another show in any row.
TEST(WindowSums, TellOneKeyFromAnother) {
  Case work{.heads = 1, .kv_heads = 1, .head_dim = 32, .device = DeviceKind::cpu};
  work.windows = {{.extent = 18, .window = 9}, {.extent = 25, .window = 11}};
  fill_in_windows(work);
  const InputTensors inputs = InputTensors::key_probe(work, 3);
  const KeyProbe probe = make_key_probe(work, inputs, {}, 5, 2);
  ASSERT_EQ(std::ssize(probe.rows), work.sequence_length);
  // One key less, the right keys, or one key more in `output`; or, if `by` is 2, another key.
  const auto set_row = [&](Output& output, std::int64_t position, int by) {
    std::vector<std::int64_t> keys = defined_mask(work, position);
    if (by == -1) keys.pop_back();
    if (by == 1) keys.push_back(keys.front());
    if (by == 2) keys.front() = (keys.back() + 1) % work.sequence_length;
    std::vector<double> sum(32);
    std::vector<float> v(32);
    for (const std::int64_t key : keys) {
      inputs.read(Tensor::v, key * 32, v);
      for (std::size_t d = 0; d < 32; ++d) sum[d] += v[d];
    }
    const auto row = static_cast<std::size_t>(position);
    for (std::size_t d = 0; d < 32; ++d)
      output.o[row * 32 + d] = static_cast<float>(sum[d] / static_cast<double>(keys.size()));
    output.lse[row] = static_cast<float>(std::log(static_cast<double>(keys.size())));
  };
  const auto fault_of = [&](const Output& output) {
    return probe_fault(compare_probe(work, probe, reader(output), all_rows(work), 2));
  };
  const auto rows = static_cast<std::size_t>(work.sequence_length);
  Output right{.o = std::vector<float>(rows * 32), .lse = std::vector<float>(rows)};
  for (std::int64_t position = 0; position < work.sequence_length; ++position) set_row(right, position, 0);
  EXPECT_EQ(fault_of(right), std::nullopt);
  for (const std::int64_t position : {0, 24, 227, 449})
    for (const int by : {-1, 1, 2}) {
      Output wrong = right;
      set_row(wrong, position, by);
      EXPECT_TRUE(fault_of(wrong)) << position << " " << by;
    }
}

}  // namespace
}  // namespace hilbench
