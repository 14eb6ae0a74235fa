#include "harness/measure/key_probe.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <tuple>

#include "kernels/case/pattern.hpp"
#include "tests/harness/measure/right_output.hpp"
#include "tests/kernels/random_case.hpp"
#include "tests/sanitized.hpp"

namespace hilbench {
namespace {

TEST(VisibleRange, HoldsTheKeysOfTheReference) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    const Case work = random_case(random, 60);
    for (std::int64_t head = 0; head < work.heads; ++head)
      for (std::int64_t branch = 0; branch < std::ssize(work.pattern); ++branch)
        for (std::int64_t position = 0; position < work.sequence_length; ++position) {
          const VisibleKeys range = visible_range(work, head, branch, position);
          std::vector<std::int64_t> keys;
          for (std::int64_t i = 0; i < range.count; ++i) keys.push_back(range.first + i * range.step);
          ASSERT_EQ(keys, visible_keys(work, head, branch, position)) << case_id(work);
        }
  }
}

TEST(KeyProbeInputs, AreSignsWithoutAPatternAndQueriesOfZero) {
  const Case work{.sequence_length = 4096, .pattern = {{4096, 1}}, .heads = 2, .kv_heads = 2, .head_dim = 40};
  const InputTensors inputs = InputTensors::key_probe(work, 7);
  std::vector<float> v(static_cast<std::size_t>(inputs.size(Tensor::v))), q(v.size(), 5.0f), part(100);
  inputs.read(Tensor::v, 0, v);
  inputs.read(Tensor::q, 0, q);
  double sum = 0, beside = 0;
  for (std::size_t i = 0; i < v.size(); ++i) {
    ASSERT_EQ(std::abs(v[i]), 1);
    ASSERT_EQ(q[i], 0);
    sum += v[i];
    beside += i >= 80 ? v[i] * v[i - 80] : 0;  // the same element of the next position
  }
  const double sigma = std::sqrt(static_cast<double>(v.size()));
  EXPECT_LT(std::abs(sum), 4 * sigma);
  EXPECT_LT(std::abs(beside), 4 * sigma);
  inputs.read(Tensor::v, 12345, part);
  EXPECT_TRUE(std::equal(part.begin(), part.end(), v.begin() + 12345)) << "element i depends on i alone";
}

// Computes what a variant with these keys would write: sums in position order, kept while rows see more of
// one list. `tamper` changes the keys of one row.
using Keys = std::vector<std::int64_t>;
using Tamper = std::function<void(Keys&)>;

// Computes what a variant would write: sums in position order, kept while rows see more of one list.
class ProbedOutput {
 public:
  ProbedOutput(const Case& work, const InputTensors& inputs) : work_(work), inputs_(inputs) {}

  // Only the rows of the probe have an O.
  Output right(const KeyProbe& probe) {
    const auto width = static_cast<std::size_t>(work_.head_dim);
    const OutputRows all = all_rows(work_);
    Output output{std::vector<float>(static_cast<std::size_t>(all.count) * width),
                  std::vector<float>(static_cast<std::size_t>(all.count))};
    for (std::int64_t i = 0; i < all.count; ++i) {
      const RowId row = all.id(i);
      double keys = 0;
      for (std::int64_t b = 0; b < std::ssize(work_.pattern); ++b)
        keys += static_cast<double>(visible_range(work_, row.head, b, row.position).count);
      output.lse[static_cast<std::size_t>(i)] = static_cast<float>(std::log(keys));
    }
    for (const RowId& row : probe.rows) write(row, {}, output);
    return output;
  }

  // `tamper` changes the keys of the row in its first branch; without, the row is right.
  void write(const RowId& row, const Tamper& tamper, Output& output) {
    const auto width = static_cast<std::size_t>(work_.head_dim);
    double count = 0;
    std::vector<float> total(width);
    for (std::int64_t b = 0; b < std::ssize(work_.pattern); ++b) {
      const VisibleKeys range = visible_range(work_, row.head, b, row.position);
      if (range.count == 0) continue;
      Sum own;
      Sum& sum = tamper ? own : sums_[{row.batch, row.head, b, range.first}];
      if (sum.keys != range.count) {
        Keys keys = visible_keys(work_, row.head, b, row.position);
        if (tamper && b == 0) tamper(keys);
        add(row, keys, sum);
      }
      count += static_cast<double>(sum.keys);
      for (std::size_t d = 0; d < width; ++d) total[d] += sum.v[d];
    }
    const std::size_t at = number_of(work_, row);
    output.lse[at] = static_cast<float>(std::log(count));
    for (std::size_t d = 0; d < width; ++d)
      output.o[at * width + d] =
          count > 0 ? round_to(work_.dtype, static_cast<float>(total[d] / count)) : 0.0f;
  }

