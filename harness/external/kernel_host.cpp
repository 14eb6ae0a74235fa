#include "harness/external/kernel_host.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/counters/counted_caches.hpp"
#include "harness/counters/counters.hpp"
#include "harness/device/device.hpp"
#include "harness/external/counters_json.hpp"
#include "harness/external/hosted_case.hpp"
#include "harness/external/kernel_library.hpp"
#include "kernels/base/text/error.hpp"
#include "kernels/base/text/text.hpp"
#include "kernels/case/rounding.hpp"
#include "kernels/machine/gpu.hpp"
#include "kernels/machine/host.hpp"

namespace hilbench {
namespace {

using nlohmann::json;

constexpr std::size_t kGuardBytes = 4096;  // around what a kernel writes; a multiple of its alignment
constexpr std::byte kGuard{0xa5};
constexpr std::byte kNan{
    0xff};  // of every dtype, if all bytes have it: an output that was not written is NaN
constexpr std::size_t kReadAtOnce = std::size_t{16} << 20;
static_assert(sizeof(hilbench_tile) == 12 * sizeof(std::int32_t), "as the file of tiles has them");

std::atomic<bool> forked{false};

// Why the case is skipped.
class CannotCompute : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

[[noreturn]] void blame(const std::string& what, const std::string& why = "") {
  throw EnvironmentError({.what = what, .why = why});
}

// Memory that a kernel writes, with marks before and behind it.
class GuardedBuffer {
 public:
  GuardedBuffer() = default;
  GuardedBuffer(Device& device, const char* name, std::size_t bytes)
      : name_(name), bytes_(bytes), whole_(device.allocate(bytes + 2 * kGuardBytes)) {
    device.fill(whole_, kGuard);
    fill(device);
  }
  void* data() const { return static_cast<std::byte*>(whole_.data()) + kGuardBytes; }
  std::size_t bytes() const { return bytes_; }
  void fill(Device& device) {
    Buffer inner = part();
    device.fill(inner, kNan);
  }
  void read(Device& device, std::size_t first, std::size_t count, void* to) const {
    device.download(part(), first, count, to);
  }
  // Throws EnvironmentError if a mark was overwritten.
  void check(Device& device) const {
    if (whole_.bytes == 0) return;
    std::vector<std::byte> mark(kGuardBytes);
    for (const std::size_t at : {std::size_t{0}, kGuardBytes + bytes_}) {
      device.download(whole_, at, kGuardBytes, mark.data());
      if (std::any_of(mark.begin(), mark.end(), [](std::byte value) { return value != kGuard; }))
        blame(fmt::format("the kernel writes {} {}", at == 0 ? "before" : "behind the end of", name_));
    }
  }

 private:
  Buffer part() const { return {.memory = std::shared_ptr<void>(whole_.memory, data()), .bytes = bytes_}; }

  const char* name_ = "";
  std::size_t bytes_ = 0;
  Buffer whole_;
};

class KernelHost {
 public:
  explicit KernelHost(std::filesystem::path file) : file_(std::move(file)) {}
  ~KernelHost() {
    if (prepared_ && library_->table().release != nullptr) library_->table().release(state_);
  }
  KernelHost(const KernelHost&) = delete;
  KernelHost& operator=(const KernelHost&) = delete;

  json answer(const json& request) {
    const std::string what = request.at("do");
    if (what == "hello") return hello();
    if (what == "load") return load(request);
    if (what == "inputs") return take_inputs(request, request.at("changed"));
    if (what == "run") return run(request.at("executions"));
    if (what == "read") return read(request);
    if (what == "count") return counted(request);
    blame(fmt::format("a library is not asked to {}", what));
  }

