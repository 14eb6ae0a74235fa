#include "harness/measure/disturbance.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace hilbench {

void Disturbance::Look::add(const Look& other, double sign) {
  seconds += sign * other.seconds;
  own_cpu_s += sign * other.own_cpu_s;
  involuntary_switches += sign * other.involuntary_switches;
  busy_s += sign * other.busy_s;
  steal_s += sign * other.steal_s;
  known = known && other.known;
}

Disturbance::Look Disturbance::look() {
  using Seconds = std::chrono::duration<double>;
  Look look{.seconds = Seconds(std::chrono::steady_clock::now().time_since_epoch()).count(), .known = false};
  rusage used = {};
  if (::getrusage(RUSAGE_SELF, &used) == 0) {
    const auto seconds = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    };
    look.own_cpu_s = seconds(used.ru_utime) + seconds(used.ru_stime);
    look.involuntary_switches = static_cast<double>(used.ru_nivcsw);
  }
  // proc(5): cpu user nice system idle iowait irq softirq steal, in ticks
  std::ifstream stat("/proc/stat");
  std::string cpu;
  double user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0;
  const double ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  if (stat >> cpu >> user >> nice >> system >> idle >> iowait >> irq >> softirq >> steal && ticks > 0) {
    look.busy_s = (user + nice + system + irq + softirq) / ticks;
    look.steal_s = steal / ticks;
    look.known = true;
  }
  return look;
}

Disturbance::Disturbance() : since_(look()) {}

void Disturbance::pause() {
  if (std::exchange(paused_, true)) return;
  seen_.add(look(), 1);
  seen_.add(since_, -1);
}

void Disturbance::resume() {
  if (std::exchange(paused_, false)) since_ = look();
}

nlohmann::json Disturbance::seen() const {
  Disturbance now = *this;
  now.pause();
  const Look& all = now.seen_;
  const nlohmann::json unknown;
  double load = 0;
  return {{"time", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))},
          {"load_average", ::getloadavg(&load, 1) == 1 ? nlohmann::json(load) : unknown},
          {"seconds", all.seconds},
          {"involuntary_switches", std::lround(all.involuntary_switches)},
          {"steal_s", all.known ? nlohmann::json(std::max(0.0, all.steal_s)) : unknown},
          {"other_busy_cores", all.known && all.seconds > 0
                                   ? nlohmann::json(std::max(0.0, (all.busy_s - all.own_cpu_s) / all.seconds))
                                   : unknown}};
}

}  // namespace hilbench
