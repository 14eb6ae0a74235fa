#include "harness/device/energy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <system_error>

#include "kernels/machine/system_files.hpp"

namespace hilbench {
namespace {

namespace fs = std::filesystem;

constexpr double kMostWatts = 1000;  // of a package of processors

// The number in a file of sysfs, or why it cannot be read.
std::string read_number(const fs::path& file, std::uint64_t& number) {
  errno = 0;
  std::ifstream in(file);
  std::string line;
  if (!std::getline(in, line))
    return fmt::format("cannot read {}: {}{}", file.string(), std::strerror(errno == 0 ? EIO : errno),
                       errno == EACCES ? "; only root may, unless the file's mode is changed" : "");
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
  if (error != std::errc() || end != line.data() + line.size())
    return fmt::format("{} holds no number", file.string());
  return "";
}

// Zones of packages. Their subzones (cores, memory) have a second colon; other zones (psys) count packages
// again.
std::vector<fs::path> packages_in(const fs::path& folder) {
  std::vector<fs::path> zones;
  std::error_code error;
  for (fs::directory_iterator each(folder, error), end; !error && each != end; each.increment(error)) {
    const std::string name = each->path().filename().string();
    const bool zone = name.starts_with("intel-rapl:") && std::count(name.begin(), name.end(), ':') == 1;
    if (zone && first_line(each->path() / "name").starts_with("package")) zones.push_back(each->path());
  }
  std::sort(zones.begin(), zones.end());
  return zones;
}

}  // namespace

EnergyUse energy_between(const EnergyReading& begin, const EnergyReading& end, double seconds) {
  for (const EnergyReading* reading : {&begin, &end})
    if (!reading->reason.empty()) return {.joules = std::nullopt, .reason = reading->reason};
  if (begin.counts.empty() || begin.counts.size() != end.counts.size())
    return {.joules = std::nullopt, .reason = "the energy counters changed meanwhile"};
  double joules = 0;
  for (std::size_t i = 0; i < begin.counts.size(); ++i) {
    const auto [from, wraps_at] = begin.counts[i];
    const std::uint64_t to = end.counts[i].microjoules;
    if (wraps_at > 0 && seconds * kMostWatts > static_cast<double>(wraps_at) * 1e-6)
      return {.joules = std::nullopt,
              .reason = fmt::format("the energy counter may have wrapped twice in {:.0f} s", seconds)};
    if (to < from && wraps_at < from)
      return {.joules = std::nullopt, .reason = "the energy counter ran backwards"};
    joules += static_cast<double>(to < from ? wraps_at - from + to : to - from) * 1e-6;
  }
  if (joules == 0) return {.joules = std::nullopt, .reason = "the energy counter stood still"};
  return {.joules = joules, .reason = ""};
}

EnergyReading read_rapl(const fs::path& folder) {
  EnergyReading reading{.counts = {}, .source = "rapl"};
  const std::vector<fs::path> packages = packages_in(folder);
  if (packages.empty()) {
    reading.reason =
        fmt::format("this machine shows no energy counter (RAPL, {}/intel-rapl:*)", folder.string());
    return reading;
  }
  for (const fs::path& package : packages) {
    EnergyReading::Count count;
    reading.reason = read_number(package / "energy_uj", count.microjoules);
    if (reading.reason.empty()) reading.reason = read_number(package / "max_energy_range_uj", count.wraps_at);
    if (!reading.reason.empty()) {
      reading.counts.clear();
      return reading;
    }
    reading.counts.push_back(count);
  }
  return reading;
}

}  // namespace hilbench