 private:
  struct Sum {
    std::int64_t keys = 0;
    std::vector<float> v;
  };

  void add(const RowId& row, const Keys& keys, Sum& sum) const {
    std::vector<float> v(static_cast<std::size_t>(work_.head_dim));
    sum.v.resize(v.size());
    for (; sum.keys < std::ssize(keys); ++sum.keys) {
      const std::int64_t at =
          (row.batch * work_.sequence_length + keys[static_cast<std::size_t>(sum.keys)]) * work_.kv_heads +
          kv_head_of(work_, row.head);
      inputs_.read(Tensor::v, at * work_.head_dim, v);
      for (std::size_t d = 0; d < v.size(); ++d) sum.v[d] += v[d];
    }
  }

  const Case& work_;
  const InputTensors& inputs_;
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>, Sum> sums_;
};

constexpr Dtype kDtypes[] = {Dtype::fp32, Dtype::bf16, Dtype::fp16};

std::optional<std::string> fault_of(const Case& work, const KeyProbe& probe, const Output& output,
                                    bool with_lse) {
  OutputReader read = reader(output);
  if (!with_lse) read.lse = nullptr;
  return probe_fault(compare_probe(work, probe, read, all_rows(work), 2));
}

struct NamedTamper {
  const char* name;
  Tamper tamper;
};
const NamedTamper kTampers[] = {
    {"a missing key", [](Keys& keys) { keys.erase(keys.begin() + std::ssize(keys) / 3); }},
    {"a doubled key", [](Keys& keys) { keys.push_back(keys[keys.size() / 3]); }},
    {"a key in place of another", [](Keys& keys) { keys[keys.size() / 3] = keys.back(); }},
    {"a missing tile",
     [](Keys& keys) {
       keys.erase(keys.begin() + 64, keys.begin() + std::min<std::int64_t>(128, std::ssize(keys)));
     }},
    {"a tile in place of another",
     [](Keys& keys) {
       std::copy_n(keys.begin(), std::min<std::int64_t>(64, std::ssize(keys) / 2), keys.end() - 64);
     }},
};

// Every tamper of one row shows, with LSE and by O alone.
void expect_caught(Case work, const RowId& row) {
  for (const Dtype dtype : kDtypes) {
    work.dtype = dtype;
    const InputTensors inputs = InputTensors::key_probe(work, 11);
    const KeyProbe probe = make_key_probe(work, inputs, {}, 5, 2);
    ASSERT_TRUE(std::any_of(probe.rows.begin(), probe.rows.end(), [&](const RowId& probed) {
      return number_of(work, probed) == number_of(work, row);
    })) << "the row is not sampled";
    ProbedOutput made(work, inputs);
    Output output = made.right(probe);
    for (const bool with_lse : {true, false}) {
      const auto fault = fault_of(work, probe, output, with_lse);
      EXPECT_FALSE(fault) << case_id(work) << ": " << *fault;
    }
    for (const NamedTamper& planted : kTampers) {
      made.write(row, planted.tamper, output);
      const auto fault = fault_of(work, probe, output, true);
      ASSERT_TRUE(fault) << planted.name << ", " << case_id(work);
      EXPECT_NE(fault->find(row_text(row)), std::string::npos) << *fault;
      EXPECT_TRUE(fault_of(work, probe, output, false)) << planted.name << " without LSE, " << case_id(work);
    }
  }
}

constexpr std::int64_t kLong = kSanitized ? 1 << 12 : 1 << 16;

Case long_case(std::int64_t length) {
  return {.sequence_length = length, .pattern = {{length, 1}}, .heads = 1, .kv_heads = 1, .head_dim = 64};
}

TEST(KeyProbe, CatchesOneKeyOf64K) {
  expect_caught(long_case(kLong), {.position = kLong - 40});
}
TEST(KeyProbe, CatchesOneKeyOf60000) {
  expect_caught(long_case(kSanitized ? 5000 : 60000), {.position = 30});
}
TEST(KeyProbe, CatchesOneKeyOfAMillion) {
  expect_caught(long_case(kSanitized ? 1 << 14 : 1 << 20), {.position = 0});
}

