#include "harness/measure/processor_use.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "kernels/machine/processor_limits.hpp"

namespace hilbench {
namespace {

nlohmann::json number_or_null(std::optional<double> number) {
  return number ? nlohmann::json(*number) : nlohmann::json(nullptr);
}

}  // namespace

ProcessorUse::Look ProcessorUse::look() {
  Look look{.threads = {}, .throttled_s = throttled_s()};
  std::error_code ignored;  // also of threads that end meanwhile
  for (const auto& folder : std::filesystem::directory_iterator("/proc/self/task", ignored)) {
    std::ifstream in(folder.path() / "schedstat");  // nanoseconds that it ran, and waited for a core
    const std::string name = folder.path().filename();
    int thread = 0;
    double ran_ns = 0, waited_ns = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), thread).ec == std::errc() &&
        in >> ran_ns >> waited_ns)
      look.threads[thread] = {ran_ns * 1e-9, waited_ns * 1e-9};
  }
  return look;
}

ProcessorUse::ProcessorUse() : allowed_cores_(hilbench::allowed_cores()), since_(look()) {
  throttled_s_.assign(since_.throttled_s.size(), 0);
}

void ProcessorUse::pause() {
  if (std::exchange(paused_, true)) return;
  const Look now = look();
  for (const auto& [thread, times] : now.threads) {
    const auto before = since_.threads.find(thread);
    const auto [ran_s, waited_s] = before == since_.threads.end() ? std::pair(0.0, 0.0) : before->second;
    ran_s_ += std::max(0.0, times.first - ran_s);
    waited_s_ += std::max(0.0, times.second - waited_s);
  }
  if (now.throttled_s.size() != throttled_s_.size()) return throttled_s_.clear();  // it moved to other groups
  for (std::size_t i = 0; i < throttled_s_.size(); ++i)
    throttled_s_[i] += now.throttled_s[i] - since_.throttled_s[i];
}

void ProcessorUse::resume() {
  if (std::exchange(paused_, false)) since_ = look();
}

nlohmann::json ProcessorUse::seen() const {
  ProcessorUse now = *this;
  now.pause();
  const double wanted_s = now.ran_s_ + now.waited_s_;
  const std::optional<double> ran = wanted_s > 0 ? std::optional(now.ran_s_) : std::nullopt;
  const auto throttled = std::max_element(now.throttled_s_.begin(), now.throttled_s_.end());
  return {{"processor_s", number_or_null(ran)},
          {"waited_s", ran ? nlohmann::json(now.waited_s_) : nlohmann::json(nullptr)},
          {"processor_share", ran ? nlohmann::json(*ran / wanted_s) : nlohmann::json(nullptr)},
          {"throttled_s", throttled == now.throttled_s_.end() ? nlohmann::json(nullptr)
                                                              : nlohmann::json(std::max(0.0, *throttled))},
          {"quota_cores", number_or_null(quota_cores())},
          {"allowed_cores", allowed_cores_}};
}

}  // namespace hilbench
