#include "harness/measure/window_sums.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "kernels/case/pattern.hpp"
#include "kernels/case/windows.hpp"

namespace hilbench {
namespace {

constexpr double kDroppedPairs = 0x1p26;  // that may be looked at, one by one

constexpr std::int64_t kElements = 8;  // of a row of V that are summed together
constexpr int kMostThreads = 16;       // each has a table of the whole grid
using Sums = std::array<std::int32_t, kElements>;

// Positions between neighbours along each dimension.
std::vector<std::int64_t> steps_of(const Case& work) {
  std::vector<std::int64_t> steps(work.windows.size(), 1);
  for (std::size_t d = work.windows.size() - 1; d-- > 0;)
    steps[d] = steps[d + 1] * work.windows[d + 1].extent;
  return steps;
}

// Elements of V of one (batch, K/V head), summed over all keys that are earlier along every dimension, in
// steps of its dilation.
class BoxSums {
 public:
  explicit BoxSums(const Case& work)
      : work_(work), steps_(steps_of(work)), sums_(static_cast<std::size_t>(work.sequence_length)) {}

  // `read(position, sums)` reads the elements at a position.
  template <class Read>
  void fill(Read read) {
    for (std::int64_t t = 0; t < work_.sequence_length; ++t) read(t, sums_[static_cast<std::size_t>(t)]);
    for (std::size_t d = 0; d < steps_.size(); ++d) {
      const WindowDimension& dimension = work_.windows[d];
      for (std::int64_t t = dimension.dilation * steps_[d]; t < work_.sequence_length; ++t)
        if (t / steps_[d] % dimension.extent >= dimension.dilation)
          add(sums_[static_cast<std::size_t>(t - dimension.dilation * steps_[d])], 1,
              sums_[static_cast<std::size_t>(t)]);
    }
  }

  // The sum over a box: with both signs over its corners.
  Sums over(const KeyBox& box) const {
    Sums sum = {};
    add_corners(box, 0, 0, 1, sum);
    return sum;
  }

 private:
  static void add(const Sums& from, std::int32_t sign, Sums& to) {
    for (std::size_t e = 0; e < from.size(); ++e) to[e] += sign * from[e];
  }
  void add_corners(const KeyBox& box, std::size_t d, std::int64_t position, std::int32_t sign,
                   Sums& sum) const {
    if (d == steps_.size()) return add(sums_[static_cast<std::size_t>(position)], sign, sum);
    const KeyRange& keys = box[d];
    add_corners(box, d + 1, position + keys.last() * steps_[d], sign, sum);
    if (keys.first >= keys.step)
      add_corners(box, d + 1, position + (keys.first - keys.step) * steps_[d], -sign, sum);
  }

