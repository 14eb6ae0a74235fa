// Reads the files in which Linux describes the machine.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

namespace hilbench {

// The first line of `file`; empty if it cannot be read.
inline std::string first_line(const std::string& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

// The number after `key` in a file of lines "key number", or the file's only number if `key` is empty.
inline std::optional<std::int64_t> number_in(const std::filesystem::path& file, const std::string& key = "") {
  std::ifstream in(file);
  std::string name;
  std::int64_t value = 0;
  if (key.empty()) return in >> value ? std::optional(value) : std::nullopt;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    if (words >> name >> value && name == key) return value;
  }
  return std::nullopt;
}

// The value after "name :" in /proc/cpuinfo, of the first processor; empty if there is none.
inline std::string cpuinfo(const std::string& name) {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    if (line.compare(0, name.size(), name) != 0) continue;
    const std::size_t colon = line.find(':');
    if (colon != std::string::npos && colon + 2 <= line.size()) return line.substr(colon + 2);
  }
  return "";
}

}  // namespace hilbench
