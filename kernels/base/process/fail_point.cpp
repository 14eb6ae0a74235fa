#include "kernels/base/process/fail_point.hpp"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstdlib>

#include "kernels/base/text/error.hpp"
#include "kernels/base/text/text.hpp"

namespace hilbench {
namespace {

constexpr const char* kVariable = "HILBENCH_FAIL_POINT";

struct NamedSignal {
  std::string_view name;
  int signal;
};
constexpr std::array kSignals = {NamedSignal{"KILL", SIGKILL}, NamedSignal{"STOP", SIGSTOP},
                                 NamedSignal{"INT", SIGINT}, NamedSignal{"TERM", SIGTERM}};

[[noreturn]] void refuse(std::string_view asked) {
  throw UsageError({.what = fmt::format("{} is '{}'", kVariable, one_line(asked, 80)),
                    .remedy = "write POINT[@TEXT][:COUNT[:SIGNAL]] with KILL, STOP, INT or TERM"});
}

// Takes the text in front of `mark` off `rest`, and the mark; all of it if there is none.
std::string_view take_until(char mark, std::string_view& rest) {
  const std::size_t end = std::min(rest.find(mark), rest.size());
  const std::string_view taken = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return taken;
}

}  // namespace

FailPoint fail_point_of(std::string_view asked) {
  FailPoint found;
  std::string_view rest = asked;
  std::string_view where = take_until(':', rest);
  const std::string_view count = take_until(':', rest);
  found.point = take_until('@', where);
  found.text = where;
  if (found.point.empty()) refuse(asked);
  if (!count.empty()) {
    const auto [stop, error] = std::from_chars(count.data(), count.data() + count.size(), found.count);
    if (error != std::errc() || stop != count.data() + count.size() || found.count < 1) refuse(asked);
  }
  if (rest.empty()) return found;
  const auto named = std::ranges::find(kSignals, rest, &NamedSignal::name);
  if (named == kSignals.end()) refuse(asked);
  found.signal = named->signal;
  return found;
}

const std::optional<FailPoint>& asked_fail_point() {
  static const std::optional<FailPoint> asked = [] {
    const char* const text = std::getenv(kVariable);
    return text == nullptr || *text == '\0' ? std::nullopt : std::optional(fail_point_of(text));
  }();
  return asked;
}

void pass_fail_point(std::string_view point, std::initializer_list<std::string_view> details) {
  static std::atomic<int> passes = 0;
  const FailPoint& asked = *asked_fail_point();
  const auto holds_text = [&](std::string_view detail) { return detail.find(asked.text) != detail.npos; };
  if (point != asked.point || (!asked.text.empty() && std::ranges::none_of(details, holds_text))) return;
  if (++passes == asked.count) ::raise(asked.signal);
}

}  // namespace hilbench