TEST(KeyProbe, CatchesOneKeyOfALongCausalRow) {
  const std::int64_t length = kSanitized ? 3000 : 20000;
  Case work = long_case(length);
  work.mask = Mask::causal;
  expect_caught(work, {.position = length - 10});
  expect_caught(work, {.position = 127});
}

TEST(KeyProbe, CatchesOneKeyOfOneOfSeveralBranches) {
  Case work = long_case(kLong);
  work.pattern = {{kLong / 2, 2}, {kLong, 4}};
  work.heads = 4;
  work.kv_heads = 2;
  const InputTensors inputs = InputTensors::key_probe(work, 11);
  const KeyProbe probe = make_key_probe(work, inputs, {}, 5, 2);
  // A sampled row that both branches cover.
  const auto row = std::find_if(probe.rows.begin(), probe.rows.end(), [&](const RowId& seen) {
    return visible_range(work, seen.head, 0, seen.position).count > 0 &&
           visible_range(work, seen.head, 1, seen.position).count > 0;
  });
  ASSERT_NE(row, probe.rows.end());
  expect_caught(work, *row);
}

// The LSE is checked in every row, also where O is not compared.
TEST(KeyProbe, CountsTheKeysOfEveryRow) {
  const Case work{
      .sequence_length = 100000, .pattern = {{1000, 1}}, .heads = 1, .kv_heads = 1, .head_dim = 8};
  const InputTensors inputs = InputTensors::key_probe(work, 1);
  const KeyProbe probe = make_key_probe(work, inputs, {}, 5, 2);
  Output output = ProbedOutput(work, inputs).right(probe);
  std::size_t row = 200;
  while (std::any_of(probe.rows.begin(), probe.rows.end(),
                     [&](const RowId& seen) { return number_of(work, seen) == row; }))
    ++row;
  output.lse[row] = std::log(999.0f);
  const auto fault = fault_of(work, probe, output, true);
  ASSERT_TRUE(fault);
  EXPECT_NE(fault->find("sees 1000 keys, its LSE counts 999"), std::string::npos) << *fault;
  output.lse[row] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(fault_of(work, probe, output, true));
}

TEST(KeyProbe, RowsThatNothingCoversAreZero) {
  const Case work{.sequence_length = 64, .pattern = {{16, 4}}, .heads = 1, .kv_heads = 1, .head_dim = 8};
  const InputTensors inputs = InputTensors::key_probe(work, 1);
  const KeyProbe probe = make_key_probe(work, inputs, {}, 5, 2);
  const Output right = ProbedOutput(work, inputs).right(probe);
  EXPECT_FALSE(fault_of(work, probe, right, true));
  ASSERT_EQ(right.lse[1], -std::numeric_limits<float>::infinity());
  Output wrong = right;
  wrong.lse[1] = 0;
  EXPECT_TRUE(fault_of(work, probe, wrong, true));
  wrong = right;
  wrong.o[8] = 0.01f;
  EXPECT_TRUE(fault_of(work, probe, wrong, true));
}

TEST(KeyProbe, WhatLiesBetweenDistantRowsIsNotRead) {
  const std::int64_t length = 1 << 16;
  const Case work = long_case(length);
  const InputTensors inputs = InputTensors::key_probe(work, 1);
  const auto at_the_ends = [&](std::int64_t position) { return position < 900 || position >= length - 900; };
  const KeyProbe probe = make_key_probe(work, inputs, {}, 5, 2, at_the_ends);
  ProbedOutput probed(work, inputs);
  Output output = probed.right(probe);
  std::int64_t elements = 0;
  OutputReader read = reader(output);
  read.o = [&elements, o = read.o](std::int64_t first, std::span<float> to) {
    elements += std::ssize(to);
    o(first, to);
  };
  EXPECT_FALSE(probe_fault(compare_probe(work, probe, read, all_rows(work), 2)));
  EXPECT_LE(elements, 1800 * work.heads * work.head_dim);
  for (const RowId& row : {probe.rows.front(), probe.rows[probe.rows.size() / 2], probe.rows.back()}) {
    Output wrong = output;
    wrong.o[number_of(work, row) * static_cast<std::size_t>(work.head_dim)] += 1;
    EXPECT_TRUE(fault_of(work, probe, wrong, false)) << row.position;
  }
}

