// Moments at which a test ends or stops this process: as a power cut, a crash or a user would, but always
// there.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace hilbench {

// What HILBENCH_FAIL_POINT asks for: POINT[@TEXT][:COUNT[:SIGNAL]], for example "told_time@hilbert:2:STOP".
struct FailPoint {
  std::string point;
  std::string text;  // only passes of which a detail holds it
  int count = 1;     // which of those passes
  int signal = 9;    // KILL (the default), STOP, INT or TERM
};
// Throws UsageError if `asked` has another form.
FailPoint fail_point_of(std::string_view asked);

// What the environment asks for, read once; nothing if the variable is not set or empty.
const std::optional<FailPoint>& asked_fail_point();

// This process sends itself the signal if the environment asks for it at this pass over the point. `details`
// are the case and the variant that are in work. May be called by several threads.
void pass_fail_point(std::string_view point, std::initializer_list<std::string_view> details);

// Costs one comparison if nothing is asked for. Not for code that is timed.
inline void fail_point(std::string_view point, std::initializer_list<std::string_view> details = {}) {
  if (asked_fail_point()) pass_fail_point(point, details);
}

}  // namespace hilbench
