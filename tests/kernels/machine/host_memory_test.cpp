#include "kernels/machine/host_memory.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <new>
#include <sstream>
#include <vector>

#include "kernels/machine/huge_pages.hpp"
#include "tests/sanitized.hpp"

namespace hilbench {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

std::uintptr_t place_of(const std::shared_ptr<void>& memory) {
  return reinterpret_cast<std::uintptr_t>(memory.get());
}

// The line NAME of the mapping at `place` in /proc/self/smaps, without its name.
std::string told_of(std::uintptr_t place, const std::string& name) {
  std::ifstream in("/proc/self/smaps");
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    std::uintptr_t begin = 0, end = 0;
    char dash = 0;
    if (std::istringstream head(line); head >> std::hex >> begin >> dash >> end && dash == '-')
      inside = begin <= place && place < end;
    if (inside && line.starts_with(name)) return line.substr(name.size());
  }
  return "";
}

bool has_flag(std::uintptr_t place, const std::string& flag) {
  return (told_of(place, "VmFlags:") + " ").find(" " + flag + " ") != std::string::npos;
}

// Why huge pages cannot be tested here; empty if they can.
std::string no_huge_pages() {
  return why_not_pages(PageSize::of_2m, inspect_huge_pages()).value_or("");
}

TEST(HostMemory, BuffersAreOnTheHugePagesThatTheyAskFor) {
  if (const std::string why = no_huge_pages(); !why.empty()) GTEST_SKIP() << why;
  const std::shared_ptr<void> buffer = allocate_buffer(9 * kMiB, PageSize::of_2m);
  EXPECT_EQ(place_of(buffer) % (2 * kMiB), 0u);
  EXPECT_EQ(std::stoi(told_of(place_of(buffer), "Size:")), 10 * 1024) << "whole pages, in KiB";
  EXPECT_TRUE(has_flag(place_of(buffer), "hg"));
  EXPECT_EQ(huge_share(), std::nullopt) << "nothing was touched";
  std::memset(buffer.get(), 1, 9 * kMiB);
  if (const auto fault = pages_fault(PageSize::of_2m)) GTEST_SKIP() << *fault;
  EXPECT_GE(std::stoi(told_of(place_of(buffer), "AnonHugePages:")), 9 * 1024);
  ASSERT_TRUE(huge_share());
  EXPECT_GE(huge_share()->least, 0.9);
  EXPECT_LE(huge_share()->most, 1);
  ASSERT_TRUE(pages_fault(PageSize::of_4k));
  EXPECT_NE(pages_fault(PageSize::of_4k)->find("100 % of a buffer on 2 MiB pages"), std::string::npos);
}

TEST(HostMemory, BuffersAreOnTheOrdinaryPagesThatTheyAskFor) {
  if (why_not_pages(PageSize::of_4k, inspect_huge_pages())) GTEST_SKIP() << "no pages of 4 KiB";
  const std::shared_ptr<void> buffer = allocate_buffer(9 * kMiB, PageSize::of_4k);
  EXPECT_EQ(place_of(buffer) % (2 * kMiB), 0u) << "as on huge pages";
  std::memset(buffer.get(), 1, 9 * kMiB);
  EXPECT_EQ(std::stoi(told_of(place_of(buffer), "AnonHugePages:")), 0);
  ASSERT_TRUE(huge_share());
  EXPECT_EQ(huge_share()->most, 0);
  EXPECT_EQ(pages_fault(PageSize::of_4k), std::nullopt);
  ASSERT_TRUE(pages_fault(PageSize::of_2m));
  EXPECT_NE(pages_fault(PageSize::of_2m)->find("pages 2m: the system put 0 % of a buffer on 2 MiB pages"),
            std::string::npos)
      << *pages_fault(PageSize::of_2m);
  EXPECT_EQ(pages_fault(PageSize::standard), std::nullopt) << "asks for nothing";
  EXPECT_TRUE(has_flag(place_of(buffer), "nh") || !no_huge_pages().empty());
}

