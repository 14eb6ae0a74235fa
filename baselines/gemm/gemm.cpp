// Dilated attention from library parts. For each branch the selected rows of K and V are gathered and widened
// to fp32, once for each K/V head. Then each block of query rows of a (head, segment) visits one block of
// keys after another: scores = Q K^T by BLAS, softmax, O += P V by BLAS. Finished rows are merged into O by
// their LSE. Blocks are sized so that scores, keys and values stay in a core's L2. Operands are in position
// order; no order applies. Not handled: backward, fp16, more than one rank.
#include "baselines/gemm/gemm.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "baselines/gemm/blas.hpp"
#include "baselines/gemm/softmax.hpp"
#include "kernels/base/files/float16.hpp"
#include "kernels/case/pattern.hpp"
#include "kernels/machine/host_memory.hpp"

namespace hilbench {
namespace {

constexpr std::int64_t kKeyBlock = 256;
constexpr std::int64_t kMaxRows = 256, kMinRows = 64;  // query rows of a block
constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

// Widens `count` elements of `dtype`, from element `index` of a tensor on.
void load_row(Dtype dtype, const void* tensor, std::int64_t index, std::int64_t count, float* to) {
  if (dtype == Dtype::fp32) {
    std::memcpy(to, static_cast<const float*>(tensor) + index,
                static_cast<std::size_t>(count) * sizeof(float));
    return;
  }
  const std::uint16_t* from = static_cast<const std::uint16_t*>(tensor) + index;
  for (std::int64_t i = 0; i < count; ++i) to[i] = bf16_value(from[i]);
}

void store_row(Dtype dtype, const float* from, std::int64_t count, std::int64_t index, void* tensor) {
  if (dtype == Dtype::fp32) {
    std::memcpy(static_cast<float*>(tensor) + index, from, static_cast<std::size_t>(count) * sizeof(float));
    return;
  }
  std::uint16_t* to = static_cast<std::uint16_t*>(tensor) + index;
  for (std::int64_t i = 0; i < count; ++i) to[i] = bf16_bits(from[i]);
}

// Keys of a branch for offset 0, which is the most for any offset. Segments are `full` keys apart.
struct GatherShape {
  std::int64_t full = 0;  // selected keys of a full segment
  std::int64_t segments = 0;
  std::int64_t keys() const { return full * segments; }
};
GatherShape gather_shape(const Case& work, const Branch& branch) {
  const std::int64_t length = std::min(branch.segment_length, work.sequence_length);
  return {selected_count(length, 0, branch.dilation), segment_count(work, branch)};
}

std::int64_t max_gathered_keys(const Case& work) {
  std::int64_t keys = 0;
  for (const Branch& branch : work.pattern) keys = std::max(keys, gather_shape(work, branch).keys());
  return keys;
}

// Branches are merged in fp32: in O itself if it is fp32, else in a copy of it.
bool needs_accumulator(const Case& work) {
  return work.dtype != Dtype::fp32 && work.pattern.size() > 1;
}

std::int64_t output_elements(const Case& work) {
  return work.batch * work.sequence_length * work.heads * work.head_dim;
}

// Elements of the block of one thread: scores, Q, O, and the softmax state.
std::int64_t block_elements(const Case& work) {
  return kMaxRows * (kKeyBlock + 2 * work.head_dim + 3);
}

double workspace_elements(const Case& work, int threads) {
  const double gathered = 2.0 * static_cast<double>(work.batch) * static_cast<double>(work.kv_heads) *
                          static_cast<double>(max_gathered_keys(work)) * static_cast<double>(work.head_dim);
  return gathered + (needs_accumulator(work) ? static_cast<double>(output_elements(work)) : 0) +
         static_cast<double>(threads) * static_cast<double>(block_elements(work));
}

std::shared_ptr<float[]> allocate_zeros(std::int64_t count, PageSize pages) {
  std::shared_ptr<float[]> zeros = allocate_floats(count, pages);
  std::fill_n(zeros.get(), count, 0.0f);
  return zeros;
}

// The memory of one thread for a block of query rows.
struct Block {
  explicit Block(const Case& work)
      : memory(allocate_zeros(block_elements(work), work.pages)), visible(kMaxRows) {
    float* next = memory.get();
    const auto take = [&](std::int64_t count) { return std::exchange(next, next + count); };
    scores = take(kMaxRows * kKeyBlock);
    q = take(kMaxRows * work.head_dim);
    o = take(kMaxRows * work.head_dim);
    state = {take(kMaxRows), take(kMaxRows), take(kMaxRows)};
  }
  std::shared_ptr<float[]> memory;
  std::vector<std::int64_t> visible;  // keys of the current key block that each row sees
  float *scores, *q, *o;
  SoftmaxRows state;
};

// Query rows [row, row + rows) of one segment of one (batch, head).
struct Unit {
  std::int64_t batch = 0, head = 0, segment = 0;
  std::int64_t offset = 0;  // of the head's stream
  std::int64_t row = 0, rows = 0;
};

std::vector<Unit> units_of(const Case& work, std::int64_t branch_index, std::int64_t block_rows) {
  const Branch& branch = work.pattern[static_cast<std::size_t>(branch_index)];
  std::vector<Unit> units;
  for (std::int64_t b = 0; b < work.batch; ++b)
    for (std::int64_t head = 0; head < work.heads; ++head) {
      if (!head_runs_branch(work, head, branch_index)) continue;
      const std::int64_t offset =
          offset_of(work, static_cast<std::size_t>(branch_index), kv_head_of(work, head));
      for (std::int64_t segment = 0; segment < segment_count(work, branch); ++segment) {
        const std::int64_t length = segment_end(work, branch, segment) - segment_begin(branch, segment);
        const std::int64_t rows = query_count(work, length, offset, branch.dilation);
        for (std::int64_t row = 0; row < rows; row += block_rows)
          units.push_back({b, head, segment, offset, row, std::min(block_rows, rows - row)});
      }
    }
  if (work.mask == Mask::causal) std::reverse(units.begin(), units.end());  // the longest of a segment first
  return units;
}

// Query rows of a block: as many as still leave several blocks for each thread.
std::vector<Unit> balanced_units(const Case& work, std::int64_t branch_index, int threads) {
  std::int64_t rows = kMaxRows;
  std::vector<Unit> units = units_of(work, branch_index, rows);
  while (rows > kMinRows && static_cast<std::int64_t>(units.size()) < 4 * threads)
    units = units_of(work, branch_index, rows /= 2);
  return units;
}

class GemmExecution : public Execution {
 public:
  GemmExecution(const Case& work, int threads) : work_(work), threads_(threads) {
    const std::int64_t gathered = work.batch * work.kv_heads * max_gathered_keys(work) * work.head_dim;
    gathered_k_ = allocate_zeros(gathered, work.pages);
    gathered_v_ = allocate_zeros(gathered, work.pages);
    if (needs_accumulator(work)) accumulator_ = allocate_zeros(output_elements(work), work.pages);
    for (int t = 0; t < threads; ++t) blocks_.push_back(std::make_unique<Block>(work));
    for (std::size_t b = 0; b < work.pattern.size(); ++b)
      units_.push_back(balanced_units(work, static_cast<std::int64_t>(b), threads));
  }

