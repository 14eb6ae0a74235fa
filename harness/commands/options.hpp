// The options of one command, as its file lists them.
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

// Whether an option may be given with an empty word, which is a variable that a script forgot.
enum class Empty { refused, allowed };

// Each function adds one option whose value goes to `value`, which must live until the command runs.
class Options {
 public:
  explicit Options(CLI::App& command) : command_(command) {}

  // A word without a dash; must be given.
  void argument(const std::string& name, std::string& value, const std::string& help);
  void argument(const std::string& name, std::filesystem::path& value, const std::string& help);
  void arguments(const std::string& name, std::vector<int>& values, int count);

  void flag(const std::string& name, bool& value, const std::string& help);
  void text(const std::string& name, std::string& value, const std::string& help,
            Empty empty = Empty::refused);
  void path(const std::string& name, std::filesystem::path& value, const std::string& help,
            Empty empty = Empty::refused);
  // One word each time that it is given.
  void texts(const std::string& name, std::vector<std::string>& values, const std::string& help);
  // One of a few words.
  void choice(const std::string& name, std::string& value, const std::vector<std::string>& words,
              const std::string& help);
  // 0 to a million.
  void number(const std::string& name, std::optional<double>& value, const std::string& help);
  // Decimal digits: 010 and 0x10 are refused.
  void integer(const std::string& name, std::int64_t& value, const std::string& help);
  void integer(const std::string& name, std::optional<std::int64_t>& value, const std::string& help);
  // The same, parted by commas.
  void integers(const std::string& name, std::vector<std::int64_t>& values, const std::string& help);
  // An amount of memory: 80GB, 8GiB.
  void bytes(const std::string& name, std::optional<std::int64_t>& value, const std::string& help);

  void require(const std::string& name);
  void exclude(const std::string& name, std::initializer_list<const char*> others);

 private:
  CLI::App& command_;
};

}  // namespace hilbench
