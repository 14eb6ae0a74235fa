#include "harness/command_line/command_texts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <sstream>
#include <vector>

#include "kernels/base/text/text.hpp"

namespace hilbench {
namespace {

std::vector<const CLI::App*> shown_commands(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* command) { return !command->get_group().empty(); });
}

// Text that roff prints as it stands: no character is a request or an escape, and hyphens can be copied.
std::string roff_text(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '\\')
      safe += "\\e";
    else if (c == '-')
      safe += "\\-";
    else
      safe += c;
  }
  const bool request = safe.starts_with('.') || safe.starts_with('\'');
  return request ? "\\&" + safe : safe;
}

std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

// "-o" with the type of its value, or the name of an argument.
std::string roff_option(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : names_of(option))
    names.push_back(fmt::format("\\fB{}\\fR", roff_text(name)));
  std::string text = option.get_positional() ? fmt::format("\\fI{}\\fR", roff_text(option.get_name(true)))
                                             : fmt::format("{}", fmt::join(names, ", "));
  if (!option.get_positional() && option.get_items_expected_max() > 0)
    text += fmt::format(" \\fI{}\\fR", roff_text(option.get_type_name()));
  return fmt::format(".TP\n{}\n{}\n", text, roff_text(option.get_description()));
}

// A footer: below "Examples:" each line is a command line and, two blanks on or in the next line, what it
// does.
std::string roff_footer(const std::string& footer) {
  std::string page;
  std::istringstream lines(footer);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t begin = line.find_first_not_of(' ');
    if (begin == line.npos) continue;
    const std::string text = line.substr(begin);
    const std::size_t end = begin == 2 ? text.find("  ") : text.npos;
    if (begin == 2)
      page += fmt::format(".TP\n\\fB{}\\fR\n", roff_text(text.substr(0, end)));
    else if (begin == 0)
      page += ".PP\n" + roff_text(text) + "\n";
    if (begin > 2) page += roff_text(text) + "\n";
    if (end != text.npos) page += roff_text(text.substr(text.find_first_not_of(' ', end))) + "\n";
  }
  return page;
}

std::string roff_command(const CLI::App& command) {
  std::string arguments, options;
  for (const CLI::Option* option : command.get_options()) {
    options += roff_option(*option);
    if (!option->get_positional()) continue;
    const std::string name = fmt::format("\\fI{}\\fR", roff_text(option->get_name(true)));
    arguments += option->get_required() ? " " + name : fmt::format(" [{}]", name);
  }
  return fmt::format(".SS \"hilbench {0}\"\n\\fBhilbench {0}\\fR [\\fIOPTIONS\\fR]{1}\n.PP\n{2}\n{3}{4}",
                     roff_text(command.get_name()), arguments, roff_text(command.get_description()), options,
                     roff_footer(command.get_footer()));
}

}  // namespace

std::string man_page(const CLI::App& app, const std::string& version) {
  const std::string& about = app.get_description();  // "hilbench: what it is"
  const std::size_t colon = about.find(": ");
  std::string page = fmt::format(
      ".TH HILBENCH 1 \"\" \"hilbench {}\" \"User Commands\"\n.SH NAME\nhilbench \\- {}\n.SH SYNOPSIS\n"
      "\\fBhilbench\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR] ...\n.SH OPTIONS\n",
      version, roff_text(colon == about.npos ? about : about.substr(colon + 2)));
  for (const CLI::Option* option : app.get_options()) page += roff_option(*option);
  page += ".SH COMMANDS\n";
  for (const CLI::App* command : shown_commands(app)) page += roff_command(*command);
  return page + ".SH EXAMPLES AND EXIT STATUS\n" + roff_footer(app.get_footer());
}

std::string bash_completion(const CLI::App& app) {
  std::vector<std::string> commands;
  std::string cases;
  for (const CLI::App* command : shown_commands(app)) {
    commands.push_back(command->get_name());
    std::vector<std::string> options;
    for (const CLI::Option* option : command->get_options())
      for (const std::string& name : names_of(*option)) options.push_back(name);
    cases += fmt::format("    {}) words={} ;;\n", command->get_name(),
                         shell_quoted(fmt::format("{}", fmt::join(options, " "))));
  }
  std::vector<std::string> top = commands;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : names_of(*option)) top.push_back(name);
  return fmt::format(
      "# Completion of hilbench for bash. zsh reads it after `autoload -U bashcompinit && bashcompinit`.\n"
      "_hilbench() {{\n"
      "  local words='' typed=\"${{COMP_WORDS[COMP_CWORD]}}\"\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    COMPREPLY=($(compgen -W {} -- \"$typed\"))\n"
      "    return\n"
      "  fi\n"
      "  case ${{COMP_WORDS[1]}} in\n{}  esac\n"
      "  case $typed in\n"
      "    -*) COMPREPLY=($(compgen -W \"$words\" -- \"$typed\")) ;;\n"
      "    *) COMPREPLY=($(compgen -f -- \"$typed\")) ;;\n"
      "  esac\n"
      "}}\n"
      "complete -o filenames -F _hilbench hilbench\n",
      shell_quoted(fmt::format("{}", fmt::join(top, " "))), cases);
}

}  // namespace hilbench