  void run(const Operands& operands, const Index&) override {
    const std::int64_t rows = work_.batch * work_.sequence_length * work_.heads;
    std::fill_n(operands.lse, rows, kMinusInfinity);
    for (std::size_t b = 0; b < work_.pattern.size(); ++b) {
      const Branch& branch = work_.pattern[b];
      const std::vector<Unit>& units = units_[b];
#pragma omp parallel num_threads(threads_)
      {
        gather(operands, b);  // ends in a barrier
        Block& block = *blocks_[static_cast<std::size_t>(omp_get_thread_num())];
#pragma omp for schedule(dynamic)
        for (std::size_t u = 0; u < units.size(); ++u) {
          attend(operands, branch, units[u], block);
          merge(operands, branch, units[u], block);
        }
      }
    }
    finish(operands, rows);
  }

 private:
  // First element of row (batch, kv head, key slot) of the gathered copies.
  std::int64_t gathered_index(const GatherShape& shape, std::int64_t batch, std::int64_t kv_head,
                              std::int64_t key) const {
    return ((batch * work_.kv_heads + kv_head) * shape.keys() + key) * work_.head_dim;
  }

  // The threads of the enclosing parallel region share the work.
  void gather(const Operands& operands, std::size_t branch_number) {
    const Branch& branch = work_.pattern[branch_number];
    const GatherShape shape = gather_shape(work_, branch);
    const std::int64_t d = work_.head_dim;
#pragma omp for collapse(3) schedule(static)
    for (std::int64_t b = 0; b < work_.batch; ++b)
      for (std::int64_t g = 0; g < work_.kv_heads; ++g)
        for (std::int64_t key = 0; key < shape.keys(); ++key) {
          const std::int64_t segment = key / shape.full;
          const std::int64_t t = segment_begin(branch, segment) + offset_of(work_, branch_number, g) +
                                 key % shape.full * branch.dilation;
          if (t >= segment_end(work_, branch, segment)) continue;
          const std::int64_t from = ((b * work_.sequence_length + t) * work_.kv_heads + g) * d;
          const std::int64_t to = gathered_index(shape, b, g, key);
          load_row(work_.dtype, operands.k, from, d, gathered_k_.get() + to);
          load_row(work_.dtype, operands.v, from, d, gathered_v_.get() + to);
        }
  }

