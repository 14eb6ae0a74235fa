#include "baselines/gemm/blas.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "baselines/peak/peak.hpp"
#include "kernels/base/process/run_in_child.hpp"
#include "kernels/base/text/error.hpp"
#include "kernels/base/text/text.hpp"

namespace hilbench {
namespace {

constexpr const char* kPatience = "HILBENCH_BLAS_TIMEOUT_S";
constexpr double kPatience_s = 10, kMostPatience_s = 3600;  // a library that loads takes some 20 ms
// OpenBLAS maps this much for each thread that calls it (BUFFER_SIZE of x86-64), and tries for ever if it
// cannot.
constexpr std::size_t kBufferBytes = std::size_t{128} << 20;

// Values of CBLAS.
constexpr int kRowMajor = 101, kNoTranspose = 111, kTranspose = 112;
using SgemmFunction = void (*)(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha,
                               const float* a, int lda, const float* b, int ldb, float beta, float* c,
                               int ldc);

struct Library {
  SgemmFunction sgemm = nullptr;
  std::string config, core;
  std::string absence;
};

void choose_core_type() {
  const std::string core_type = blas_core_type();
  if (!core_type.empty()) setenv("OPENBLAS_CORETYPE", core_type.c_str(), 0);
}

// Without threads of its own: each would map a buffer. Programs that this process starts may have theirs.
void* open_without_threads() {
  constexpr const char* kThreads = "OPENBLAS_NUM_THREADS";
  const char* const wanted = std::getenv(kThreads);
  const std::optional<std::string> before = wanted ? std::optional<std::string>(wanted) : std::nullopt;
  setenv(kThreads, "1", 1);
  void* const handle = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  before ? setenv(kThreads, before->c_str(), 1) : unsetenv(kThreads);
  return handle;
}

Library load() {
  choose_core_type();
  void* handle = open_without_threads();
  if (handle == nullptr)
    return {.absence = fmt::format("OpenBLAS not loaded ({}); install libopenblas0", dlerror())};
  const auto find = [&](const char* name) { return dlsym(handle, name); };
  const auto set_threads = reinterpret_cast<void (*)(int)>(find("openblas_set_num_threads"));
  const auto config = reinterpret_cast<const char* (*)()>(find("openblas_get_config"));
  const auto core = reinterpret_cast<const char* (*)()>(find("openblas_get_corename"));
  const auto product = reinterpret_cast<SgemmFunction>(find("cblas_sgemm"));
  if (set_threads == nullptr || config == nullptr || core == nullptr || product == nullptr)
    return {.absence = "libopenblas.so.0 lacks a function that OpenBLAS has; install libopenblas0"};
  set_threads(1);
  return {product, config(), core(), ""};
}

const Library& library() {
  static const Library loaded = load();
  return loaded;
}

// Why the buffers of this many further threads cannot be mapped; empty if they can.
std::string why_no_buffers(int threads) {
  const std::size_t bytes = kBufferBytes * static_cast<std::size_t>(threads);
  void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped != MAP_FAILED) munmap(mapped, bytes);
  if (mapped != MAP_FAILED) return "";
  return fmt::format("OpenBLAS cannot map its {} MiB of buffers; raise the limit on memory (ulimit -v)",
                     bytes >> 20);
}

// How long a child may try the library; nothing if the environment says what is no such time.
std::optional<double> patience_s() {
  const char* const text = std::getenv(kPatience);
  if (text == nullptr || *text == '\0') return kPatience_s;
  double seconds = 0;
  const char* const end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, seconds);
  if (error != std::errc() || stop != end || !(seconds > 0 && seconds <= kMostPatience_s))
    return std::nullopt;
  return seconds;
}