 private:
  json hello() {
    library_.emplace(file_);
    const hilbench_kernel& table = library_->table();
    // All programs of a comparison are greeted at once: so their contexts are created side by side.
    const char* device = std::getenv("HILBENCH_DEVICE");
    if ((table.devices & HILBENCH_ON_CUDA) != 0 && device != nullptr && device == std::string_view("cuda"))
      device_ = open_cuda_device(0);
    json devices = json::array();
    if ((table.devices & HILBENCH_ON_CPU) != 0) devices.push_back("cpu");
    if ((table.devices & HILBENCH_ON_CUDA) != 0) devices.push_back("cuda");
    json said = {{"protocol", 2},      {"name", library_->name()}, {"version", library_->version()},
                 {"devices", devices}, {"kernel", true},           {"counts", true}};
    if (table.tile_rows > 0) said["tile_rows"] = table.tile_rows;
    return said;
  }

  json load(const json& request) {
    case_ = std::make_unique<HostedCase>(request.at("case"), request.at("kernel"));
    const hilbench_kernel& table = library_->table();
    if (table.why_not != nullptr)
      if (const char* reason = call("why_not", [&] { return table.why_not(&**case_); }); reason != nullptr)
        throw CannotCompute(one_line(reason, 300));
    const char* cache = std::getenv("HILBENCH_CACHE");
    untimed_ = cache != nullptr && cache == std::string_view("warm");
    if ((*case_)->on_cuda == 0)
      device_ = open_cpu_device((*case_)->threads);
    else if (!device_)
      device_ = open_cuda_device(0);
    allocate(request.at("kernel"));
    take_inputs(request, json::array({"q", "k", "v"}));
    prepare();
    constexpr int kEstimates = 3;
    double ns = 0;
    for (int i = 0; i < kEstimates; ++i) ns = device_->time_ns([this] { launch(); });
    clock_ = device_->clock_for(ns);
    check_guards();
    return {{"timer", device_->name_of(clock_)},
            {"untimed", untimed_ ? 1 : 0},
            {"library", file_.filename().string()}};
  }

  void allocate(const json& kernel) {
    const HostedCase& work = *case_;
    const auto bytes = [&](std::int64_t heads) {
      return static_cast<std::size_t>(work.elements(heads) * dtype_bytes(work.dtype()));
    };
    q_ = device_->allocate(bytes(work->heads));
    k_ = device_->allocate(bytes(work->kv_heads));
    v_ = device_->allocate(bytes(work->kv_heads));
    o_ = GuardedBuffer(*device_, "o", bytes(work->heads));
    lse_ =
        GuardedBuffer(*device_, "lse",
                      static_cast<std::size_t>(work.elements(work->heads) / work->head_dim) * sizeof(float));
    slots_ = uploaded(kernel.at("slots"));
    tensors_ = {.q = q_.data(),
                .k = k_.data(),
                .v = v_.data(),
                .o = o_.data(),
                .lse = static_cast<float*>(lse_.data()),
                .slots = static_cast<const std::int32_t*>(slots_.data())};
    if (kernel.contains("tiles")) take_tiles(kernel.at("tiles"));
    allocate_workspace();
  }

  void take_tiles(const std::string& path) {
    tiles_ = uploaded(path);
    host_tiles_.resize(tiles_.bytes / sizeof(hilbench_tile));
    device_->download(tiles_, host_tiles_.data());
    tensors_.tiles = static_cast<const hilbench_tile*>(tiles_.data());
    tensors_.host_tiles = host_tiles_.data();
    tensors_.tile_count = std::ssize(host_tiles_);
  }

  void allocate_workspace() {
    const hilbench_kernel& table = library_->table();
    if (table.workspace_bytes == nullptr) return;
    const std::int64_t bytes = call("workspace_bytes", [&] { return table.workspace_bytes(&**case_); });
    const std::int64_t most =
        (*case_)->on_cuda != 0 ? survey_gpus().gpus.front().memory_bytes : available_memory();
    if (bytes < 0 || bytes > most)
      blame(fmt::format("the kernel declares {:.2f} GiB of workspace", static_cast<double>(bytes) / 0x1p30),
            fmt::format("expects 0 to the {:.2f} GiB that there are", static_cast<double>(most) / 0x1p30));
    if (bytes == 0) return;
    workspace_ = GuardedBuffer(*device_, "its workspace", static_cast<std::size_t>(bytes));
    tensors_.workspace = workspace_.data();
  }