  const Case& work_;
  std::vector<std::int64_t> steps_;
  std::vector<Sums> sums_;
};

// Some elements of the rows of V of one K/V head.
struct Part {
  std::int64_t batch = 0, kv_head = 0, first = 0, count = 0;
};

Part part_of(const Case& work, std::int64_t number) {
  const std::int64_t parts = (work.head_dim + kElements - 1) / kElements, first = number % parts * kElements;
  return {number / parts / work.kv_heads, number / parts % work.kv_heads, first,
          std::min(kElements, work.head_dim - first)};
}

void fill_table(const Case& work, const InputTensors& inputs, const std::vector<std::int32_t>& position_of,
                const Part& part, BoxSums& table) {
  table.fill([&](std::int64_t slot, Sums& sums) {
    const std::int64_t position = position_of.empty() ? slot : position_of[static_cast<std::size_t>(slot)];
    const std::int64_t row = (part.batch * work.sequence_length + position) * work.kv_heads + part.kv_head;
    std::array<float, kElements> v = {};
    inputs.read(Tensor::v, row * work.head_dim + part.first,
                std::span(v).first(static_cast<std::size_t>(part.count)));
    for (std::size_t e = 0; e < sums.size(); ++e) sums[e] = static_cast<std::int32_t>(v[e]);
  });
}

void add_part(const Case& work, const BoxSums& table, const Part& part, KeyProbe& probe) {
  for (std::size_t i = 0; i < probe.rows.size(); ++i) {
    const RowId& row = probe.rows[i];
    if (row.batch != part.batch || kv_head_of(work, row.head) != part.kv_head) continue;
    const std::int64_t slot =
        probe.slots.empty() ? row.position : probe.slots[static_cast<std::size_t>(row.position)];
    Sums sum = {};
    for (const KeyBox& box : visible_boxes(work, slot)) {
      const Sums of_box = table.over(box);
      for (std::size_t e = 0; e < sum.size(); ++e) sum[e] += of_box[e];
    }
    const std::size_t begin =
        i * static_cast<std::size_t>(work.head_dim) + static_cast<std::size_t>(part.first);
    for (std::size_t e = 0; e < static_cast<std::size_t>(part.count); ++e) {
      probe.sums[begin + e] = static_cast<float>(sum[e]);
      probe.sizes[begin + e] = static_cast<float>(std::abs(sum[e]));
    }
  }
}

}  // namespace

void add_window_sums(const Case& work, const InputTensors& inputs,
                     const std::vector<std::int32_t>& position_of, int threads, KeyProbe& probe) {
  const std::int64_t parts = work.batch * work.kv_heads * ((work.head_dim + kElements - 1) / kElements);
#pragma omp parallel num_threads(std::min(threads, kMostThreads))
  {
    BoxSums table(work);
#pragma omp for schedule(dynamic)
    for (std::int64_t number = 0; number < parts; ++number) {
      const Part part = part_of(work, number);
      fill_table(work, inputs, position_of, part, table);
      add_part(work, table, part, probe);
    }
  }
}

void leave_few_rows(const Case& work, std::vector<RowId>& rows) {
  double keys = 0;
  for (const Branch& branch : work.pattern)
    keys += static_cast<double>(
        selected_count(std::min(branch.segment_length, work.sequence_length), 0, branch.dilation));
  const auto most = static_cast<std::size_t>(std::max(2.0, kDroppedPairs / keys));
  if (rows.size() <= most) return;
  std::vector<RowId> few;
  for (std::size_t i = 0; i < most; ++i) few.push_back(rows[i * (rows.size() - 1) / (most - 1)]);
  rows = std::move(few);
}

void add_kept_sums(const Case& work, const InputTensors& inputs, int threads, KeyProbe& probe) {
  const auto width = static_cast<std::size_t>(work.head_dim);
  const std::int64_t rows = std::ssize(probe.rows);
#pragma omp parallel for num_threads(threads) schedule(dynamic)
  for (std::int64_t i = 0; i < rows; ++i) {
    const RowId& row = probe.rows[static_cast<std::size_t>(i)];
    const std::size_t at = static_cast<std::size_t>(i) * width;
    const std::int64_t kv_head = kv_head_of(work, row.head);
    std::vector<float> sum(width), v(width);
    for (std::int64_t branch = 0; branch < std::ssize(work.pattern); ++branch) {
      std::fill(sum.begin(), sum.end(), 0.0f);
      for (const std::int64_t key : visible_keys(work, row.head, branch, row.position)) {
        if (kept_factor(work, row.batch, row.head, branch, row.position, key) == 0) continue;
        inputs.read(Tensor::v,
                    ((row.batch * work.sequence_length + key) * work.kv_heads + kv_head) * work.head_dim, v);
        for (std::size_t d = 0; d < width; ++d) sum[d] += v[d];
      }
      for (std::size_t d = 0; d < width; ++d) {
        const float scaled = sum[d] * dropout_of(work).scale;
        probe.sums[at + d] += scaled;
        probe.sizes[at + d] += std::abs(scaled);
      }
    }
  }
}

}  // namespace hilbench
