#include "harness/command_line/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "kernels/base/text/byte_size.hpp"
#include "kernels/base/text/integer.hpp"
#include "kernels/base/text/share.hpp"
#include "kernels/base/text/text.hpp"

namespace hilbench {
namespace {

constexpr std::size_t kHelpWidth = 120;

CLI::Validator not_empty() {
  return CLI::Validator(
      [](std::string& text) { return text.empty() ? std::string("must not be empty") : std::string(); }, "");
}

// CLI::Range would accept NaN.
CLI::Validator up_to_a_million() {
  return CLI::Validator(
      [](std::string& text) {
        char* end = nullptr;
        const double value = std::strtod(text.c_str(), &end);
        const bool whole = end != text.c_str() && *end == '\0';
        return whole && value >= 0 && value <= 1e6 ? std::string()
                                                   : std::string("must be a number from 0 to 1e6");
      },
      "");
}

// CLI11 reads 010 as 8 and 0x10 as 16; nothing else in this program does, so both are refused. It says of 3.5
// only that it could not convert it.
CLI::Validator decimal() {
  return CLI::Validator(
      [](std::string& text) {
        if (text.empty()) return std::string("must not be empty");
        const std::string_view digits =
            std::string_view(text).substr(text.find_first_not_of("+-") == 1 ? 1 : 0);
        if (digits.size() > 1 && digits[0] == '0' && std::isalnum(static_cast<unsigned char>(digits[1])))
          return fmt::format("'{}' is not a decimal number", one_line(text, 80));
        const bool whole = !digits.empty() && digits.find_first_not_of("0123456789") == digits.npos;
        if (!whole)
          if (const std::optional<std::int64_t> size = integer_of(text)) {  // "8k"
            text = std::to_string(*size);
            return std::string();
          }
        return whole ? std::string()
                     : fmt::format("'{}' is not a whole number, such as 8192 or 8k", one_line(text, 80));
      },
      "");
}

void refuse_empty(CLI::Option* option, Empty empty) {
  if (empty == Empty::refused) option->check(not_empty());
}

}  // namespace

void Options::argument(const std::string& name, std::string& value, const std::string& help) {
  command_.add_option(name, value, help)->required();
}

void Options::argument(const std::string& name, std::filesystem::path& value, const std::string& help) {
  command_.add_option(name, value, help)->required();
}

void Options::arguments(const std::string& name, std::vector<std::string>& values, const std::string& help) {
  command_.add_option(name, values, help)->required();
}

void Options::optional_argument(const std::string& name, std::filesystem::path& value,
                                const std::string& help) {
  command_.add_option(name, value, help);
}

void Options::arguments(const std::string& name, std::vector<int>& values, int count) {
  command_.add_option(name, values)->expected(count)->required();
}

void Options::flag(const std::string& name, bool& value, const std::string& help) {
  command_.add_flag(name, value, help);
}

void Options::text(const std::string& name, std::string& value, const std::string& help, Empty empty) {
  refuse_empty(command_.add_option(name, value, help), empty);
}

void Options::path(const std::string& name, std::filesystem::path& value, const std::string& help,
                   Empty empty) {
  refuse_empty(command_.add_option(name, value, help), empty);
}

void Options::texts(const std::string& name, std::vector<std::string>& values, const std::string& help) {
  command_.add_option(name, values, help)->allow_extra_args(false)->check(not_empty());
}

void Options::choice(const std::string& name, std::string& value, const std::vector<std::string>& words,
                     const std::string& help) {
  command_.add_option(name, value, help)->check(CLI::IsMember(words));
}

void Options::number(const std::string& name, std::optional<double>& value, const std::string& help) {
  command_.add_option(name, value, help)->check(up_to_a_million());
}

void Options::integer(const std::string& name, std::int64_t& value, const std::string& help) {
  command_.add_option(name, value, help)->transform(decimal());
}

void Options::integer(const std::string& name, std::optional<std::int64_t>& value, const std::string& help) {
  command_.add_option(name, value, help)->transform(decimal());
}

void Options::integers(const std::string& name, std::vector<std::int64_t>& values, const std::string& help) {
  command_.add_option(name, values, help)->delimiter(',')->transform(decimal());
}

void Options::bytes(const std::string& name, std::optional<std::int64_t>& value, const std::string& help) {
  command_.add_option_function<std::string>(
      name, [&value, name](const std::string& text) { value = parse_bytes(text, name); }, help);
}

void Options::share(const std::string& name, std::optional<double>& value, const std::string& help) {
  command_.add_option_function<std::string>(
      name, [&value, name](const std::string& text) { value = parse_share(text, name); }, help);
}

void Options::duration(const std::string& name, std::optional<double>& value, const std::string& help) {
  command_.add_option_function<std::string>(
      name, [&value, name](const std::string& text) { value = parse_duration(text, name); }, help);
}

void Options::examples(std::initializer_list<Example> examples) {
  std::size_t width = 0;
  for (const Example& example : examples) width = std::max(width, std::string_view(example.line).size());
  std::string text = "Examples:";
  for (const Example& example : examples) {
    const bool beside = width + 4 + std::string_view(example.meaning).size() < kHelpWidth;
    text += beside ? fmt::format("\n  {:<{}}  {}", example.line, width, example.meaning)
                   : fmt::format("\n  {}\n      {}", example.line, example.meaning);
  }
  command_.footer(text);
}

void Options::require(const std::string& name) {
  command_.get_option(name)->required();
}

void Options::exclude(const std::string& name, std::initializer_list<const char*> others) {
  for (const char* other : others) command_.get_option(name)->excludes(other);
}

}  // namespace hilbench