  Buffer uploaded(const std::string& path) {
    Buffer to = device_->allocate(static_cast<std::size_t>(std::filesystem::file_size(path)));
    upload(path, to);
    return to;
  }

  // Throws EnvironmentError unless the file fills the buffer.
  void upload(const std::string& path, Buffer& to) {
    std::ifstream file(path, std::ios::binary);
    std::vector<char> part(std::min(to.bytes, kReadAtOnce));
    for (std::size_t done = 0; done < to.bytes; done += part.size()) {
      part.resize(std::min(part.size(), to.bytes - done));
      if (!file.read(part.data(), static_cast<std::streamsize>(part.size())))
        blame("a file of inputs is too short", path);
      device_->upload(part.data(), part.size(), to, done);
    }
  }

  json take_inputs(const json& paths, const json& changed) {
    for (const auto& [name, buffer] : {std::pair{"q", &q_}, {"k", &k_}, {"v", &v_}})
      if (std::find(changed.begin(), changed.end(), name) != changed.end())
        upload(paths.at(name).get<std::string>(), *buffer);
    o_.fill(*device_);
    lse_.fill(*device_);
    device_->synchronize();
    return json::object();
  }

  void prepare() {
    const hilbench_kernel& table = library_->table();
    if (table.prepare == nullptr) return;
    expect_done("prepare", call("prepare", [&] { return table.prepare(&**case_, &tensors_, &state_); }));
    prepared_ = true;
  }

  void launch() {
    expect_done("launch",
                call("launch", [this] { return library_->table().launch(state_, &tensors_, nullptr); }));
  }

  // Nothing that the library does in a call leaves this process but through an answer.
  template <class Body>
  static auto call(const char* name, const Body& body) -> decltype(body()) {
    try {
      const auto value = body();
      if (forked) blame(fmt::format("{} forks", name), "a kernel computes in the process that calls it");
      return value;
    } catch (const Error&) {
      throw;
    } catch (const std::exception& error) {
      blame(fmt::format("{} throws an exception", name), one_line(error.what(), 300));
    } catch (...) {
      blame(fmt::format("{} throws an exception", name));
    }
  }

  void expect_done(const char* name, std::int32_t status) const {
    if (status == 0) return;
    const auto text = library_->table().error_text;
    const char* said = text != nullptr ? text(status) : nullptr;
    blame(fmt::format("{} returns {}", name, status), said != nullptr ? one_line(said, 300) : "");
  }

  // What waited or other variants ran before, so with warm caches an untimed execution goes first. The mean
  // of all but the first stands for each of them: what is short is timed together.
  json run(std::int64_t executions) {
    std::vector<double> times;
    const auto time = [&](std::int64_t count) {
      return device_->time_ns([this] { launch(); }, clock_, count);
    };
    if (executions > 0 && untimed_) launch();
    if (executions > 0) times.push_back(time(1));
    if (executions > 1) times.resize(static_cast<std::size_t>(executions), time(executions - 1));
    return {{"times_ns", times}};
  }

  json read(const json& request) {
    device_->synchronize();
    check_guards();
    const std::int64_t rows = case_->elements((*case_)->heads) / (*case_)->head_dim;
    std::vector<std::int64_t> wanted;
    if (request.contains("rows")) wanted = request.at("rows").get<std::vector<std::int64_t>>();
    const bool all = !request.contains("rows");
    if (std::any_of(wanted.begin(), wanted.end(), [&](std::int64_t row) { return row < 0 || row >= rows; }))
      blame("a row that is read is none of the case");
    write_rows(request.at("o"), o_, case_->dtype(), (*case_)->head_dim, all, rows, wanted);
    write_rows(request.at("lse"), lse_, Dtype::fp32, 1, all, rows, wanted);
    return {{"lse", true}};
  }