  // The row of O, Q and LSE in [batch, sequence, heads] for query row `row` of a unit's segment.
  std::int64_t tensor_row(const Branch& branch, const Unit& unit, std::int64_t row) const {
    const std::int64_t inside = work_.queries == Queries::dense ? row : unit.offset + row * branch.dilation;
    const std::int64_t t = segment_begin(branch, unit.segment) + inside;
    return (unit.batch * work_.sequence_length + t) * work_.heads + unit.head;
  }

  // Number of keys of its segment that query row `row` sees; they are the first ones.
  std::int64_t visible_count(const Branch& branch, const Unit& unit, std::int64_t row) const {
    const std::int64_t length =
        segment_end(work_, branch, unit.segment) - segment_begin(branch, unit.segment);
    if (work_.mask == Mask::full) return selected_count(length, unit.offset, branch.dilation);
    if (work_.queries == Queries::dilated) return row + 1;
    return selected_count(row + 1, unit.offset, branch.dilation);
  }

  // block.o = P V, before division by the denominators of block.state.
  void attend(const Operands& operands, const Branch& branch, const Unit& unit, Block& block) {
    const GatherShape shape = gather_shape(work_, branch);
    const std::int64_t d = work_.head_dim;
    const float scale = 1 / std::sqrt(static_cast<float>(d));
    for (std::int64_t i = 0; i < unit.rows; ++i)
      load_row(work_.dtype, operands.q, tensor_row(branch, unit, unit.row + i) * d, d, block.q + i * d);
    std::fill_n(block.state.maximum, unit.rows, kMinusInfinity);
    std::fill_n(block.state.denominator, unit.rows, 0.0f);
    const std::int64_t first =
        gathered_index(shape, unit.batch, kv_head_of(work_, unit.head), unit.segment * shape.full);
    const std::int64_t keys = visible_count(branch, unit, unit.row + unit.rows - 1);
    for (std::int64_t key = 0; key < keys; key += kKeyBlock) {
      const std::int64_t columns = std::min(kKeyBlock, keys - key);
      sgemm(Transposed::yes, unit.rows, columns, d, scale, block.q, d, gathered_k_.get() + first + key * d, d,
            0, block.scores, columns);
      for (std::int64_t i = 0; i < unit.rows; ++i)
        block.visible[static_cast<std::size_t>(i)] =
            std::clamp<std::int64_t>(visible_count(branch, unit, unit.row + i) - key, 0, columns);
      softmax_block(block.scores, columns, {block.visible.data(), static_cast<std::size_t>(unit.rows)},
                    block.state);
      if (key > 0)
        for (std::int64_t i = 0; i < unit.rows; ++i)
          if (block.state.rescale[i] != 1)
            for (std::int64_t e = 0; e < d; ++e) block.o[i * d + e] *= block.state.rescale[i];
      sgemm(Transposed::no, unit.rows, d, columns, 1, block.scores, columns,
            gathered_v_.get() + first + key * d, d, key > 0 ? 1.0f : 0.0f, block.o, d);
    }
  }

