#include "kernels/machine/host_memory.hpp"

#include <fmt/format.h>
#include <hwy/aligned_allocator.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <new>
#include <sstream>
#include <utility>
#include <vector>

namespace hilbench {
namespace {

constexpr std::size_t kLargePage = std::size_t{2} << 20;
constexpr std::size_t kCacheLine = 64;
constexpr double kEnough = 0.9;  // share of a mapping that must be on the pages asked for

std::size_t round_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

// The address ranges of living buffers.
class Ranges {
 public:
  void add(const void* begin, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    const auto first = reinterpret_cast<std::uintptr_t>(begin);
    ends_[first] = first + bytes;
  }
  void remove(const void* begin) {
    const std::lock_guard lock(mutex_);
    ends_.erase(reinterpret_cast<std::uintptr_t>(begin));
  }
  bool meet(std::uintptr_t first, std::uintptr_t end) {
    const std::lock_guard lock(mutex_);
    const auto after = ends_.lower_bound(end);
    return after != ends_.begin() && std::prev(after)->second > first;
  }

 private:
  std::mutex mutex_;
  std::map<std::uintptr_t, std::uintptr_t> ends_;  // by begin
};
Ranges& ranges() {
  static Ranges all;
  return all;
}

// Pages that may be read and written inside of a reservation that may not: so the kernel joins no two
// mappings, and reports each apart.
std::shared_ptr<void> map_pages(std::size_t bytes, PageSize pages) {
  const std::size_t used = round_up(std::max<std::size_t>(bytes, 1), kLargePage),
                    reserved = used + kLargePage;
  void* const all = mmap(nullptr, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED) throw std::bad_alloc();
  const std::shared_ptr<void> reservation(all, [reserved](void* held) { munmap(held, reserved); });
  const auto begin = round_up(reinterpret_cast<std::uintptr_t>(all), kLargePage);
  void* const memory = reinterpret_cast<void*>(begin);
  if (mprotect(memory, used, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
  // Fails if the kernel has no huge pages, which why_not_pages() says: then all pages are ordinary ones.
  static_cast<void>(madvise(memory, used, pages == PageSize::of_2m ? MADV_HUGEPAGE : MADV_NOHUGEPAGE));
  ranges().add(memory, used);
  return {memory, [reservation](void* held) { ranges().remove(held); }};
}

// For Highway, which asks for memory and then chooses where in it the workspace starts.
void* map_for_highway(void* to, std::size_t bytes) {
  auto& [mapping, pages] = *static_cast<std::pair<std::shared_ptr<void>, PageSize>*>(to);
  try {
    mapping = map_pages(bytes, pages);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  return mapping.get();
}

struct Mapping {
  std::uintptr_t begin = 0, end = 0;
  double resident_kib = 0, huge_kib = 0;
};

// What /proc/self/smaps says of each mapping that holds a buffer. Its blocks begin with "BEGIN-END rw-p ..."
// and go on with lines "Rss:  12 kB".
std::vector<Mapping> mappings_of_buffers() {
  std::vector<Mapping> found;
  std::ifstream in("/proc/self/smaps");
  bool holds_buffer = false;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    if (name.empty()) continue;
    if (name.back() != ':') {
      Mapping mapping;
      char dash = 0;
      std::istringstream(name) >> std::hex >> mapping.begin >> dash >> mapping.end;
      holds_buffer = dash == '-' && ranges().meet(mapping.begin, mapping.end);
      if (holds_buffer) found.push_back(mapping);
    } else if (holds_buffer && name == "Rss:") {
      words >> found.back().resident_kib;
    } else if (holds_buffer && name == "AnonHugePages:") {
      words >> found.back().huge_kib;
    }
  }
  std::erase_if(found, [](const Mapping& mapping) { return mapping.resident_kib <= 0; });
  return found;
}

}  // namespace

std::shared_ptr<void> allocate_buffer(std::size_t bytes, PageSize pages) {
  if (pages != PageSize::standard) return map_pages(bytes, pages);
  // Large buffers start on a 2 MiB boundary, so that every variant gets pages of the same size as far as the
  // kernel's setting for huge pages allows.
  const std::size_t alignment = bytes >= kLargePage ? kLargePage : kCacheLine;
  const std::size_t rounded = round_up(std::max<std::size_t>(bytes, 1), alignment);
  void* memory = std::aligned_alloc(alignment, rounded);
  if (memory == nullptr) throw std::bad_alloc();
  ranges().add(memory, rounded);
  return {memory, [](void* held) {
            ranges().remove(held);
            std::free(held);
          }};
}

std::shared_ptr<void> allocate_workspace(std::size_t bytes, PageSize pages) {
  std::pair<std::shared_ptr<void>, PageSize> made{nullptr, pages};
  const bool mapped = pages != PageSize::standard;
  void* memory = hwy::AllocateAlignedBytes(bytes, mapped ? map_for_highway : nullptr, &made);
  if (memory == nullptr) throw std::bad_alloc();
  if (mapped) return {std::move(made.first), memory};
  return {memory, [](void* held) { hwy::FreeAlignedBytes(held, nullptr, nullptr); }};
}

std::shared_ptr<float[]> allocate_floats(std::int64_t count, PageSize pages) {
  return std::static_pointer_cast<float[]>(
      allocate_workspace(static_cast<std::size_t>(count) * sizeof(float), pages));
}

std::optional<HugeShare> huge_share() {
  HugeShare share{.least = 1, .mean = 0, .most = 0};
  double resident_kib = 0, huge_kib = 0;
  for (const Mapping& mapping : mappings_of_buffers()) {
    const double own = mapping.huge_kib / mapping.resident_kib;
    share.least = std::min(share.least, own);
    share.most = std::max(share.most, own);
    resident_kib += mapping.resident_kib;
    huge_kib += mapping.huge_kib;
  }
  if (resident_kib == 0) return std::nullopt;
  share.mean = huge_kib / resident_kib;
  return share;
}

std::optional<std::string> pages_fault(PageSize pages) {
  if (pages == PageSize::standard) return std::nullopt;
  const std::optional<HugeShare> share = huge_share();
  const auto fault = [&](const std::string& what) {
    return fmt::format("pages {}: {}", to_string(pages), what);
  };
  if (!share) return fault("/proc/self/smaps does not say on which pages the buffers are");
  if (pages == PageSize::of_2m && share->least < kEnough)
    return fault(
        fmt::format("the system put {:.0f} % of a buffer on 2 MiB pages, less than {:.0f} %; free memory "
                    "may be in pieces",
                    100 * share->least, 100 * kEnough));
  if (pages == PageSize::of_4k && share->most > 1 - kEnough)
    return fault(fmt::format("the system put {:.0f} % of a buffer on 2 MiB pages", 100 * share->most));
  return std::nullopt;
}

}  // namespace hilbench