  // In fp32: all rows of `width` elements, or those that are wanted.
  void write_rows(const std::string& path, const GuardedBuffer& from, Dtype dtype, std::int64_t width,
                  bool all, std::int64_t rows, const std::vector<std::int64_t>& wanted) {
    std::ofstream file(path, std::ios::binary);
    const auto row_bytes = static_cast<std::size_t>(width * dtype_bytes(dtype));
    std::vector<std::byte> stored;
    std::vector<float> values;
    const auto put = [&](std::int64_t first, std::int64_t count) {
      stored.resize(static_cast<std::size_t>(count) * row_bytes);
      values.resize(static_cast<std::size_t>(count * width));
      from.read(*device_, static_cast<std::size_t>(first) * row_bytes, stored.size(), stored.data());
      widen(dtype, stored.data(), values);
      file.write(reinterpret_cast<const char*>(values.data()),
                 static_cast<std::streamsize>(values.size() * sizeof(float)));
    };
    const auto at_once = static_cast<std::int64_t>(std::max<std::size_t>(1, kReadAtOnce / row_bytes));
    if (all)
      for (std::int64_t first = 0; first < rows; first += at_once)
        put(first, std::min(at_once, rows - first));
    for (const std::int64_t row : wanted) put(row, 1);
    if (!file.flush()) blame("the output cannot be written", path);
  }

  // As a worker counts its own variants; the first count is not kept. One process at a time has the counters
  // of a GPU, so none stay open.
  json counted(const json& request) {
    const CounterSet set =
        counter_set(request.at("set").get<std::string>(),
                    counter_target((*case_)->on_cuda != 0 ? DeviceKind::cuda : DeviceKind::cpu));
    const bool cold = request.at("cold");
    const auto once = [&] {
      CountedCaches caches(
          cold, [this] { device_->evict_caches(); }, [this] { launch(); });
      return count(
          set, (*case_)->threads, [&] { caches.restore(); }, [this] { launch(); });
    };
    if ((*case_)->on_cuda != 0) once();
    const auto counters = once();
    close_counters();
    device_->synchronize();
    return {{"counters", counters_json(counters)}};
  }

  void check_guards() {
    device_->synchronize();
    for (const GuardedBuffer* each : {&o_, &lse_, &workspace_}) each->check(*device_);
  }

  const std::filesystem::path file_;
  std::optional<KernelLibrary> library_;
  std::unique_ptr<HostedCase> case_;
  std::unique_ptr<Device> device_;
  Buffer q_, k_, v_, slots_, tiles_;
  GuardedBuffer o_, lse_, workspace_;
  std::vector<hilbench_tile> host_tiles_;
  hilbench_tensors tensors_ = {};
  void* state_ = nullptr;
  bool prepared_ = false;
  bool untimed_ = false;  // whether an execution goes before the timed ones of a request
  Clock clock_ = Clock::ordinary;
};

// What the library prints is no answer. Null if the system has no descriptor left.
std::FILE* stream_of_answers() {
  const int answers = ::dup(STDOUT_FILENO);
  if (answers < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return nullptr;
  return ::fdopen(answers, "w");
}

}  // namespace

int kernel_host_main(const std::filesystem::path& library) {
  std::FILE* answers = stream_of_answers();
  // A forked child would answer beside this process.
  const int handled = ::pthread_atfork(
      nullptr, [] { forked = true; }, [] { ::_exit(1); });
  if (answers == nullptr || handled != 0) return 4;
  KernelHost host(library);
  const pid_t self = ::getpid();
  for (std::string line; std::getline(std::cin, line);) {
    json answer;
    try {
      answer = host.answer(json::parse(line));
    } catch (const CannotCompute& reason) {
      answer = {{"unsupported", reason.what()}};
    } catch (const std::exception& error) {
      answer = {{"error", one_line(error.what(), 1000)}};
    }
    if (::getpid() != self) ::_exit(1);  // of a fork that no handler saw
    const std::string text = answer.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
    if (std::fputs(text.c_str(), answers) < 0 || std::fflush(answers) != 0) return 4;
  }
  return 0;
}

}  // namespace hilbench
