#include "harness/measure/key_probe.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <type_traits>
#include <utility>

#include "harness/measure/drawn_rows.hpp"
#include "harness/measure/mask_sums.hpp"
#include "harness/measure/window_sums.hpp"
#include "kernels/base/text/error.hpp"
#include "kernels/case/pattern.hpp"
#include "kernels/case/rounding.hpp"
#include "kernels/case/windows.hpp"

namespace hilbench {
namespace {

constexpr std::int64_t kProbedRows = 1 << 14;
constexpr std::int64_t kEnds = 128;         // of them the first and the last rows of all
constexpr std::int64_t kLseRows = 1 << 16;  // read at a time
// Elements of O that cost about as much time to read as a copy of its own costs (8 us from an H100).
constexpr std::int64_t kCheapGap = 1 << 14;
constexpr std::int64_t kMostRead = 1 << 22;  // elements of O
constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::int64_t slot_of(std::span<const std::int32_t> slots, std::int64_t position) {
  return slots.empty() ? position : slots[static_cast<std::size_t>(position)];
}

// Rows whose keys in one branch begin with the same one: each sees the first few of one list.
struct Stream {
  std::int64_t batch = 0, kv_head = 0, first = 0, step = 1;
  struct Use {
    std::int64_t keys = 0;
    std::size_t row = 0;
  };
  std::vector<Use> uses;  // ascending number of keys
};

std::vector<Stream> streams_of(const Case& work, const KeyProbe& probe, std::size_t branch) {
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, Stream> found;
  for (std::size_t i = 0; i < probe.rows.size(); ++i) {
    const RowId& row = probe.rows[i];
    const VisibleKeys keys =
        visible_range(work, row.head, static_cast<std::int64_t>(branch), slot_of(probe.slots, row.position));
    if (keys.count == 0) continue;
    const std::int64_t kv_head = kv_head_of(work, row.head);
    Stream& stream = found[{row.batch, kv_head, keys.first}];
    stream.batch = row.batch, stream.kv_head = kv_head, stream.first = keys.first, stream.step = keys.step;
    stream.uses.push_back({keys.count, i});
  }
  std::vector<Stream> streams;
  for (auto& [key, stream] : found) {
    std::sort(stream.uses.begin(), stream.uses.end(),
              [](const auto& a, const auto& b) { return a.keys < b.keys; });
    streams.push_back(std::move(stream));
  }
  return streams;
}

// Adds the sums of one stream to its rows. Sums are exact: integers below 2^24.
void add_sums(const Case& work, const InputTensors& inputs, const std::vector<std::int32_t>& position_of,
              const Stream& stream, KeyProbe& probe) {
  const auto width = static_cast<std::size_t>(work.head_dim);
  std::vector<float> sum(width, 0.0f), v(width);
  std::int64_t next = 0;
  for (const Stream::Use& use : stream.uses) {
    for (; next < use.keys; ++next) {
      const std::int64_t key = stream.first + next * stream.step;
      const std::int64_t position = slot_of(position_of, key);
      inputs.read(
          Tensor::v,
          ((stream.batch * work.sequence_length + position) * work.kv_heads + stream.kv_head) * work.head_dim,
          v);
      for (std::size_t d = 0; d < width; ++d) sum[d] += v[d];
    }
    for (std::size_t d = 0; d < width; ++d) {
      probe.sums[use.row * width + d] += sum[d];
      probe.sizes[use.row * width + d] += std::abs(sum[d]);
    }
  }
}

// Keys of all branches, and how far a probability 1/n, stored in the dtype, may be from it.
struct RowKeys {
  std::int64_t count = 0;
  double rounding = 0;  // relative, of the worst branch
};

RowKeys keys_of(const Case& work, const KeyProbe& probe, const RowId& row) {
  RowKeys keys;
  for (std::size_t b = 0; b < work.pattern.size(); ++b) {
    const std::int64_t slot = slot_of(probe.slots, row.position);
    const std::int64_t count = has_windows(work)
                                   ? visible_count(work, slot)
                                   : visible_range(work, row.head, static_cast<std::int64_t>(b), slot).count;
    if (count == 0) continue;
    keys.count += count;
    const float probability = 1 / static_cast<float>(count);
    const double stored = round_to(work.dtype, probability);
    keys.rounding = std::max(keys.rounding, std::abs(stored * static_cast<double>(count) - 1));
  }
  return keys;
}

// ln n in fp32: a few roundings of the logarithm, and two of every merge of partial results.
double lse_tolerance(const Case& work, std::int64_t keys) {
  const double size = std::max(1.0, std::log(static_cast<double>(std::max<std::int64_t>(keys, 1))));
  return lse_roundings(work) * unit_roundoff(Dtype::fp32) * size;
}

// `moved`: how far short exponentials may move an LSE, below 0 or above it.
ProbedRow compare_lse(const Case& work, const KeyProbe& probe, const RowId& row, float lse, double moved) {
  ProbedRow probed{.row = row, .keys = keys_of(work, probe, row).count, .lse = lse};
  probed.tolerance = lse_tolerance(work, probed.keys);
  const double exact = probed.keys > 0 ? std::log(static_cast<double>(probed.keys)) : -kInfinity;
  const double expected = std::clamp(probed.lse, exact + std::min(moved, 0.0), exact + std::max(moved, 0.0));
  if (probed.lse != expected) probed.error = std::abs(probed.lse - expected);
  if (std::isnan(probed.error)) probed.error = kInfinity;
  return probed;
}

// Tolerances in keys: what rounding may do to a sum, and the sum itself.
struct SumTolerance {
  double relative = 0, floor = 0;
  double of(double size) const { return relative * size + floor; }
};

// `relative`: rounding of O, of the results of branches and of probabilities, half a unit of the dtype
// each, and of the weights of branches in fp32. `floor`: sums of probabilities other than 1 are rounded in
// fp32; at 2^20 keys it is a quarter of a key.
SumTolerance sum_tolerance(const Case& work, const RowKeys& keys) {
  const auto roundings = static_cast<double>(3 + work.pattern.size());
  return {.relative = roundings * half_unit(work.dtype) + 2 * keys.rounding + lse_tolerance(work, keys.count),
          .floor = std::max(0.125, static_cast<double>(keys.count) * 0x1p-22)};
}

struct ComparedSums {
  ProbedRow row;
  bool telling = false;  // one key more or less would have shown
};

ComparedSums compare_sums(const Case& work, const KeyProbe& probe, std::size_t i, std::span<const float> o,
                          bool has_lse) {
  const RowKeys keys = keys_of(work, probe, probe.rows[i]);
  const auto n = static_cast<double>(std::max<std::int64_t>(keys.count, 1));
  const SumTolerance tolerance = sum_tolerance(work, keys);
  ComparedSums compared{.row = {.row = probe.rows[i], .keys = keys.count}};
  compared.telling = keys.count == 0 || (has_lse && 1 / n > 2 * lse_tolerance(work, keys.count));
  for (std::size_t d = 0; d < o.size(); ++d) {
    const double sum = probe.sums[i * o.size() + d], allowed = tolerance.of(probe.sizes[i * o.size() + d]);
    double error = std::abs(o[d] * n - sum);
    if (std::isnan(error)) error = kInfinity;
    // One key changes O from S / n to (S -+ 1) / (n -+ 1): by at least (1 - |S| / n) n / (n + 1) keys.
    if ((1 - std::abs(sum) / n) * n / (n + 1) > 2 * allowed) compared.telling = true;
    const ProbedRow element{
        .row = probe.rows[i], .keys = keys.count, .error = error, .tolerance = keys.count > 0 ? allowed : 0};
    if (element.ratio() > compared.row.ratio()) compared.row = element;
  }
  return compared;
}

void keep_worse(ProbedRow& worst, const ProbedRow& seen) {
  if (seen.ratio() > worst.ratio()) worst = seen;
}

// compare(i) of rows 0 to `count` gives their ComparedSums: adds them to `worst` and returns how many are
// telling.
template <class Compare>
std::int64_t compare_rows(std::int64_t count, int threads, ProbedRow& worst, const Compare& compare) {
  std::vector<ProbedRow> worsts(static_cast<std::size_t>(threads));  // of each thread
  std::int64_t telling = 0;
#pragma omp parallel num_threads(threads) if (count > 1024) reduction(+ : telling)
  {
    ProbedRow mine;
#pragma omp for schedule(static) nowait
    for (std::int64_t i = 0; i < count; ++i) {
      const ComparedSums compared = compare(i);
      keep_worse(mine, compared.row);
      telling += compared.telling ? 1 : 0;
    }
    worsts[static_cast<std::size_t>(omp_get_thread_num())] = mine;
  }
  for (const ProbedRow& row : worsts) keep_worse(worst, row);
  return telling;
}

// How far short exponentials may move an LSE: twice as far as the median of some rows, since a library may
// compute 16 of them at a time, and the last few keys of a row exactly. 0 if that is more than they may.
double moved_by(const Case& work, const KeyProbe& probe, const OutputRows& rows, std::span<const float> lse) {
  std::vector<double> moved;
  for (std::size_t i = 0; i < lse.size(); ++i) {
    const std::int64_t keys = keys_of(work, probe, rows.id(static_cast<std::int64_t>(i))).count;
    if (keys > 0 && std::isfinite(lse[i])) moved.push_back(lse[i] - std::log(static_cast<double>(keys)));
  }
  if (moved.empty()) return 0;
  const auto middle = moved.begin() + static_cast<std::ptrdiff_t>(moved.size() / 2);
  std::ranges::nth_element(moved, middle);
  return std::abs(*middle) <= 0x1p-13 ? 2 * *middle : 0;  // docs/method.md, Verification
}

void compare_lses(const Case& work, const KeyProbe& probe, const OutputReader& output, const OutputRows& rows,
                  int threads, Exponentials kind, ProbeErrors& errors) {
  std::vector<float> lse;
  double moved = 0;
  for (std::int64_t first = 0; first < rows.count; first += kLseRows) {
    const std::int64_t count = std::min(kLseRows, rows.count - first);
    lse.resize(static_cast<std::size_t>(count));
    output.lse(first, lse);
    if (first == 0 && kind == Exponentials::short_ones && work.dtype != Dtype::fp32)
      moved = moved_by(work, probe, rows, lse);
    compare_rows(count, threads, errors.lse, [&](std::int64_t i) {
      return ComparedSums{
          compare_lse(work, probe, rows.id(first + i), lse[static_cast<std::size_t>(i)], moved)};
    });
  }
}

// Rows that lie near each other in O, and what lies between them, are read at once.
void compare_outputs(const Case& work, const KeyProbe& probe, const OutputReader& output,
                     const OutputRows& rows, int threads, ProbeErrors& errors) {
  struct Stored {
    std::int64_t row;    // in O
    std::size_t probed;  // of the probe
  };
  std::vector<Stored> stored;
  for (std::size_t i = 0; i < probe.rows.size(); ++i) stored.push_back({rows.number(probe.rows[i]), i});
  std::ranges::sort(stored, {}, &Stored::row);
  const std::int64_t gap = kCheapGap / work.head_dim, most = kMostRead / work.head_dim;
  const auto width = static_cast<std::size_t>(work.head_dim);
  std::vector<float> o;
  for (std::size_t begin = 0, end = 0; begin < stored.size(); begin = end) {
    const std::int64_t first = stored[begin].row;
    for (end = begin + 1; end < stored.size(); ++end)
      if (stored[end].row - stored[end - 1].row > gap || stored[end].row - first >= most) break;
    o.resize(static_cast<std::size_t>(stored[end - 1].row - first + 1) * width);
    output.o(first * work.head_dim, o);
    const auto compare = [&](std::int64_t i) {
      const Stored& row = stored[begin + static_cast<std::size_t>(i)];
      const auto at = static_cast<std::size_t>(row.row - first) * width;
      return compare_sums(work, probe, row.probed, std::span(o).subspan(at, width), output.lse != nullptr);
    };
    errors.telling += compare_rows(static_cast<std::int64_t>(end - begin), threads, errors.o, compare);
  }
}

}  // namespace

double half_unit(Dtype dtype) {
  return dtype == Dtype::fp32 ? 0x1p-24 : dtype == Dtype::bf16 ? 0x1p-9 : 0x1p-12;
}

std::vector<RowId> probed_rows(const Case& work, std::uint64_t seed) {
  const std::int64_t count = all_rows(work).count;
  std::vector<std::int64_t> ends;
  for (std::int64_t i = 0; i < kEnds; ++i) ends.insert(ends.end(), {i, count - 1 - i});
  return rows_with(work, std::move(ends), seed, kProbedRows);
}

VisibleKeys visible_range(const Case& work, std::int64_t head, std::int64_t branch_index,
                          std::int64_t position) {
  if (!head_runs_branch(work, head, branch_index)) return {};
  const Branch& branch = work.pattern[static_cast<std::size_t>(branch_index)];
  const std::int64_t segment = position / branch.segment_length;
  const std::int64_t offset = offset_of(work, static_cast<std::size_t>(branch_index), kv_head_of(work, head));
  const std::int64_t first = segment_begin(branch, segment) + offset;
  if (work.queries == Queries::dilated && (position < first || (position - first) % branch.dilation != 0))
    return {};
  std::int64_t end = segment_end(work, branch, segment);
  if (work.mask == Mask::causal) end = std::min(end, position + 1);
  if (end <= first) return {};
  return {first, branch.dilation, (end - 1 - first) / branch.dilation + 1};
}

KeyProbe make_key_probe(const Case& work, const InputTensors& inputs, const ComputedFunction& function,
                        std::uint64_t seed, int threads,
                        const std::function<bool(std::int64_t position)>& owned) {
  const std::span<const std::int32_t> slots = function.slots;
  KeyProbe probe{.slots = {}, .rows = probed_rows(work, seed)};
  if (!function.queries_stay) probe.slots.assign(slots.begin(), slots.end());
  if (owned) std::erase_if(probe.rows, [&](const RowId& row) { return !owned(row.position); });
  std::vector<std::int32_t> position_of(slots.size());
  for (std::size_t t = 0; t < slots.size(); ++t)
    position_of[static_cast<std::size_t>(slots[t])] = static_cast<std::int32_t>(t);
  const bool dropout = drops(dropout_of(work));
  if (dropout) leave_few_rows(work, probe.rows);
  probe.sums.resize(probe.rows.size() * static_cast<std::size_t>(work.head_dim));
  probe.sizes.resize(probe.sums.size());
  if (dropout) {
    add_kept_sums(work, inputs, threads, probe);
    return probe;
  }
  if (has_mask_blocks(work)) {
    add_mask_sums(work, inputs, position_of, threads, probe);
    return probe;
  }
  if (has_windows(work)) {
    add_window_sums(work, inputs, position_of, threads, probe);
    return probe;
  }
  for (std::size_t branch = 0; branch < work.pattern.size(); ++branch) {
    const std::vector<Stream> streams = streams_of(work, probe, branch);
    const std::int64_t count = std::ssize(streams);
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (std::int64_t i = 0; i < count; ++i)  // a row is in one stream of a branch
      add_sums(work, inputs, position_of, streams[static_cast<std::size_t>(i)], probe);
  }
  return probe;
}

void ProbeErrors::add(const ProbeErrors& other) {
  rows += other.rows;
  telling += other.telling;
  keep_worse(o, other.o);
  keep_worse(lse, other.lse);
  for (std::size_t i = 0; i < gradients.size(); ++i) keep_worse(gradients[i], other.gradients[i]);
}

nlohmann::json to_json(const ProbeErrors& errors) {
  static_assert(std::is_trivially_copyable_v<ProbeErrors>);
  std::vector<std::uint8_t> bytes(sizeof(ProbeErrors));
  std::memcpy(bytes.data(), &errors, bytes.size());
  return nlohmann::json::binary(std::move(bytes));
}

ProbeErrors probe_errors_from_json(const nlohmann::json& json) {
  ProbeErrors errors;
  const std::vector<std::uint8_t>& bytes = json.get_binary();
  if (bytes.size() != sizeof errors)
    throw EnvironmentError({.what = "the errors of a key probe are not of this build",
                            .why = fmt::format("{} bytes, {} are expected", bytes.size(), sizeof errors)});
  std::memcpy(&errors, bytes.data(), sizeof errors);
  return errors;
}

ProbeErrors compare_probe(const Case& work, const KeyProbe& probe, const OutputReader& output,
                          const OutputRows& rows, int threads, Exponentials kind) {
  ProbeErrors errors{.rows = std::ssize(probe.rows)};
  compare_outputs(work, probe, output, rows, threads, errors);
  if (output.lse) compare_lses(work, probe, output, rows, threads, kind, errors);
  return errors;
}

ProbeErrors compare_gradient_probe(const Case& work, const GradientProbe& probe, const OutputReader& output,
                                   int threads) {
  ProbeErrors errors;
  const auto width = static_cast<std::size_t>(work.head_dim);
  for (const Gradient which : kGradients) {
    const ProbedGradient& expected = probe.gradients[number_of(which)];
    const OutputRows all = all_rows(rows_of(work, which));
    const auto rows = static_cast<std::int64_t>(expected.rows.size());
    std::vector<float> found(expected.values.size());
    for (std::size_t i = 0; i < expected.rows.size(); ++i)
      output.gradients[number_of(which)](all.number(expected.rows[i]) * work.head_dim,
                                         std::span(found).subspan(i * width, width));
    errors.rows += rows;
    errors.telling += compare_rows(rows, threads, errors.gradients[number_of(which)], [&](std::int64_t i) {
      const auto row = static_cast<std::size_t>(i);
      ComparedSums compared{.row = {.row = expected.rows[row]}, .telling = expected.telling[row] != 0};
      for (std::size_t at = row * width; at < (row + 1) * width; ++at) {
        ProbedRow element{.row = expected.rows[row],
                          .error = std::abs(static_cast<double>(found[at]) - expected.values[at]),
                          .tolerance = expected.allowed[at]};
        if (std::isnan(element.error)) element.error = kInfinity;
        keep_worse(compared.row, element);
      }
      return compared;
    });
  }
  return errors;
}

std::optional<std::string> probe_fault(const ProbeErrors& errors) {
  for (const Gradient which : kGradients)
    if (const ProbedRow& worst = errors.gradients[number_of(which)]; worst.error > worst.tolerance)
      return fmt::format(
          "gradient probe: {} of the row at {} does not sum the right pairs: off by {:.3g}, tolerance {:.3g}",
          to_string(which), row_text(worst.row), worst.error, worst.tolerance);
  const ProbedRow &lse = errors.lse, &o = errors.o;
  if (lse.error > lse.tolerance)
    return fmt::format("key probe: the row at {} sees {} keys, its LSE counts {:.8g}", row_text(lse.row),
                       lse.keys, std::exp(lse.lse));
  if (o.error > o.tolerance)
    return fmt::format(
        "key probe: the row at {}, of {} keys, does not sum the right ones: off by {:.3g} keys, "
        "tolerance {:.3g}",
        row_text(o.row), o.keys, o.error, o.tolerance);
  return std::nullopt;
}

}  // namespace hilbench
