#include "harness/inputs.hpp"

#include <cmath>
#include <numbers>

#include "harness/npy.hpp"
#include "harness/rounding.hpp"

namespace hilbench {
namespace {

// SplitMix64's output function (Steele, Lea, Flood 2014): a counter becomes an independent-looking word.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

double unit_interval(std::uint64_t word) {
  return (static_cast<double>(word >> 11) + 0.5) * 0x1p-53;
}

float random_value(std::uint64_t key, std::uint64_t i) {
  const std::uint64_t word = mix(key + 2 * i);
  const double radius = std::sqrt(-2.0 * std::log(unit_interval(word)));
  const double angle = 2.0 * std::numbers::pi * unit_interval(mix(key + 2 * i + 1));
  const bool outlier = mix(word) % 1000 == 0;
  return static_cast<float>(radius * std::cos(angle) * (outlier ? 10.0 : 1.0));
}

std::vector<float> random_tensor(std::int64_t size, Dtype dtype, std::uint64_t key, int threads) {
  std::vector<float> values(static_cast<std::size_t>(size));
#pragma omp parallel for num_threads(threads) schedule(static)
  for (std::int64_t i = 0; i < size; ++i)
    values[static_cast<std::size_t>(i)] = round_to(dtype, random_value(key, static_cast<std::uint64_t>(i)));
  return values;
}

std::vector<float> file_tensor(const std::filesystem::path& file, Dtype dtype) {
  std::vector<float> values = read_npy_floats(file).values;
  for (float& value : values) value = round_to(dtype, value);
  return values;
}

}  // namespace

HostTensors make_inputs(const Case& work, const Inputs& inputs, std::uint64_t seed, int threads) {
  if (inputs.source == InputSource::npy)
    return {.q = file_tensor(inputs.q, work.dtype),
            .k = file_tensor(inputs.k, work.dtype),
            .v = file_tensor(inputs.v, work.dtype)};
  const std::int64_t row = work.batch * work.sequence_length * work.head_dim;
  const std::uint64_t key = mix(seed);
  return {.q = random_tensor(row * work.heads, work.dtype, mix(key + 1), threads),
          .k = random_tensor(row * work.kv_heads, work.dtype, mix(key + 2), threads),
          .v = random_tensor(row * work.kv_heads, work.dtype, mix(key + 3), threads)};
}

}  // namespace hilbench
