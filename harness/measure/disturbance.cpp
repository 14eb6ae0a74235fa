#include "harness/measure/disturbance.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace hilbench {

Disturbance::Disturbance() : before_(look()) {}

Disturbance::Look Disturbance::look() {
  Look look;
  rusage used = {};
  if (::getrusage(RUSAGE_SELF, &used) == 0) {
    const auto seconds = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    };
    look.own_cpu_s = seconds(used.ru_utime) + seconds(used.ru_stime);
    look.involuntary_switches = used.ru_nivcsw;
  }
  // proc(5): cpu user nice system idle iowait irq softirq steal, in ticks
  std::ifstream stat("/proc/stat");
  std::string cpu;
  double user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0;
  const double ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  if (stat >> cpu >> user >> nice >> system >> idle >> iowait >> irq >> softirq >> steal && ticks > 0) {
    look.busy_s = (user + nice + system + irq + softirq) / ticks;
    look.steal_s = steal / ticks;
  }
  return look;
}

nlohmann::json Disturbance::seen() const {
  const Look now = look();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  const bool known = before_.busy_s >= 0 && now.busy_s >= 0;
  const double others = (now.busy_s - before_.busy_s) - (now.own_cpu_s - before_.own_cpu_s);
  double load = 0;
  return {{"time", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))},
          {"load_average", ::getloadavg(&load, 1) == 1 ? nlohmann::json(load) : nlohmann::json()},
          {"seconds", seconds},
          {"involuntary_switches", now.involuntary_switches - before_.involuntary_switches},
          {"steal_s", known ? nlohmann::json(now.steal_s - before_.steal_s) : nlohmann::json()},
          {"other_busy_cores",
           known && seconds > 0 ? nlohmann::json(std::max(0.0, others / seconds)) : nlohmann::json()}};
}

}  // namespace hilbench
