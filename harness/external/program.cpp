#include "harness/external/program.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <thread>
#include <utility>

#include "baselines/external/programs.hpp"
#include "harness/external/case_json.hpp"
#include "harness/external/counters_json.hpp"
#include "harness/external/fork_server.hpp"
#include "harness/external/kernel_layout.hpp"
#include "harness/external/protocol_fault.hpp"
#include "harness/external/python.hpp"
#include "harness/external/python_package.hpp"
#include "kernels/base/process/offspring.hpp"
#include "kernels/base/text/error.hpp"
#include "kernels/base/text/json.hpp"
#include "kernels/base/text/text.hpp"
#include "kernels/case/windows.hpp"
#include "reports/records/stats.hpp"

namespace hilbench {
namespace {

using nlohmann::json;

constexpr std::size_t kLongestTimer = 40, kLongestReason = 300;
constexpr int kEmptyRequests = 3;  // of which the shortest counts
constexpr std::size_t kLongestDescription = 4000;

std::vector<std::string> command_of(const std::string& name, const External& external, SharedFile& script) {
  if (!external.library.empty()) return {"/proc/self/exe", "kernel-host", external.library.string()};
  return external.command.empty() ? python_command(embedded_script(name), script) : external.command;
}

// A picosecond to thirty years: what is computed from them stays finite and above 0.
constexpr double kShortest_ns = 1e-3, kLongest_ns = 1e18;
constexpr const char* kDurations = "from 0.001 to 1e18";

bool is_duration(const json& ns) {
  return ns.is_number() && ns.get<double>() >= kShortest_ns && ns.get<double>() <= kLongest_ns;
}

// Not blanks alone, or letters that nobody sees.
bool says_something(const std::string& text) {
  return std::ranges::any_of(text, [](unsigned char letter) { return std::isalnum(letter) != 0; });
}

json paths_of(const InputFiles& files) {
  json paths = {{"q", files.q->path()}, {"k", files.k->path()}, {"v", files.v->path()}};
  if (files.d_o)
    paths.update({{"d_o", files.d_o->path()}, {"o", files.o->path()}, {"lse", files.lse->path()}});
  return paths;
}

double processor_s_of(const std::set<pid_t>& processes) {
  return std::transform_reduce(processes.begin(), processes.end(), 0.0, std::plus(),
                               [](pid_t process) { return processor_s(process); });
}

}  // namespace

ExternalProgram::ExternalProgram(std::string kernel, const External& external, Case work, int threads,
                                 const std::vector<std::string>& gpus, int fork_server, CacheState cache)
    : kernel_(std::move(kernel)),
      name_(external_name(kernel_)),
      kind_(external.kind),
      hosted_(!external.library.empty()),
      work_(std::move(work)),
      threads_(threads),
      devices_(std::max(1, static_cast<int>(gpus.size()))),
      script_(std::make_unique<SharedFile>("script")),
      clock_(name_, work_, threads) {
  std::map<std::string, std::string> variables;
  const auto unless_set = [&](const char* name, const std::string& value) {
    if (std::getenv(name) == nullptr) variables[name] = value;
  };
  // Idle threads of LLVM's and Intel's OpenMP would compute for a fifth of a second while others are timed,
  // those of OpenBLAS for 2^26 cycles.
  unless_set("KMP_BLOCKTIME", "10");
  unless_set("OPENBLAS_THREAD_TIMEOUT", "24");
  if (work_.ring_size == 1 && work_.device == DeviceKind::cpu)
    unless_set("OMP_NUM_THREADS", std::to_string(threads));
  variables["HILBENCH_DEVICE"] = to_string(work_.device);
  variables["HILBENCH_CACHE"] = cache == CacheState::cold ? "cold" : "warm";
  if (!external.command.empty()) {
    package_ = std::make_unique<SharedFile>("python_package");
    variables["PYTHONPATH"] = python_path_with(*package_);
  }
  if (!gpus.empty()) variables["CUDA_VISIBLE_DEVICES"] = fmt::format("{}", fmt::join(gpus, ","));
  std::vector<int> inherited;
  if (external.command.empty() && can_be_forked(name_) && fork_server >= 0) {
    variables[ForkServer::kVariable] = std::to_string(fork_server);
    inherited.push_back(fork_server);
    may_be_forked_ = true;
  }
  process_ = std::make_unique<AnsweringProgram>(name_, command_of(name_, external, *script_), external.folder,
                                                variables, inherited);
  process_->send(json{{"do", "hello"}, {"protocol", kNewestProtocol}}.dump());
}

void ExternalProgram::greet() {
  if (!described_.is_null()) return;
  described_ = hear(Refusal::allowed);
  const json protocol = described_.value("protocol", json());
  if (protocol != 1 && protocol != kNewestProtocol)
    break_off(name_, fmt::format("hello needs protocol {}, or 1", kNewestProtocol), described_);
  protocol_ = protocol.get<int>();
  if (!described_.value("name", json()).is_string() || !described_.value("version", json()).is_string())
    break_off(name_, "hello needs a name and a version", described_);
  if (kind_ == ImplementationKind::kernel && described_.value("kernel", json()) != json(true))
    break_off(name_, "hello of a kernel needs `kernel` true: it reads K and V where `slots` says",
              described_);
  const std::string device(to_string(work_.device));
  const json devices = described_.value("devices", json());
  if (!devices.is_array()) break_off(name_, "hello needs a list of devices", described_);
  if (std::find(devices.begin(), devices.end(), device) == devices.end())
    throw Unsupported(fmt::format("'{}' does not run on device {} here", name_, device));
  if (work_.ring_size > 1 && described_.value("rings", json()) != json(true))
    throw Unsupported(fmt::format("ring_size {}: {} runs on one rank", work_.ring_size, kernel_));
  if (has_windows(work_) && described_.value("windows", json()) != json(true))
    throw Unsupported(fmt::format("windows: not on {}", kernel_));
  if (has_mask_blocks(work_) && described_.value("masks", json()) != json(true))
    throw Unsupported(fmt::format("mask: not on {}", kernel_));
  if (work_.pass != Pass::forward && (protocol_ == 1 || described_.value("backward", json()) != json(true)))
    throw Unsupported(fmt::format("{} computes the forward pass only", kernel_));
}

std::map<std::string, Counter> ExternalProgram::count(const std::string& set, CacheState cache) {
  const json answer = ask({{"do", "count"}, {"set", set}, {"cold", cache == CacheState::cold}});
  try {
    return counters_from_json(answer.at("counters"));
  } catch (const json::exception&) {
    break_off(name_, "count needs counters", answer);
  }
}

std::int64_t ExternalProgram::tile_rows() const {
  const json rows = described_.value("tile_rows", json());
  if (rows.is_null()) return 0;
  if (!rows.is_number_integer() || rows < 1 || rows > kMostTileRows)
    break_off(name_, fmt::format("tile_rows of hello must be 1 to {}", kMostTileRows), described_);
  return rows.get<std::int64_t>();
}

void ExternalProgram::load(const InputFiles& files, const json& kernel) {
  const std::size_t dot = kernel_.find('.');
  json request = {{"do", "load"},
                  {"case", case_json(work_, threads_)},
                  {"option", dot == std::string::npos ? "" : kernel_.substr(dot + 1)}};
  request.update(paths_of(files));
  if (files.mask) request["mask"] = files.mask->path();
  if (!kernel.is_null()) request["kernel"] = kernel;
  json loaded = ask(request, Refusal::allowed);
  script_.reset();
  const json timer = loaded.value("timer", json());
  if (!timer.is_string() || timer.get<std::string>().size() > kLongestTimer)
    break_off(name_, "load needs the name of a timer", loaded);
  timer_ = "external:" + one_line(timer.get<std::string>());
  if (has_kernel_records()) clock_.expect_kernel_records();
  if (const json permute = loaded.value("permute_ns", json()); !permute.is_null()) {
    if (!is_duration(permute))
      break_off(name_, fmt::format("permute_ns of load must be a number {}", kDurations), loaded);
    permute_ns_ = permute.get<double>();
  }
  if (const json untimed = loaded.value("untimed", json()); !untimed.is_null()) {
    if (untimed != 0 && untimed != 1)
      break_off(name_, "untimed of load is how many executions go before the timed ones: 0 or 1", loaded);
    clock_.expect_untimed(untimed.get<int>());
  }
  if (const json other = loaded.value("other_function", json()); !other.is_null()) {
    if (!other.is_string() || !says_something(other.get<std::string>()))
      break_off(name_, "other_function of load must say why it is another function", loaded);
    other_function_ = one_line(other.get<std::string>(), kLongestReason);
  }
  described_.erase("other_function");  // what hello says of it does not count
  for (const char* said : {"name", "version", "protocol", "devices", "profiles", "rings", "windows", "masks",
                           "backward", "kernel", "tile_rows"})
    loaded.erase(said);  // by the answer to hello
  described_.update(loaded);
  if (described_.dump().size() > kLongestDescription)
    break_off(name_, fmt::format("its description may have at most {} characters", kLongestDescription),
              described_);
}

bool ExternalProgram::give(const InputFiles& files, const std::vector<std::string>& changed) {
  if (protocol_ == 1) return false;
  json request = {{"do", "inputs"}, {"changed", changed}};
  request.update(paths_of(files));
  // Who takes some inputs takes all: else it would choose those on which it is verified.
  try {
    ask(request, takes_inputs_ ? Refusal::breaks_protocol : Refusal::allowed);
    return takes_inputs_ = true;
  } catch (const Unsupported&) {
    return false;
  }
}

RequestTimes ExternalProgram::timed(std::int64_t executions, std::vector<double>& ns) {
  const std::set<pid_t> watched = processes();
  const Waits waits = waits_of(watched);
  const Durations found = durations("run", "times_ns", executions, watched);
  const std::optional<double> waited_ns = waited_since(waits, found.processes);
  ns = found.ns;
  return {.executions = executions,
          .reported_ns = std::accumulate(ns.begin(), ns.end(), 0.0),
          .wall_ns = found.wall_ns,
          .processor_ns = found.processor_ns,
          .waited_ns = waited_ns};
}

ExternalProgram::Waits ExternalProgram::waits_of(const std::set<pid_t>& watched) {
  Waits waits{.own_s = waited_s(::getpid())};
  for (const pid_t process : watched) waits.program_s.merge(waited_s(process));
  return waits;
}

// Threads wait side by side: the one that waited longest counts, of the program and of this process.
std::optional<double> ExternalProgram::waited_since(const Waits& before,
                                                    const std::set<pid_t>& watched) const {
  const Waits now = waits_of(watched);
  if (may_be_forked_ || now.own_s.empty() || now.program_s.empty()) return std::nullopt;
  const auto longest = [](const std::map<pid_t, double>& from, const std::map<pid_t, double>& to) {
    double most_s = 0;
    for (const auto& [thread, waited] : to) {
      const auto at = from.find(thread);
      most_s = std::max(most_s, waited - (at == from.end() ? 0 : at->second));
    }
    return most_s;
  };
  return 1e9 * (longest(before.own_s, now.own_s) + longest(before.program_s, now.program_s));
}

std::vector<double> ExternalProgram::run(std::int64_t executions) {
  std::vector<double> ns;
  if (protocol_ > 1 && clock_.requests().empty_ns == 0)
    for (int i = 0; i < kEmptyRequests; ++i) clock_.note_empty(timed(0, ns));
  most_executions_ = std::max(most_executions_, executions);
  while (!clock_.note(timed(executions, ns)))
    ;
  return ns;
}

// The program and what it started; a fork of the server is not among them.
std::set<pid_t> ExternalProgram::processes() const {
  const std::map<pid_t, std::set<pid_t>> descendants = descendants_by_child();
  const auto own = descendants.find(process_->id());
  return own == descendants.end() ? std::set<pid_t>() : own->second;
}

bool ExternalProgram::profiles() const {
  return described_.value("profiles", json()) == json(true);
}

std::vector<double> ExternalProgram::profile(std::int64_t executions) {
  return durations("profile", "gpu_busy_ns", executions, processes(), Refusal::allowed).ns;
}

ExternalProgram::Durations ExternalProgram::durations(const char* request, const char* key,
                                                      std::int64_t executions, const std::set<pid_t>& watched,
                                                      Refusal refusal) {
  pause(watched);
  double used_s = -processor_s_of(watched);
  const auto begin = std::chrono::steady_clock::now();
  const json answer = ask({{"do", request}, {"executions", executions}}, refusal);
  const std::chrono::duration<double, std::nano> wall = std::chrono::steady_clock::now() - begin;
  used_s += processor_s_of(watched);  // at once: threads that have no more work spin for some milliseconds
  std::set<pid_t> now = processes();
  for (const pid_t process : now)
    if (!watched.contains(process)) used_s += processor_s(process);
  pause(now);
  const json times = answer.value(key, json());
  if (!times.is_array() || std::ssize(times) != executions ||
      !std::all_of(times.begin(), times.end(), is_duration))
    break_off(name_, fmt::format("{} needs {} {} {}", request, executions, key, kDurations), answer);
  return {.ns = times.get<std::vector<double>>(),
          .wall_ns = wall.count(),
          .processor_ns = 1e9 * std::max(0.0, used_s),  // what has ended takes its time along
          .processes = std::move(now)};
}

// Idle OpenMP threads spin for some milliseconds. This wait keeps the threads of one process off the cores of
// the other: until none computes any more, or for the longest time if that cannot be seen.
void ExternalProgram::pause(const std::set<pid_t>& watched) const {
  constexpr std::chrono::milliseconds kLongest{20};
  constexpr std::chrono::microseconds kLook{200};
  if (work_.device != DeviceKind::cpu) return;
  const auto end = std::chrono::steady_clock::now() + kLongest;
  const auto sleeps = [](pid_t process) { return computes(process) == false; };
  const auto quiet = [&] {
    return !rests_long_ && !may_be_forked_ && sleeps(::getpid()) && std::ranges::all_of(watched, sleeps);
  };
  do std::this_thread::sleep_for(kLook);
  while (std::chrono::steady_clock::now() < end && !quiet());
}

json ExternalProgram::ask(const json& request, Refusal refusal) {
  process_->send(request.dump());
  return hear(refusal);
}

json ExternalProgram::hear(Refusal refusal) {
  const std::string line = process_->hear();
  if (is_too_deep(line))
    break_off(name_, fmt::format("an answer may nest at most {} levels", kDeepestJson), line);
  const json answer = json::parse(line, nullptr, false);
  if (!answer.is_object()) break_off(name_, "an answer must be a JSON object on one line", line);
  if (const std::optional<std::string> twice = key_given_twice(line))
    break_off(name_, fmt::format("an answer has the key '{}' twice", one_line(*twice, 80)), line);
  const auto said = [&](const char* key) {
    const json& value = answer.at(key);
    const std::string text = one_line(value.is_string() ? value.get<std::string>() : value.dump(), 1000);
    const bool empty = value.is_null() || text.find_first_not_of(' ') == std::string::npos;
    return empty ? "it gives no reason" : text;
  };
  if (answer.contains("unsupported")) {
    if (refusal == Refusal::allowed) throw Unsupported(said("unsupported"));
    break_off(name_, "it took the case, and may not answer `unsupported` any more", answer);
  }
  if (answer.contains("error"))
    throw EnvironmentError({.what = fmt::format("'{}' reports an error", name_), .why = said("error")});
  return answer;
}

}  // namespace hilbench