// So the kernel reports each, and one that is not as it should be shows.
TEST(HostMemory, EveryBufferIsAMappingOfItsOwn) {
  std::vector<std::shared_ptr<void>> buffers;
  for (int i = 0; i < 5; ++i) buffers.push_back(allocate_buffer(2 * kMiB, PageSize::of_4k));
  for (const auto& buffer : buffers)
    EXPECT_EQ(std::stoi(told_of(place_of(buffer), "Size:")), 2048) << "in KiB";
  if (const std::string why = no_huge_pages(); !why.empty()) GTEST_SKIP() << why;
  buffers.push_back(allocate_buffer(2 * kMiB, PageSize::of_2m));
  for (const auto& buffer : buffers) std::memset(buffer.get(), 1, 2 * kMiB);
  if (const auto fault = pages_fault(PageSize::of_4k); !fault) GTEST_SKIP() << "the system gave no huge page";
  EXPECT_TRUE(pages_fault(PageSize::of_2m)) << "five are not on them";
  EXPECT_EQ(huge_share()->least, 0);
  EXPECT_EQ(huge_share()->most, 1);
  EXPECT_NEAR(huge_share()->mean, 1.0 / 6, 0.01);
}

TEST(HostMemory, WorkspacesAreAlignedAndOnTheirPages) {
  for (const PageSize pages : {PageSize::standard, PageSize::of_4k, PageSize::of_2m}) {
    const std::shared_ptr<float[]> floats = allocate_floats(100'000, pages);
    std::fill_n(floats.get(), 100'000, 2.0f);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(floats.get()) % 64, 0u);
    EXPECT_EQ(floats[99'999], 2);
    if (pages == PageSize::of_4k && !no_huge_pages().empty()) continue;
    if (pages == PageSize::standard) continue;
    EXPECT_TRUE(
        has_flag(reinterpret_cast<std::uintptr_t>(floats.get()), pages == PageSize::of_2m ? "hg" : "nh"));
  }
}

TEST(HostMemory, OrdinaryBuffersAreAligned) {
  const std::shared_ptr<void> small = allocate_buffer(100, PageSize::standard);
  const std::shared_ptr<void> large = allocate_buffer(3 * kMiB, PageSize::standard);
  EXPECT_EQ(place_of(small) % 64, 0u);
  EXPECT_EQ(place_of(large) % (2 * kMiB), 0u);
  std::memset(large.get(), 1, 3 * kMiB);
  EXPECT_TRUE(huge_share()) << "whatever the system gave";
}

TEST(HostMemory, WhatIsFreedIsNeitherHeldNorLookedAt) {
  std::uintptr_t place = 0;
  {
    const std::shared_ptr<void> buffer = allocate_buffer(2 * kMiB, PageSize::of_4k);
    std::memset(buffer.get(), 1, 2 * kMiB);
    place = place_of(buffer);
    const std::shared_ptr<void> part(buffer, static_cast<std::byte*>(buffer.get()) + 7);
    EXPECT_NE(told_of(place, "Rss:"), "");
  }
  EXPECT_EQ(told_of(place, "Rss:"), "");
  void* const other = mmap(reinterpret_cast<void*>(place), kMiB, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  ASSERT_NE(other, MAP_FAILED);
  std::memset(other, 1, kMiB);
  EXPECT_EQ(huge_share(), std::nullopt) << "memory of something else";
  munmap(other, kMiB);
}

TEST(HostMemory, TooMuchIsABadAllocation) {
  for (const PageSize pages : {PageSize::standard, PageSize::of_4k, PageSize::of_2m}) {
    if (kSanitized && pages == PageSize::standard)
      continue;  // the address sanitizer ends the program instead
    EXPECT_THROW(allocate_buffer(std::size_t{1} << 60, pages), std::bad_alloc);
    EXPECT_THROW(allocate_workspace(std::size_t{1} << 60, pages), std::bad_alloc);
  }
}

}  // namespace
}  // namespace hilbench
