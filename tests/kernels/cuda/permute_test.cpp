#include "kernels/cuda/shared/permute.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "kernels/cuda/runtime/status.hpp"

namespace hilbench::cuda {
namespace {

bool has_device() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
}

template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(const std::vector<T>& values) : bytes_(values.size() * sizeof(T)) {
    HILBENCH_CUDA(cudaMalloc(&memory_, std::max<std::size_t>(bytes_, 1)));
    HILBENCH_CUDA(cudaMemcpy(memory_, values.data(), bytes_, cudaMemcpyHostToDevice));
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(memory_); }

  T* get() const { return static_cast<T*>(memory_); }
  std::vector<T> read() const {
    std::vector<T> values(bytes_ / sizeof(T));
    HILBENCH_CUDA(cudaMemcpy(values.data(), memory_, bytes_, cudaMemcpyDeviceToHost));
    return values;
  }

 private:
  void* memory_ = nullptr;
  std::size_t bytes_;
};

std::vector<std::uint8_t> random_bytes(std::size_t count) {
  std::vector<std::uint8_t> bytes(count);
  std::mt19937 random(7);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
  return bytes;
}

std::vector<std::int32_t> shuffled(std::int64_t rows) {
  std::vector<std::int32_t> slots(static_cast<std::size_t>(rows));
  std::iota(slots.begin(), slots.end(), 0);
  std::shuffle(slots.begin(), slots.end(), std::mt19937(3));
  return slots;
}

// to[b, slots[t]] = from[b, t], a row at a time.
std::vector<std::uint8_t> moved_to_slots(const std::vector<std::uint8_t>& from, std::int64_t batch,
                                         const std::vector<std::int32_t>& slots, std::int64_t row_bytes) {
  std::vector<std::uint8_t> to(from.size());
  const auto rows = static_cast<std::int64_t>(slots.size());
  for (std::int64_t b = 0; b < batch; ++b)
    for (std::int64_t t = 0; t < rows; ++t)
      std::memcpy(&to[static_cast<std::size_t>((b * rows + slots[static_cast<std::size_t>(t)]) * row_bytes)],
                  &from[static_cast<std::size_t>((b * rows + t) * row_bytes)],
                  static_cast<std::size_t>(row_bytes));
  return to;
}

class PermuteRows : public testing::TestWithParam<std::tuple<int, int, int>> {};

TEST_P(PermuteRows, IsExactAndTurnsBack) {
  if (!has_device()) GTEST_SKIP() << "needs a GPU";
  const auto [batch, rows, row_bytes] = GetParam();
  const std::vector<std::uint8_t> bytes = random_bytes(static_cast<std::size_t>(batch) * rows * row_bytes);
  const std::vector<std::int32_t> slots = shuffled(rows);
  const DeviceArray<std::int32_t> device_slots(slots);
  const DeviceArray<std::uint8_t> from(bytes);
  const DeviceArray<std::uint8_t> to(std::vector<std::uint8_t>(bytes.size(), 0xee));
  const DeviceArray<std::uint8_t> back(std::vector<std::uint8_t>(bytes.size(), 0xee));
  permute_rows(from.get(), to.get(), batch, rows, device_slots.get(), row_bytes, RowMove::to_slots, nullptr);
  permute_rows(to.get(), back.get(), batch, rows, device_slots.get(), row_bytes, RowMove::to_positions,
               nullptr);
  EXPECT_EQ(to.read(), moved_to_slots(bytes, batch, slots, row_bytes));
  EXPECT_EQ(back.read(), bytes);
}

INSTANTIATE_TEST_SUITE_P(Shapes, PermuteRows,
                         testing::Combine(testing::Values(1, 3), testing::Values(1, 2, 63, 257, 1000),
                                          testing::Values(4, 12, 16, 24, 40, 128, 1200, 4096, 20480, 65536)));

TEST(PermuteRowsInput, AddressesMayBeAlignedTo4Only) {
  if (!has_device()) GTEST_SKIP() << "needs a GPU";
  constexpr std::int64_t kRows = 100, kRowBytes = 64, kShift = 4;
  const std::vector<std::uint8_t> bytes = random_bytes(kRows * kRowBytes + kShift);
  const std::vector<std::int32_t> slots = shuffled(kRows);
  const DeviceArray<std::int32_t> device_slots(slots);
  const DeviceArray<std::uint8_t> from(bytes);
  const DeviceArray<std::uint8_t> to(std::vector<std::uint8_t>(kRows * kRowBytes, 0xee));
  permute_rows(from.get() + kShift, to.get(), 1, kRows, device_slots.get(), kRowBytes, RowMove::to_slots,
               nullptr);
  EXPECT_EQ(to.read(), moved_to_slots({bytes.begin() + kShift, bytes.end()}, 1, slots, kRowBytes));
}

TEST(PermuteRowsInput, NothingToMoveIsFine) {
  EXPECT_NO_THROW(permute_rows(nullptr, nullptr, 0, 5, nullptr, 64, RowMove::to_slots, nullptr));
  EXPECT_NO_THROW(permute_rows(nullptr, nullptr, 2, 0, nullptr, 64, RowMove::to_slots, nullptr));
}

TEST(PermuteRowsInput, RowsOfOddBytesAreRefused) {
  EXPECT_THROW(permute_rows(nullptr, nullptr, 1, 5, nullptr, 6, RowMove::to_slots, nullptr),
               std::invalid_argument);
}

}  // namespace
}  // namespace hilbench::cuda
