#include "harness/measure/inputs.hpp"

#include <algorithm>
#include <cmath>

#include "harness/measure/key_probe.hpp"
#include "harness/measure/random_values.hpp"
#include "kernels/base/files/npy.hpp"
#include "kernels/base/text/hash.hpp"
#include "kernels/case/pattern.hpp"
#include "kernels/case/rounding.hpp"
#include "kernels/case/windows.hpp"

namespace hilbench {
namespace {

constexpr float kLargestFp16 = 65504;
constexpr std::int64_t kBlockElements = 1 << 12;  // a thread makes this many at a time: they fit its L1

std::size_t number_of(Tensor which) {
  return static_cast<std::size_t>(which);
}

void round_all(Dtype dtype, std::span<float> values) {
  if (dtype == Dtype::bf16)
    for (float& value : values) value = bf16_value(bf16_bits(value));
  if (dtype == Dtype::fp16)
    for (float& value : values) value = fp16_value(fp16_bits(value));
}

// The signs that the bits of a byte stand for.
constexpr auto kSignsOfByte = [] {
  std::array<std::array<float, 8>, 256> signs = {};
  for (std::size_t byte = 0; byte < signs.size(); ++byte)
    for (std::size_t bit = 0; bit < 8; ++bit) signs[byte][bit] = (byte >> bit & 1) != 0 ? 1.0f : -1.0f;
  return signs;
}();

// Signs `first`, `first` + 1, ... of the stream `key`: one bit of a word for each.
void random_signs(std::uint64_t key, std::uint64_t first, std::span<float> to) {
  for (std::size_t i = 0; i < to.size();) {
    const std::uint64_t at = first + i;
    const std::uint64_t word = mix(key + at / 64) >> at % 64;
    const std::size_t count = std::min<std::size_t>(to.size() - i, 64 - at % 64);
    for (std::size_t bit = 0; bit < count; bit += 8)
      std::copy_n(kSignsOfByte[word >> bit & 255].begin(), std::min<std::size_t>(8, count - bit),
                  to.begin() + static_cast<std::ptrdiff_t>(i + bit));
    i += count;
  }
}

// Of a row of dO in the gradient probe: about the number of keys that the query sees, a power of two. Then
// queries that see many keys, each with a small P, weigh as much in dK and dV as those that see few.
float probe_size(const Case& work, std::uint64_t row) {
  const auto head = static_cast<std::int64_t>(row) % work.heads;
  const std::int64_t position = static_cast<std::int64_t>(row) / work.heads % work.sequence_length;
  std::int64_t keys = has_windows(work) ? visible_count(work, position) : 0;
  for (std::int64_t b = 0; !has_windows(work) && b < std::ssize(work.pattern); ++b)
    keys += visible_range(work, head, b, position).count;
  constexpr float kMost = 0x1p15f;  // in fp16
  return std::min(kMost,
                  std::exp2(std::floor(std::log2(static_cast<float>(std::max<std::int64_t>(keys, 1))))));
}

std::vector<float> file_tensor(const std::filesystem::path& file, Dtype dtype) {
  std::vector<float> values = read_npy_floats(file).values;
  round_all(dtype, values);
  return values;
}

}  // namespace

void for_each_part(std::int64_t elements, std::int64_t unit,
                   const std::function<void(std::int64_t first, std::int64_t count)>& visit) {
  const std::int64_t part = std::max<std::int64_t>(1, kPartElements / unit) * unit;
  for (std::int64_t first = 0; first < elements; first += part)
    visit(first, std::min(part, elements - first));
}

void widen_stored(Dtype dtype, const std::byte* stored, std::span<float> to, int threads) {
  constexpr std::int64_t kBlock = 4 * kBlockElements;
  const std::int64_t count = std::ssize(to), element = dtype_bytes(dtype);
#pragma omp parallel for num_threads(threads) schedule(static) if (count > 4 * kBlock)
  for (std::int64_t begin = 0; begin < count; begin += kBlock)
    widen(dtype, stored + begin * element,
          to.subspan(static_cast<std::size_t>(begin),
                     static_cast<std::size_t>(std::min(kBlock, count - begin))));
}

InputTensors::InputTensors(const Case& work, const Inputs& inputs, std::uint64_t seed) : work_(work) {
  if (inputs.source == InputSource::npy)
    held_ = std::make_shared<const std::array<std::vector<float>, kTensors>>(
        std::array{file_tensor(inputs.q, work.dtype), file_tensor(inputs.k, work.dtype),
                   file_tensor(inputs.v, work.dtype),
                   inputs.d_o.empty() ? std::vector<float>() : file_tensor(inputs.d_o, work.dtype)});
  for (std::uint64_t i = 0; i < keys_.size(); ++i) keys_[i] = mix(mix(seed) + 1 + i);
  if (work.data != DataKind::equal_rows) return;
  equal_row_.resize(static_cast<std::size_t>(work.head_dim));
  random_values(keys_[number_of(Tensor::k)], 0, equal_row_, Distribution::normal);
  double square = 0;
  for (const float value : equal_row_) square += double{value} * value;
  const auto factor = static_cast<float>(std::sqrt(static_cast<double>(work.head_dim) / square));
  for (float& value : equal_row_) value *= factor;
}

InputTensors InputTensors::second(const InputTensors& first, std::uint64_t seed) {
  InputTensors tensors(first.work_, {}, mix(seed + 2));
  tensors.set_ = InputSet::second;
  tensors.held_ = first.held_;
  return tensors;
}

InputTensors InputTensors::key_probe(const Case& work, std::uint64_t seed) {
  InputTensors tensors(work, {}, mix(seed));
  tensors.set_ = InputSet::key_probe;
  return tensors;
}

void InputTensors::keep() {
  if (set_ == InputSet::key_probe || held_) return;             // those are read quickly
  for (const Tensor which : {Tensor::q, Tensor::k, Tensor::v})  // rings, who ask for it, have no gradients
    kept_[number_of(which)] = std::make_unique<KeptElements>(work_.dtype, size(which));
}

double InputTensors::stored_bytes() const {
  const std::int64_t d_o = work_.pass == Pass::forward ? 0 : size(Tensor::d_o);
  return static_cast<double>(size(Tensor::q) + 2 * size(Tensor::k) + d_o) *
         static_cast<double>(dtype_bytes(work_.dtype));
}

std::int64_t InputTensors::size(Tensor which) const {
  const std::int64_t heads = which == Tensor::q || which == Tensor::d_o ? work_.heads : work_.kv_heads;
  return work_.batch * work_.sequence_length * heads * work_.head_dim;
}

void InputTensors::read(Tensor which, std::int64_t first, std::span<float> to) const {
  if (set_ == InputSet::key_probe && work_.pass != Pass::forward) return read_probe(which, first, to);
  if (set_ == InputSet::key_probe) {
    if (which == Tensor::v)
      return random_signs(keys_[number_of(which)], static_cast<std::uint64_t>(first), to);
    std::fill(to.begin(), to.end(), 0.0f);
    return;
  }
  if (held_ && !(*held_)[number_of(which)].empty()) {
    std::copy_n((*held_)[number_of(which)].begin() + first, to.size(), to.begin());
    if (set_ == InputSet::second && which == (work_.pass == Pass::forward ? Tensor::v : Tensor::d_o))
      for (float& value : to) value = -value;
    return;
  }
  const auto computed = [&](std::int64_t at, std::span<float> part) { compute(which, at, part); };
  if (KeptElements* kept = kept_[number_of(which)].get())
    kept->read(first, to, computed);
  else
    computed(first, to);
}

void InputTensors::compute(Tensor which, std::int64_t first, std::span<float> to) const {
  if (which == Tensor::d_o) return compute_normal(which, first, to);
  if (work_.data == DataKind::equal_rows && which == Tensor::k)
    for (std::size_t i = 0; i < to.size(); ++i)
      to[i] = equal_row_[(static_cast<std::size_t>(first) + i) % equal_row_.size()];
  else if (work_.data == DataKind::dominating_key && which != Tensor::v)
    read_dominated(which, first, to);
  else
    random_values(keys_[number_of(which)], static_cast<std::uint64_t>(first), to,
                  work_.data == DataKind::heavy_tails ? Distribution::student3 : Distribution::outliers);
  if (which == Tensor::q && work_.score_scale != 1)
    for (float& value : to) value *= static_cast<float>(work_.score_scale);
  if (work_.dtype == Dtype::fp16)
    for (float& value : to) value = std::clamp(value, -kLargestFp16, kLargestFp16);
  round_all(work_.dtype, to);
}

void InputTensors::compute_normal(Tensor which, std::int64_t first, std::span<float> to) const {
  random_values(keys_[number_of(which)], static_cast<std::uint64_t>(first), to, Distribution::normal);
  round_all(work_.dtype, to);
}

// Q has signs in its even elements and K in its odd ones, so that every score is 0. A row of V is a sign
// times one row of signs, the same for all. dO has signs times probe_size(), without the first of an even
// number: its product with a row of V is an odd number, never 0.
void InputTensors::read_probe(Tensor which, std::int64_t first, std::span<float> to) const {
  const auto width = static_cast<std::uint64_t>(work_.head_dim);
  const std::uint64_t key = keys_[number_of(which)], begin = static_cast<std::uint64_t>(first);
  if (which != Tensor::v) {
    random_signs(key, begin, to);
    float size = 1;
    for (std::size_t i = 0; i < to.size(); ++i) {
      const std::uint64_t element = (begin + i) % width;
      if (which == Tensor::d_o && (i == 0 || element == 0)) size = probe_size(work_, (begin + i) / width);
      const bool none = which == Tensor::q   ? element % 2 == 1
                        : which == Tensor::k ? element % 2 == 0
                                             : element == 0 && width % 2 == 0;
      to[i] = none ? 0 : to[i] * size;
    }
    return;
  }
  std::vector<float> common(width), signs((begin % width + to.size() + width - 1) / width);
  random_signs(mix(key), 0, common);
  random_signs(key, begin / width, signs);
  for (std::size_t i = 0; i < to.size(); ++i)
    to[i] = common[(begin + i) % width] * signs[(begin % width + i) / width];
}

void InputTensors::read_dominated(Tensor which, std::int64_t first, std::span<float> to) const {
  random_values(keys_[number_of(which)], static_cast<std::uint64_t>(first), to, Distribution::normal);
  const std::int64_t width = work_.head_dim, end = first + std::ssize(to);
  for (std::int64_t row = (first + width - 1) / width; row * width < end; ++row) {
    float& along = to[static_cast<std::size_t>(row * width - first)];
    if (which == Tensor::q)
      along = static_cast<float>(std::sqrt(static_cast<double>(width)));
    else
      along = dominates(row / work_.kv_heads % work_.sequence_length, row % work_.kv_heads) ? kDominance : 0;
  }
}

bool InputTensors::dominates(std::int64_t position, std::int64_t kv_head) const {
  return std::any_of(work_.pattern.begin(), work_.pattern.end(), [&](const Branch& branch) {
    const std::int64_t segment = position / branch.segment_length;
    const auto number = static_cast<std::size_t>(&branch - work_.pattern.data());
    const std::int64_t begin = segment_begin(branch, segment), offset = offset_of(work_, number, kv_head);
    const std::int64_t keys =
        selected_count(segment_end(work_, branch, segment) - begin, offset, branch.dilation);
    if (keys == 0) return false;
    const std::uint64_t word = mix(keys_[number_of(Tensor::k)] + static_cast<std::uint64_t>(segment));
    const std::int64_t chosen =
        work_.mask == Mask::causal ? 0 : static_cast<std::int64_t>(word % static_cast<std::uint64_t>(keys));
    return position == begin + offset + chosen * branch.dilation;
  });
}

void InputTensors::read_stored(Tensor which, std::int64_t first, std::int64_t count, std::byte* to,
                               int threads) const {
  const std::int64_t bytes = dtype_bytes(work_.dtype);
  const std::int64_t blocks = (count + kBlockElements - 1) / kBlockElements;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 4) if (blocks > 4)
  for (std::int64_t block = 0; block < blocks; ++block) {
    float values[kBlockElements];
    const std::int64_t begin = block * kBlockElements;
    const std::span<float> part(values, static_cast<std::size_t>(std::min(kBlockElements, count - begin)));
    if (const KeptElements* kept = kept_[number_of(which)].get();
        kept != nullptr && kept->copy_stored(first + begin, std::ssize(part), to + begin * bytes))
      continue;
    read(which, first + begin, part);
    narrow(work_.dtype, part, to + begin * bytes);
  }
}

}  // namespace hilbench
