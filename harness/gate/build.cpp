#include "harness/gate/build.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "harness/measure/comparison_task.hpp"
#include "harness/run/environment.hpp"
#include "harness/run/stop_signal.hpp"
#include "kernels/base/process/answering_program.hpp"
#include "kernels/base/process/offspring.hpp"
#include "kernels/base/text/error.hpp"
#include "kernels/base/text/text.hpp"

namespace hilbench {
namespace {

constexpr double kAnswerWithin_s = 10;

[[noreturn]] void refuse(const std::filesystem::path& program, const std::string& why) {
  throw UsageError({.what = "not a hilbench that a gate can drive",
                    .where = program.string(),
                    .why = why,
                    .remedy = "give the program of a build of this version, or a folder of stored results"});
}

}  // namespace

ProbeFinding ask_in_child(const std::function<ProbeFinding()>& look, double within_s) {
  adopt_orphans();
  const std::set<pid_t> before = own_children();
  const ProbeFinding finding = probe(look, within_s);
  end_children_except(before);  // what a program that hangs has started
  if (stop_signal() != 0) throw Interrupted{};
  return finding;
}

std::string describe_this_build() {
  return nlohmann::json{{"program", "hilbench"},
                        {"version", version_text()},
                        {"protocol", kTaskProtocol},
                        {"build", build_json()}}
      .dump();
}

Build inspect_build(const std::filesystem::path& program) {
  const std::filesystem::path whole = std::filesystem::absolute(program);
  if (::access(whole.c_str(), X_OK) != 0) refuse(program, "it is not a program that may be run");
  const ProbeFinding finding = ask_in_child(
      [&] {
        AnsweringProgram child(whole.filename().string(), {whole.string(), "describe-build"},
                               std::filesystem::current_path());
        return ProbeFinding{true, child.ask("{}")};
      },
      kAnswerWithin_s);
  if (!finding.works) refuse(program, one_line(finding.text, 200));
  const nlohmann::json answer = nlohmann::json::parse(finding.text, nullptr, false);
  if (!answer.is_object() || answer.value("program", nlohmann::json()) != "hilbench")
    refuse(program, fmt::format("it answers '{}'", one_line(finding.text, 60)));
  if (answer.value("protocol", nlohmann::json()) != kTaskProtocol)
    refuse(program, fmt::format("its workers speak protocol {}, this program {}",
                                answer.value("protocol", nlohmann::json()).dump(), kTaskProtocol));
  const nlohmann::json version = answer.value("version", nlohmann::json());
  return {.program = whole,
          .version = version.is_string() ? one_line(version.get<std::string>(), 100) : "",
          .environment = answer.value("build", nlohmann::json())};
}

}  // namespace hilbench