// Loads the library in a child process, where it may crash or hang.
std::string ask_for_absence() {
  const std::optional<double> patience = patience_s();
  if (!patience)
    return fmt::format("{} is '{}', not seconds from above 0 to {}", kPatience,
                       one_line(std::getenv(kPatience), 40), kMostPatience_s);
  choose_core_type();
  const ProbeFinding finding = probe(
      [] {
        return ProbeFinding{true, library().absence.empty() ? why_no_buffers(1) : library().absence};
      },
      *patience);
  if (finding.works) return finding.text;
  if (!finding.tried) return fmt::format("OpenBLAS {}", finding.text);
  return fmt::format("OpenBLAS {}; install libopenblas0 again", finding.text);
}

// FLOP/s of both products of one attention block (256 queries and keys, head_dim 64), best of some runs.
double block_rate() {
  constexpr std::int64_t kRows = 256, kKeys = 256, kDim = 64;
  const std::vector<float> q(kRows * kDim, 0.5f), k(kKeys * kDim, 0.25f);
  std::vector<float> scores(kRows * kKeys), o(kRows * kDim);
  double best_s = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 30; ++i) {
    const auto start = std::chrono::steady_clock::now();
    sgemm(Transposed::yes, kRows, kKeys, kDim, 1, q.data(), kDim, k.data(), kDim, 0, scores.data(), kKeys);
    sgemm(Transposed::no, kRows, kDim, kKeys, 1, scores.data(), kKeys, k.data(), kDim, 0, o.data(), kDim);
    best_s =
        std::min(best_s, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return 4.0 * kRows * kKeys * kDim / best_s;
}

// "0.3.21", from "OpenBLAS 0.3.21 DYNAMIC_ARCH ...".
std::string version_of(const std::string& config) {
  const std::size_t begin = config.find_first_of("0123456789");
  return begin == std::string::npos ? "" : config.substr(begin, config.find(' ', begin) - begin);
}

nlohmann::json describe() {
  if (!library().absence.empty()) return {{"name", "OpenBLAS"}, {"note", library().absence}};
  const double rate = block_rate();
  const double peak = measure_peak(1, 0.02).fp32_fma_flops;
  const std::string note = rate >= peak / 2
                               ? ""
                               : fmt::format(
                                     "the BLAS is at fault: its products reach {:.0f} % of the FMA peak; see "
                                     "OPENBLAS_CORETYPE",
                                     100 * rate / peak);
  return {{"name", "OpenBLAS"},
          {"version", version_of(library().config)},
          {"core", library().core},
          {"config", library().config},
          {"sgemm_gflops", rate / 1e9},
          {"fma_gflops", peak / 1e9},
          {"note", note}};
}

}  // namespace

std::string blas_core_type() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  // Zen 4 runs a 512-bit operation as two halves: the 256-bit kernels lose nothing and block better there.
  if (__builtin_cpu_is("amdfam19h")) return "HASWELL";
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    return "SKYLAKEX";
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "HASWELL";
#endif
  return "";
}

const std::string& blas_absence() {
  static const std::string absence = ask_for_absence();
  return absence;
}

void expect_blas_buffers(int threads) {
  static int mapped = 0;  // OpenBLAS keeps them
  if (threads <= mapped) return;
  library();  // which takes memory too
  if (std::string why = why_no_buffers(threads - mapped); !why.empty()) throw EnvironmentError({.what = why});
  mapped = threads;
}

void sgemm(Transposed b_is, std::int64_t m, std::int64_t n, std::int64_t k, float alpha, const float* a,
           std::int64_t lda, const float* b, std::int64_t ldb, float beta, float* c, std::int64_t ldc) {
  const auto narrow = [](std::int64_t value) { return static_cast<int>(value); };
  library().sgemm(kRowMajor, kNoTranspose, b_is == Transposed::yes ? kTranspose : kNoTranspose, narrow(m),
                  narrow(n), narrow(k), alpha, a, narrow(lda), b, narrow(ldb), beta, c, narrow(ldc));
}

const nlohmann::json& blas_record() {
  static const nlohmann::json record = describe();
  return record;
}

}  // namespace hilbench
