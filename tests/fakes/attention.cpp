// Attention as docs/definitions.md defines it, for the programs of cheats.py: fp32, forward, branches. On
// demand it is wrong, row by row.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

extern "C" {

// As cheats.py has it.
struct FakeAttention {
  const float *q, *k, *v;  // [batch, length, heads or kv_heads, head_dim]
  float *o, *lse;          // [batch, length, heads, head_dim] and [batch, length, heads]
  std::int64_t batch, length, heads, kv_heads, head_dim;
  std::int64_t branches;
  const std::int64_t *segments, *dilations;
  std::int64_t causal;
  std::int64_t head_offset;      // 0 none, 1 modulo, 2 contiguous
  std::int64_t leave_out_last;   // the last key of each segment
  std::int64_t leave_out_light;  // the lightest key of a row, if it weighs less than 1 %
  std::int64_t double_first;     // the first key of a row counts twice
  std::int64_t swap_values;      // neighbouring keys swap their rows of V
  std::int64_t zero_sharp;       // rows of which one key has more than half of the weight become 0
};
}

namespace {

struct Keys {
  std::vector<std::int64_t> position;
  std::vector<float> weight;  // at first the score
};

std::int64_t offset_of(const FakeAttention& a, std::int64_t kv_head, std::int64_t dilation) {
  if (a.head_offset == 0) return 0;
  return a.head_offset == 1 ? kv_head % dilation : kv_head / ((a.kv_heads + dilation - 1) / dilation);
}

void find_keys(const FakeAttention& a, std::int64_t position, std::int64_t kv_head, Keys& keys) {
  keys.position.clear();
  for (std::int64_t i = 0; i < a.branches; ++i) {
    const std::int64_t dilation = a.dilations[i], begin = position / a.segments[i] * a.segments[i];
    const std::int64_t first = begin + offset_of(a, kv_head, dilation);
    if (position < first || (position - first) % dilation != 0) continue;
    std::int64_t end = std::min(begin + a.segments[i], a.length);
    if (a.leave_out_last) end -= dilation;
    if (a.causal) end = std::min(end, position + 1);
    for (std::int64_t key = first; key < end; key += dilation) keys.position.push_back(key);
  }
  if (a.double_first && !keys.position.empty()) keys.position.push_back(keys.position.front());
}

float product(const float* a, const float* b, std::int64_t size) {
  constexpr std::int64_t kLanes = 8;
  float lanes[kLanes] = {}, sum = 0;
  std::int64_t i = 0;
  for (; i + kLanes <= size; i += kLanes)
    for (std::int64_t lane = 0; lane < kLanes; ++lane) lanes[lane] += a[i + lane] * b[i + lane];
  for (; i < size; ++i) sum += a[i] * b[i];
  for (const float lane : lanes) sum += lane;
  return sum;
}

void attend(const FakeAttention& a, std::int64_t row, Keys& keys) {
  const std::int64_t head = row % a.heads, position = row / a.heads % a.length;
  const std::int64_t kv_head = head * a.kv_heads / a.heads, first = row / a.heads / a.length * a.length;
  float* const o = a.o + row * a.head_dim;
  std::fill_n(o, a.head_dim, 0.0f);
  a.lse[row] = -std::numeric_limits<float>::infinity();
  find_keys(a, position, kv_head, keys);
  const std::size_t count = keys.position.size();
  if (count == 0) return;
  const auto place = [&](std::int64_t key) { return ((first + key) * a.kv_heads + kv_head) * a.head_dim; };
  keys.weight.resize(count);
  const float scale = 1 / std::sqrt(static_cast<float>(a.head_dim));
  for (std::size_t j = 0; j < count; ++j)
    keys.weight[j] = scale * product(a.q + row * a.head_dim, a.k + place(keys.position[j]), a.head_dim);
  const float top = *std::max_element(keys.weight.begin(), keys.weight.end());
  float total = 0;
  for (float& weight : keys.weight) total += weight = std::exp(weight - top);
  if (a.zero_sharp && 2 > total) return;
  const auto light = std::min_element(keys.weight.begin(), keys.weight.end());
  if (a.leave_out_light && *light < total / 100) {
    total -= *light;
    *light = 0;
  }
  for (std::size_t j = 0; j < count; ++j) {
    const bool swapped = a.swap_values && (j ^ 1) < count;
    const float* const value = a.v + place(keys.position[swapped ? j ^ 1 : j]);
    const float share = keys.weight[j] / total;
    for (std::int64_t i = 0; i < a.head_dim; ++i) o[i] += share * value[i];
  }
  a.lse[row] = top + std::log(total);
}

}  // namespace

extern "C" {

// Computes `count` rows: first, first + step and so on, by their numbers in [batch, length, heads].
void fake_attend(const FakeAttention* attention, std::int64_t first, std::int64_t step, std::int64_t count) {
  Keys keys;
  for (std::int64_t i = 0; i < count; ++i) attend(*attention, first + i * step, keys);
}
}
