#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "harness/device/device.hpp"
#include "tests/harness/device/values.hpp"

namespace hilbench {
namespace {

TEST(CpuDevice, BuffersStartAtOffsetsThatTheSeedDecides) {
  const auto places = [](std::uint64_t seed) {
    const auto device = open_cpu_device(1);
    device->set_offset_seed(seed);
    std::vector<std::uintptr_t> found;
    std::vector<Buffer> kept;
    for (int i = 0; i < 8; ++i) {
      kept.push_back(device->allocate(std::size_t{4} << 20));
      std::memset(kept.back().data(), 1, kept.back().bytes);
      found.push_back(reinterpret_cast<std::uintptr_t>(kept.back().data()) % (std::size_t{2} << 20));
    }
    return found;
  };
  EXPECT_EQ(places(0), std::vector<std::uintptr_t>(8, 0));
  EXPECT_EQ(places(5), places(5));
  EXPECT_NE(places(5), places(6));
  for (const std::uintptr_t place : places(5)) {
    EXPECT_EQ(place % 1024, 0u);
    EXPECT_LT(place, 64u * 1024 + 63u * 4096);
  }
}

TEST(CpuDevice, GapsAreThoseBeforeLivingBuffers) {
  const auto device = open_cpu_device(1, PageSize::of_2m);
  Buffer unmoved = device->allocate(std::size_t{4} << 20);
  EXPECT_EQ(device->gap_bytes(), 0u);
  device->set_offset_seed(5);
  const auto gap = [](const Buffer& buffer) {  // in pages of 4096 bytes
    return (reinterpret_cast<std::uintptr_t>(buffer.data()) % (std::size_t{2} << 20) + 4095) / 4096 * 4096;
  };
  Buffer one = device->allocate(std::size_t{4} << 20), other = device->allocate(std::size_t{4} << 20);
  EXPECT_GT(gap(one) + gap(other), 0u);
  EXPECT_EQ(device->gap_bytes(), gap(one) + gap(other));
  const Buffer shared = other;
  one = {};
  other = {};
  EXPECT_EQ(device->gap_bytes(), gap(shared));
}

// Inside of the first page of 2 MiB, all of which is touched.
TEST(CpuDevice, BuffersOfChosenPagesStartAtTheSameOffsets) {
  const auto places = [](PageSize pages) {
    const auto device = open_cpu_device(1, pages);
    device->set_offset_seed(5);
    std::vector<std::uintptr_t> found;
    std::vector<Buffer> kept;
    for (const std::size_t bytes :
         {std::size_t{100}, std::size_t{5000}, std::size_t{4} << 20, std::size_t{3} << 20}) {
      kept.push_back(device->allocate(bytes));
      std::memset(kept.back().data(), 1, bytes);
      found.push_back(reinterpret_cast<std::uintptr_t>(kept.back().data()) % (std::size_t{2} << 20));
    }
    return found;
  };
  const std::vector<std::uintptr_t> found = places(PageSize::of_2m);
  EXPECT_EQ(found, places(PageSize::of_4k));
  EXPECT_EQ(found[2], places(PageSize::standard)[2]) << "a large buffer";
  EXPECT_GT(*std::max_element(found.begin(), found.end()), 64u * 1024) << "moved by pages";
}

TEST(CpuDevice, HostMemoryHoldsWhatIsCopied) {
  const auto device = open_cpu_device(1);
  Buffer on_device = device->allocate(3), host = device->allocate_host(3);
  EXPECT_EQ(host.bytes, 3u);
  std::memcpy(host.data(), "abc", 3);
  device->upload(host.data(), on_device);
  device->fill(host, std::byte{0});
  device->download(on_device, host.data());
  EXPECT_EQ(std::memcmp(host.data(), "abc", 3), 0);
  EXPECT_EQ(device->allocate_host(0).bytes, 0u);
}

TEST(CpuDevice, WorksForAboutAsLongAsItIsAsked) {
  const auto device = open_cpu_device(1);
  double least = 1e18;  // of several: other programs may be running
  for (int i = 0; i < 10; ++i) least = std::min(least, device->time_ns([&] { device->work(5e6); }));
  EXPECT_GT(least, 2.5e6);
  EXPECT_LT(least, 10e6);
}

TEST(CpuDevice, ClockAgreesWithSleep) {
  const auto device = open_cpu_device(1);
  const double ns = device->time_ns([] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); });
  EXPECT_GT(ns, 20e6);
  EXPECT_LT(ns, 200e6);
}

TEST(CpuDevice, PermutesThereAndBack) {
  const auto device = open_cpu_device(2);
  Buffer from = device->allocate(6 * 8), to = device->allocate(6 * 8), back = device->allocate(6 * 8);
  const std::vector<std::int64_t> values = {1, 2, 3, 4, 5, 6};
  device->upload(values.data(), from);
  const std::vector<std::int32_t> slots = {2, 0, 1};
  device->permute(from, to, 2, slots, 8, Direction::into_order);
  std::vector<std::int64_t> got(6);
  device->download(to, got.data());
  EXPECT_EQ(got, (std::vector<std::int64_t>{2, 3, 1, 5, 6, 4}));
  device->permute(to, back, 2, slots, 8, Direction::out_of_order);
  device->download(back, got.data());
  EXPECT_EQ(got, values);
}

TEST(CpuDevice, MovesPartsOfABuffer) {
  const auto device = open_cpu_device(1);
  Buffer buffer = device->allocate(4 * 8);
  const std::vector<std::int64_t> values = {1, 2, 3, 4};
  device->upload(values.data(), buffer);
  const std::vector<std::int64_t> middle = {7, 8};
  device->upload(middle.data(), 2 * 8, buffer, 8);
  std::vector<std::int64_t> got(4), last(1);
  device->download(buffer, got.data());
  EXPECT_EQ(got, (std::vector<std::int64_t>{1, 7, 8, 4}));
  device->download(buffer, 24, 8, last.data());
  EXPECT_EQ(last.front(), 4);
}

TEST(CpuDevice, CountsAndNegatesValues) {
  for (const int threads : {1, 3}) {
    const auto device = open_cpu_device(threads);
    expect_counted_and_negated(*device);
  }
}

}  // namespace
}  // namespace hilbench
