#include "harness/gate/kernel_versions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "harness/external/program.hpp"
#include "kernels/base/text/error.hpp"
#include "kernels/base/text/text.hpp"
#include "kernels/base/text/utf8.hpp"

namespace hilbench {
namespace {

namespace fs = std::filesystem;

struct NamedVersion {
  std::string kernel, version;
};

NamedVersion split_version(const std::string& text, const char* option) {
  const std::size_t equals = text.find('=');
  if (!is_utf8(text))
    throw UsageError({.what = fmt::format("'{}' is no UTF-8", one_line(text)), .where = option});
  if (equals == std::string::npos || equals == 0 ||
      text.find_first_not_of(" \t", equals + 1) == std::string::npos)
    throw UsageError({.what = fmt::format("'{}' is no version of a kernel", text),
                      .where = option,
                      .why = "beside others of the form NAME=VERSION",
                      .remedy = "write NAME=LIBRARY, NAME=FOLDER or NAME=\"COMMAND\""});
  return {text.substr(0, equals), text.substr(equals + 1)};
}

const External& declared_kernel(const NamedVersion& named, const char* option, const Sweep& sweep) {
  const auto declared = sweep.externals.find(named.kernel);
  if (declared != sweep.externals.end() && declared->second.kind == ImplementationKind::kernel)
    return declared->second;
  std::vector<std::string> names;
  for (const auto& [name, external] : sweep.externals)
    if (external.kind == ImplementationKind::kernel) names.push_back(name);
  throw UsageError(
      {.what = fmt::format("the sweep measures no kernel '{}' of its `kernels`", named.kernel),
       .where = option,
       .why = names.empty() ? "it measures none" : fmt::format("it has {}", fmt::join(names, ", "))});
}

External version_of(const External& declared, const NamedVersion& named, const char* option) {
  const fs::path path = fs::absolute(named.version).lexically_normal();
  External version = declared;
  std::error_code error;  // a long command is no name of a file
  if (fs::is_directory(path, error)) {
    version.folder = path;
    if (!declared.library.empty()) version.library = path / declared.library.filename();
  } else if (!declared.library.empty()) {
    version.library = path;
  } else {
    version.folder = fs::current_path();
    std::optional<std::vector<std::string>> words = shell_words(named.version);
    if (!words || words->empty())
      throw UsageError(
          {.what = words ? "the command has no words" : "the command has a quote that is not closed",
           .where = fmt::format("{} {}={}", option, named.kernel, one_line(named.version, 200)),
           .why = "it is cut into words as a shell does it"});
    version.command = std::move(*words);
  }
  if (!version.library.empty() && !fs::exists(version.library, error) && !error)
    throw UsageError(
        {.what = "there is no such library", .where = fmt::format("{} {}", option, named.version)});
  return version;
}

// Before anything is measured: a version that does not start is no slow one.
void expect_start(const NamedVersion& named, const External& version, const char* option,
                  const Sweep& sweep) {
  const ProbeFinding finding = ask_in_child(
      [&] {
        try {
          ExternalProgram(named.kernel, version, Case{}, 1, {}, -1, CacheState::warm).greet();
        } catch (const Unsupported&) {  // of that case: those of the sweep say what it has
        }
        return ProbeFinding{.works = true};
      },
      sweep.measure.timeout_s);
  if (finding.works) return;
  throw UsageError({.what = fmt::format("this version of '{}' does not start", named.kernel),
                    .where = fmt::format("{} {}={}", option, named.kernel, one_line(named.version, 200)),
                    .why = one_line(finding.text, 500)});
}

}  // namespace

bool name_kernel_versions(const std::vector<std::string>& texts) {
  return std::any_of(texts.begin(), texts.end(), [](const std::string& text) {
    std::error_code error;
    return text.find('=') != std::string::npos && !fs::exists(text, error);
  });
}

Build build_with_kernels(const std::vector<std::string>& texts, const char* option, const Sweep& sweep) {
  if (sweep.external_use == ExternalUse::refused)
    throw UsageError({.what = "a gate of kernels of your own runs other programs",
                      .where = option,
                      .remedy = "allow it by --allow-external"});
  Build build = inspect_build(fs::read_symlink("/proc/self/exe"));
  for (const std::string& text : texts) {
    const NamedVersion named = split_version(text, option);
    const External& declared = declared_kernel(named, option, sweep);
    const auto [at, first] = build.kernels.emplace(named.kernel, version_of(declared, named, option));
    if (!first)
      throw UsageError({.what = fmt::format("'{}' has two versions", named.kernel), .where = option});
    expect_start(named, at->second, option, sweep);
  }
  build.version = fmt::format("{}", fmt::join(texts, ", "));
  return build;
}

void expect_same_kernels(const Build& baseline, const Build& candidate) {
  const auto names_of = [](const Build& build) {
    std::vector<std::string> names;
    for (const auto& [name, kernel] : build.kernels) names.push_back(name);
    return names;
  };
  if (names_of(baseline) == names_of(candidate)) return;
  throw UsageError(
      {.what = fmt::format("--baseline has versions of {}, --candidate of {}",
                           fmt::join(names_of(baseline), ", "), fmt::join(names_of(candidate), ", ")),
       .remedy = "give both versions of each kernel"});
}

}  // namespace hilbench
