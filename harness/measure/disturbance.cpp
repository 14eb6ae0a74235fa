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
#include <sstream>
#include <string>
#include <utility>

#include "kernels/machine/processor_limits.hpp"

namespace hilbench {
namespace {

// Whether `name`, the first word of a line in /proc/stat, stands for one of these cores: "cpu3". If none are
// named, "cpu" stands for all.
bool is_of(const std::vector<int>& cores, const std::string& name) {
  if (!name.starts_with("cpu")) return false;
  if (cores.empty() || name.size() == 3) return cores.empty() && name.size() == 3;
  return std::find(cores.begin(), cores.end(), std::atoi(name.c_str() + 3)) != cores.end();
}

// Adds what proc(5) says of these cores since the machine started, in ticks. False if it says nothing.
bool add_ticks(const std::vector<int>& cores, double& busy, double& steal) {
  std::ifstream stat("/proc/stat");
  bool known = false;
  for (std::string line; std::getline(stat, line);) {
    std::istringstream words(line);
    std::string name;
    double user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, stolen = 0;
    if (!(words >> name) || !is_of(cores, name)) continue;
    if (!(words >> user >> nice >> system >> idle >> iowait >> irq >> softirq >> stolen)) continue;
    busy += user + nice + system + irq + softirq;
    steal += stolen;
    known = true;
  }
  return known;
}

}  // namespace

void Disturbance::Look::add(const Look& other, double sign) {
  seconds += sign * other.seconds;
  own_cpu_s += sign * other.own_cpu_s;
  involuntary_switches += sign * other.involuntary_switches;
  busy_s += sign * other.busy_s;
  steal_s += sign * other.steal_s;
  known = known && other.known;
}

Disturbance::Look Disturbance::look() const {
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
  const double ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  if (ticks > 0 && add_ticks(cores_, look.busy_s, look.steal_s)) {
    look.busy_s /= ticks;
    look.steal_s /= ticks;
    look.known = true;
  }
  return look;
}

Disturbance::Disturbance() : cores_(allowed_core_numbers()), since_(look()) {}

void Disturbance::pause() {
  if (std::exchange(paused_, true)) return;
  seen_.add(look(), 1);
  seen_.add(since_, -1);
  own_.pause();
}

void Disturbance::resume() {
  if (!std::exchange(paused_, false)) return;
  since_ = look();
  own_.resume();
}

nlohmann::json Disturbance::seen() const {
  Disturbance now = *this;
  now.pause();
  const Look& all = now.seen_;
  const nlohmann::json unknown;
  double load = 0;
  nlohmann::json seen = own_.seen();
  seen.update(
      {{"time", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))},
       {"load_average", ::getloadavg(&load, 1) == 1 ? nlohmann::json(load) : unknown},
       {"seconds", all.seconds},
       {"involuntary_switches", std::lround(all.involuntary_switches)},
       {"steal_s", all.known ? nlohmann::json(std::max(0.0, all.steal_s)) : unknown},
       {"other_busy_cores", all.known && all.seconds > 0
                                ? nlohmann::json(std::max(0.0, (all.busy_s - all.own_cpu_s) / all.seconds))
                                : unknown}});
  return seen;
}

}  // namespace hilbench