  // Merges the finished rows into the result of earlier branches, weighted by softmax denominators
  // (LongNet, Eq. 10).
  void merge(const Operands& operands, const Branch& branch, const Unit& unit, Block& block) {
    const std::int64_t d = work_.head_dim;
    float* merged = work_.dtype == Dtype::fp32 ? static_cast<float*>(operands.o) : accumulator_.get();
    for (std::int64_t i = 0; i < unit.rows; ++i) {
      if (block.state.denominator[i] == 0) continue;  // no key
      const std::int64_t row = tensor_row(branch, unit, unit.row + i);
      float* o = block.o + i * d;
      const float lse = block.state.maximum[i] + std::log(block.state.denominator[i]);
      const float earlier = operands.lse[row], largest = std::max(lse, earlier);
      const float sum = std::exp(lse - largest) + std::exp(earlier - largest);
      const float weight = std::exp(lse - largest) / sum / block.state.denominator[i];
      for (std::int64_t e = 0; e < d; ++e) o[e] *= weight;
      if (earlier != kMinusInfinity) {
        const float kept = std::exp(earlier - largest) / sum;
        for (std::int64_t e = 0; e < d; ++e) o[e] += kept * merged[row * d + e];
      }
      operands.lse[row] = largest + std::log(sum);
      if (work_.dtype != Dtype::fp32 && accumulator_ == nullptr)
        store_row(work_.dtype, o, d, row * d, operands.o);
      else
        std::copy_n(o, d, merged + row * d);
    }
  }

  // Zeroes the rows that no branch covers, and rounds the others if they were merged in fp32.
  void finish(const Operands& operands, std::int64_t rows) const {
    const std::int64_t d = work_.head_dim;
    const std::vector<float> zeros(static_cast<std::size_t>(d), 0.0f);
#pragma omp parallel for num_threads(threads_) schedule(static)
    for (std::int64_t row = 0; row < rows; ++row) {
      if (operands.lse[row] == kMinusInfinity)
        store_row(work_.dtype, zeros.data(), d, row * d, operands.o);
      else if (accumulator_ != nullptr)
        store_row(work_.dtype, accumulator_.get() + row * d, d, row * d, operands.o);
    }
  }

  Case work_;
  int threads_;
  std::shared_ptr<float[]> gathered_k_, gathered_v_;  // [batch][kv head][segment][key][head_dim]
  std::shared_ptr<float[]> accumulator_;        // [batch][sequence][heads][head_dim], see needs_accumulator
  std::vector<std::unique_ptr<Block>> blocks_;  // one for each thread
  std::vector<std::vector<Unit>> units_;        // one list for each branch
};

Refusal why_not(const Case& work, const Variant&) {
  if (work.pass != Pass::forward) return "gemm computes the forward pass only";
  if (work.dtype == Dtype::fp16) return "gemm reads fp32 and bf16 only";
  if (work.ring_size > 1) return "gemm runs on one rank only";
  if (!blas_absence().empty()) return blas_absence();
  return std::nullopt;
}

}  // namespace

const Implementation kGemm = {
    .name = "gemm",
    .help = "gathered rows, BLAS products around a softmax, merged by LSE",
    .kind = ImplementationKind::baseline,
    .device = DeviceKind::cpu,
    .peak_unit = [](const Case&) -> std::string_view { return "fp32_fma"; },
    .why_not = why_not,
    .workspace_bytes = [](const Case& work, int threads) { return 4 * workspace_elements(work, threads); },
    .prepare = [](const Case& work, const KernelChoice&, int threads) -> std::unique_ptr<Execution> {
      expect_blas_buffers(threads);
      blas_record();  // measures now, before anything is timed
      return std::make_unique<GemmExecution>(work, threads);
    },
    .library = [] { return blas_record(); },
};

}  // namespace hilbench
