// `external` and `kernels`: baselines and kernels that are programs of their own.
#include <fmt/format.h>

#include <algorithm>

#include "baselines/table.hpp"
#include "harness/sweep/parts.hpp"
#include "kernels/base/text/text.hpp"
#include "kernels/base/text/utf8.hpp"

namespace hilbench {
namespace {

constexpr std::size_t kLongestExternalName = 40;

// Lower-case letters, digits and _: such a word can be part of a variant's id and of a folder's name.
bool plain_word(const std::string& text) {
  return !text.empty() && text.size() <= kLongestExternalName &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
}

template <class Names>
bool holds(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// True if `name` is an external program that is part of this build.
bool is_brought(const std::string& name) {
  const auto table = implementation_table();
  return std::any_of(table.begin(), table.end(), [&](const Implementation* implementation) {
    return implementation->external && implementation->name == name;
  });
}

std::vector<std::string> parse_command(const YamlValue& command) {
  std::vector<std::string> words;
  for (const YamlValue& word : command.is_list() ? command.items() : std::vector{command})
    words.push_back(word.text());
  return words;
}

// Records and requests are JSON.
void expect_text(const std::filesystem::path& folder, const YamlValue& value) {
  if (!is_utf8(folder.string()))
    value.fail("a program in a folder whose name is no UTF-8", one_line(folder.string()),
               "rename the folder");
}

External parse_external(const YamlValue& value, const std::filesystem::path& folder) {
  expect_text(folder, value);
  External external{.folder = folder};
  if (value.is_map())
    for (const auto& [key, command] : value.entries(std::vector<std::string>{"command"}))
      external.command = parse_command(command);
  if (external.command.empty() || external.command.front().empty())
    value.fail("command missing", "an external baseline is a program", "{command: [python3, rival.py]}");
  return external;
}

// Whether there is such a library is known when it is loaded: a plan needs none.
External parse_kernel(const YamlValue& value, const std::filesystem::path& folder) {
  expect_text(folder, value);
  External kernel{.folder = folder, .kind = ImplementationKind::kernel};
  if (value.is_map())
    for (const auto& [key, entry] : value.entries(std::vector<std::string>{"command", "library"})) {
      if (key == "command")
        kernel.command = parse_command(entry);
      else if (const std::string library = entry.text(); !library.empty())
        kernel.library = (folder / library).lexically_normal();
    }
  const bool has_command = !kernel.command.empty() && !kernel.command.front().empty();
  if (has_command == kernel.library.empty()) return kernel;
  value.fail(has_command ? "command and library" : "neither command nor library",
             "a kernel is a program or a shared library",
             "{command: [python3, mine.py]}, or {library: ./libmine.so}");
}

void check_declared_name(const std::string& name, const YamlValue& entry, std::string_view of_what) {
  if (!plain_word(name))
    entry.fail(fmt::format("'{}' cannot name a {}", one_line(name, 80), of_what),
               fmt::format("expects 1 to {} of a-z, 0-9 and _", kLongestExternalName));
  if (holds(kernel_names(), name) || holds(baseline_names(), name))
    entry.fail(fmt::format("'{}' is a name of this build", name), "", "choose another");
}

}  // namespace

std::string external_name(const std::string& kernel) {
  return kernel.substr(0, kernel.find('.'));
}

const External* find_external(const Externals& externals, const std::string& kernel) {
  const auto at = externals.find(external_name(kernel));
  return at == externals.end() ? nullptr : &at->second;
}

Externals parse_externals(const YamlValue& value, const std::filesystem::path& file) {
  Externals externals;
  const std::filesystem::path folder = std::filesystem::absolute(file).parent_path();
  for (const auto& [name, entry] : value.entries()) {
    check_declared_name(name, entry, "baseline");
    externals.emplace(name, parse_external(entry, folder));
  }
  return externals;
}

void parse_kernels(const YamlValue& value, Sweep& sweep) {
  const std::filesystem::path folder = std::filesystem::absolute(sweep.file).parent_path();
  for (const auto& [name, entry] : value.entries()) {
    check_declared_name(name, entry, "kernel");
    if (!sweep.externals.emplace(name, parse_kernel(entry, folder)).second)
      entry.fail(fmt::format("'{}' is declared under external too", name), "a program is a kernel or a rival",
                 "choose another name");
  }
}

const std::vector<std::string>& baseline_names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (const Implementation* implementation : implementation_table()) {
      const std::string name(implementation->name);
      if (implementation->kind == ImplementationKind::baseline &&
          !holds(names, name))  // each kind of device may have one of that name
        names.push_back(name);
      for (const std::string_view option : implementation->options)
        names.push_back(fmt::format("{}.{}", name, option));
    }
    return names;
  }();
  return kNames;
}

std::string checked_baseline(const YamlValue& value, Sweep& sweep) {
  const std::string text = value.text();
  const std::string name = external_name(text);
  const bool plain = text == name || plain_word(text.substr(name.size() + 1));
  const External* declared = find_external(sweep.externals, name);
  if (declared != nullptr && declared->kind == ImplementationKind::kernel)
    value.fail(fmt::format("'{}' is a kernel", name), "", "list it under variants");
  if (plain && declared != nullptr && !is_brought(name)) return text;
  if (!holds(baseline_names(), text)) {
    std::vector<std::string> names = baseline_names();
    for (const auto& [external, program] : sweep.externals)
      if (program.kind == ImplementationKind::baseline) names.push_back(external);
    fail_unknown(value, "baseline", text, names);
  }
  if (is_brought(name))
    sweep.externals.try_emplace(name,
                                External{.folder = std::filesystem::absolute(sweep.file).parent_path()});
  return text;
}

}  // namespace hilbench
