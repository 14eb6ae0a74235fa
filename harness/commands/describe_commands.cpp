// A hidden command that writes what `cmake --install` installs beside the program: `hilbench
// describe_commands man`.
#include <fmt/format.h>

#include <memory>

#include "harness/command_line/command_line.hpp"
#include "harness/command_line/command_texts.hpp"
#include "harness/run/build_info.hpp"

namespace hilbench {

void add_describe_commands(Commands& commands) {
  auto form = std::make_shared<std::string>();
  Options options = commands.add("describe_commands", "", [form, &commands] {
    fmt::print("{}", *form == "man" ? man_page(commands.app(), std::string(build_info().version))
                                    : bash_completion(commands.app()));
    return ExitCode::done;
  });
  options.choice("FORM", *form, {"man", "bash"}, "");
  options.require("FORM");
}

}  // namespace hilbench
