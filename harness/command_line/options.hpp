// The options of one command.
#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace hilbench {

// Whether the value of an option may be empty. An empty value is often an unset variable of a script.
enum class Empty { refused, allowed };

// Each function adds one option and stores its value in `value`, which must live until the command runs.
class Options {
 public:
  explicit Options(CLI::App& command) : command_(command) {}

  // A positional argument, which must be given.
  void argument(const std::string& name, std::string& value, const std::string& help);
  void argument(const std::string& name, std::filesystem::path& value, const std::string& help);
  // One or more.
  void arguments(const std::string& name, std::vector<std::string>& values, const std::string& help);
  // The same, but it may be left out: `value` stays as it is.
  void optional_argument(const std::string& name, std::filesystem::path& value, const std::string& help);
  void arguments(const std::string& name, std::vector<int>& values, int count);

  void flag(const std::string& name, bool& value, const std::string& help);
  void text(const std::string& name, std::string& value, const std::string& help,
            Empty empty = Empty::refused);
  void path(const std::string& name, std::filesystem::path& value, const std::string& help,
            Empty empty = Empty::refused);
  // May be given several times, with one value each time.
  void texts(const std::string& name, std::vector<std::string>& values, const std::string& help);
  // One of `words`.
  void choice(const std::string& name, std::string& value, const std::vector<std::string>& words,
              const std::string& help);
  // A number from 0 to a million.
  void number(const std::string& name, std::optional<double>& value, const std::string& help);
  // A share: 0.05 or 5%.
  void share(const std::string& name, std::optional<double>& value, const std::string& help);
  // A duration in seconds: 90, 90s, 3m or 1h.
  void duration(const std::string& name, std::optional<double>& value, const std::string& help);
  // A decimal integer: 010 and 0x10 are refused.
  void integer(const std::string& name, std::int64_t& value, const std::string& help);
  void integer(const std::string& name, std::optional<std::int64_t>& value, const std::string& help);
  // Decimal integers, separated by commas.
  void integers(const std::string& name, std::vector<std::int64_t>& values, const std::string& help);
  // An amount of memory: 80GB, 8GiB.
  void bytes(const std::string& name, std::optional<std::int64_t>& value, const std::string& help);

  // Lines at the end of --help: a command line, and what it is for. Two or more show how options combine.
  struct Example {
    const char* line;
    const char* meaning;
  };
  void examples(std::initializer_list<Example> examples);

  void require(const std::string& name);
  void exclude(const std::string& name, std::initializer_list<const char*> others);

 private:
  CLI::App& command_;
};

}  // namespace hilbench
