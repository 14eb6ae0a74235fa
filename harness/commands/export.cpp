// `hilbench export`: the records in formats that other tools read.
#include "reports/export/export.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iostream>
#include <memory>
#include <sstream>

#include "harness/commands/command_line.hpp"
#include "kernels/base/files.hpp"
#include "reports/view/results.hpp"

namespace hilbench {
namespace {

struct ExportArguments {
  std::filesystem::path folder;
  std::string format;
  std::filesystem::path output;  // empty: standard output
};

ExitCode export_command(const ExportArguments& arguments) {
  const std::vector<Record> records = read_results(arguments.folder).records;
  std::ostringstream text;
  export_records(arguments.format, records, text);
  if (!arguments.output.empty()) {
    write_file(arguments.output, text.str());
    return ExitCode::done;
  }
  std::cout << text.str() << std::flush;
  if (!std::cout) throw EnvironmentError({.what = "cannot write to standard output"});
  return ExitCode::done;
}

}  // namespace

void add_export(Commands& commands) {
  auto arguments = std::make_shared<ExportArguments>();
  Options options = commands.add("export", "write the records of a run in a format that other tools read",
                                 [arguments] { return export_command(*arguments); });
  options.argument("DIR", arguments->folder, "folder with the results of a run");
  options.text("--format", arguments->format, fmt::format("{}", fmt::join(export_formats(), ", ")),
               Empty::allowed);
  options.require("--format");
  options.path("-o", arguments->output, "file to write; default: standard output");
}

}  // namespace hilbench