TEST(KeyProbe, ShortExponentialsMoveAllRowsToOneSide) {
  for (const Dtype dtype : kDtypes) {
    Case work = long_case(kLong / 8);
    work.dtype = dtype;
    const InputTensors inputs = InputTensors::key_probe(work, 11);
    const KeyProbe probe = make_key_probe(work, inputs, {}, 5, 2);
    const Output right = ProbedOutput(work, inputs).right(probe);
    const auto fault = [&](const Output& output, Exponentials kind) {
      return probe_fault(compare_probe(work, probe, reader(output), all_rows(work), 2, kind));
    };
    const bool narrow = dtype != Dtype::fp32;
    const double most = 0x1p-13;  // of fp32 nothing is allowed
    for (const double by : {-0.9, 0.9, 1.1}) {
      Output moved = right;
      for (float& lse : moved.lse) lse += static_cast<float>(by * most);
      EXPECT_EQ(!fault(moved, Exponentials::short_ones), narrow && std::abs(by) < 1)
          << to_string(dtype) << by;
      EXPECT_TRUE(fault(moved, Exponentials::exact)) << to_string(dtype) << by;
      moved.lse[7] = right.lse[7];  // a row whose exponentials are exact
      EXPECT_EQ(!fault(moved, Exponentials::short_ones), narrow && std::abs(by) < 1)
          << to_string(dtype) << by;
      for (const double one : {-0.1 * by, 2.1 * by}) {
        moved.lse[7] = right.lse[7] + static_cast<float>(one * most);
        EXPECT_TRUE(fault(moved, Exponentials::short_ones)) << to_string(dtype) << by << " " << one;
      }
    }
  }
}

// By O alone; with an LSE, rows of up to 2^16 keys tell besides.
TEST(KeyProbe, SaysInHowManyRowsOneKeyShows) {
  const auto telling = [](std::int64_t length, Dtype dtype) {
    Case work = long_case(length);
    work.dtype = dtype;
    const InputTensors inputs = InputTensors::key_probe(work, 11);
    const KeyProbe probe = make_key_probe(work, inputs, {}, 5, 2);
    const Output output = ProbedOutput(work, inputs).right(probe);
    OutputReader o_alone = reader(output);
    o_alone.lse = nullptr;
    const ProbeErrors errors = compare_probe(work, probe, o_alone, all_rows(work), 2);
    EXPECT_EQ(errors.rows, std::ssize(probe.rows));
    return static_cast<double>(errors.telling) / static_cast<double>(errors.rows);
  };
  EXPECT_EQ(telling(4 * kLong, Dtype::fp32), 1);
  EXPECT_EQ(telling(2 * kLong, Dtype::bf16), 1);
  EXPECT_EQ(telling(2 * kLong, Dtype::fp16), 1);
}

TEST(KeyProbe, FindingsOfRanksAddUp) {
  const Case work{.sequence_length = 60, .pattern = {{30, 1}}, .heads = 2, .kv_heads = 1, .head_dim = 8};
  const InputTensors inputs = InputTensors::key_probe(work, 1);
  const KeyProbe whole = make_key_probe(work, inputs, {}, 5, 2);
  Output output = ProbedOutput(work, inputs).right(whole);
  const auto judge = [&] {
    ProbeErrors all;
    for (std::int64_t rank = 0; rank < 2; ++rank) {
      const auto owned = [rank](std::int64_t position) { return position / 30 == rank; };
      const KeyProbe probe = make_key_probe(work, inputs, {}, 5, 1, owned);
      EXPECT_EQ(probe.rows.size(), 60u);
      const Output own{{output.o.begin() + rank * 480, output.o.begin() + (rank + 1) * 480},
                       {output.lse.begin() + rank * 60, output.lse.begin() + (rank + 1) * 60}};
      const OutputRows rows{
          .count = 60,
          .number = [rank](const RowId& row) { return (row.position - rank * 30) * 2 + row.head; },
          .id =
              [rank](std::int64_t number) {
                return RowId{.head = number % 2, .position = rank * 30 + number / 2};
              }};
      all.add(probe_errors_from_json(to_json(compare_probe(work, probe, reader(own), rows, 1))));
    }
    EXPECT_EQ(all.rows, 120);
    return probe_fault(all);
  };
  EXPECT_FALSE(judge());
  output.lse[97] = std::log(32.0f);
  const auto fault = judge();
  ASSERT_TRUE(fault);
  EXPECT_NE(fault->find("position 48, head 1 sees 30 keys, its LSE counts 32"), std::string::npos) << *fault;
}

}  // namespace
}  // namespace hilbench
