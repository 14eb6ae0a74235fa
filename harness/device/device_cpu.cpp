#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>
#include <vector>

#include "baselines/peak/peak.hpp"
#include "harness/device/callgrind.hpp"
#include "harness/device/device.hpp"
#include "kernels/base/text/error.hpp"
#include "kernels/cpu/permute.hpp"
#include "kernels/machine/host.hpp"
#include "kernels/machine/host_memory.hpp"

namespace hilbench {
namespace {

constexpr std::size_t kCacheLine = 64;
constexpr std::int64_t kAlone = 1 << 16;  // one thread takes this many elements before others would start

// Calls work(bits of the exponent, bit of the sign), in integers of the size of an element.
template <class Work>
auto with_bits(Dtype dtype, const Work& work) {
  if (dtype == Dtype::fp32) return work(std::uint32_t{0x7f800000}, std::uint32_t{0x80000000});
  if (dtype == Dtype::bf16) return work(std::uint16_t{0x7f80}, std::uint16_t{0x8000});
  return work(std::uint16_t{0x7c00}, std::uint16_t{0x8000});
}

class CpuDevice final : public Device {
 public:
  CpuDevice(int threads, PageSize pages) : threads_(threads), pages_(pages) {}

  // Also on pages of 2 MiB, inside of which a buffer then moves.
  Moves moves() const override { return {.bytes = 4096, .most = 63}; }
  Buffer allocate_aligned(std::size_t bytes) override {
    try {
      return {.memory = allocate_buffer(bytes, pages_), .bytes = bytes};
    } catch (const std::bad_alloc&) {
      throw EnvironmentError(
          {.what = fmt::format("cannot allocate {} bytes", bytes), .why = "out of memory"});
    }
  }

  void upload(const void* from, std::size_t bytes, Buffer& to, std::size_t offset) override {
    if (bytes > 0) std::memcpy(static_cast<std::byte*>(to.data()) + offset, from, bytes);
  }
  void download(const Buffer& from, std::size_t offset, std::size_t bytes, void* to) override {
    if (bytes > 0) std::memcpy(to, static_cast<const std::byte*>(from.data()) + offset, bytes);
  }
  void fill(Buffer& buffer, std::byte value) override {
    std::memset(buffer.data(), std::to_integer<int>(value), buffer.bytes);
  }

  std::int64_t count_bad(const Buffer& buffer, Dtype dtype, NegativeInfinity negative) override {
    return with_bits(dtype, [&]<class Bits>(Bits exponent, Bits sign) {
      const auto* const elements = static_cast<const Bits*>(buffer.data());
      const auto count = static_cast<std::int64_t>(buffer.bytes / sizeof(Bits));
      const Bits allowed =
          negative == NegativeInfinity::allowed ? static_cast<Bits>(sign | exponent) : Bits{0};
      std::int64_t found = 0;
#pragma omp parallel for num_threads(threads_) schedule(static) reduction(+ : found) if (count > kAlone)
      for (std::int64_t i = 0; i < count; ++i)
        found += (elements[i] & exponent) == exponent && elements[i] != allowed ? 1 : 0;
      return found;
    });
  }
  void negate(Buffer& buffer, Dtype dtype) override {
    with_bits(dtype, [&]<class Bits>(Bits, Bits sign) {
      auto* const elements = static_cast<Bits*>(buffer.data());
      const auto count = static_cast<std::int64_t>(buffer.bytes / sizeof(Bits));
#pragma omp parallel for num_threads(threads_) schedule(static) if (count > kAlone)
      for (std::int64_t i = 0; i < count; ++i) elements[i] = static_cast<Bits>(elements[i] ^ sign);
      return 0;
    });
  }

  void permute(const Buffer& from, Buffer& to, std::int64_t batch, std::span<const std::int32_t> slots,
               std::int64_t row_bytes, Direction direction) override {
    if (direction == Direction::into_order)
      permute_rows(from.data(), to.data(), batch, slots, row_bytes, threads_);
    else
      unpermute_rows(from.data(), to.data(), batch, slots, row_bytes, threads_);
  }

  double time_ns(const std::function<void()>& body, Clock, std::int64_t executions) override {
    const auto start = std::chrono::steady_clock::now();
    for (std::int64_t i = 0; i < executions; ++i) body();
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() /
           static_cast<double>(executions);
  }

  // A chain of dependent additions that takes about this long.
  void work(double ns) override {
    if (additions_per_ns_ == 0) additions_per_ns_ = measure_additions();
    add(static_cast<std::int64_t>(ns * additions_per_ns_));
  }

  std::string_view name_of(Clock) const override {
    return "steady_clock";
  }

  // Writes twice the last-level cache, from every thread.
  void evict_caches() override {
    if (scratch_.empty()) scratch_.resize(2 * last_level_bytes());
    const std::int64_t lines = static_cast<std::int64_t>(scratch_.size() / kCacheLine);
#pragma omp parallel for num_threads(threads_) schedule(static)
    for (std::int64_t line = 0; line < lines; ++line) ++scratch_[static_cast<std::size_t>(line) * kCacheLine];
  }

  // On a busy machine, neither all threads together nor one thread may reach their peak during a measurement.
  // A result below `suspect` is therefore compared with the best of many one-thread peaks times the threads.
  std::optional<double> peak_flops(std::string_view unit, double suspect) override {
    constexpr double kGlance_s = 0.005;
    constexpr double kLook_s = 0.05;
    constexpr int kAttempts = 40;
    for (const Bf16Products products : available_bf16_products()) {
      if (unit_of(products) != unit) continue;
      double peak = measure_bf16_flops(products, threads_, kGlance_s);
      for (int attempt = 0; attempt < kAttempts && peak < suspect; ++attempt)
        peak = std::max(peak, threads_ * measure_bf16_flops(products, 1, kLook_s));
      return peak;
    }
    return std::nullopt;
  }

  void profile(const std::function<void()>& body) override {
    count_by_callgrind(body);
  }

  EnergyReading energy() override {
    return read_rapl();
  }

 private:
  static void add(std::int64_t count) {
    double sum = 1;
    for (std::int64_t i = 0; i < count; ++i) {
      sum += 1e-9;
      asm volatile("" : "+x"(sum));  // keeps the loop
    }
  }

  static double measure_additions() {
    constexpr std::int64_t kCount = 200'000;
    double best_ns = 1e18;
    for (int attempt = 0; attempt < 9; ++attempt) {
      const auto start = std::chrono::steady_clock::now();
      add(kCount);
      const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
      best_ns = std::min(best_ns, took.count());
    }
    return kCount / std::max(best_ns, 1.0);
  }

  static std::size_t last_level_bytes() {
    std::int64_t bytes = std::int64_t{32} << 20;
    for (const CacheLevel& cache : inspect_host().data_caches) bytes = std::max(bytes, cache.bytes);
    return static_cast<std::size_t>(bytes);
  }

  int threads_;
  PageSize pages_;
  double additions_per_ns_ = 0;  // 0: not measured yet
  std::vector<unsigned char> scratch_;
};

}  // namespace

std::unique_ptr<Device> open_cpu_device(int threads, PageSize pages) {
  return std::make_unique<CpuDevice>(threads, pages);
}

}  // namespace hilbench
