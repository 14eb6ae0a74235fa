#include "reports/tables/commands.hpp"

#include <fmt/format.h>

#include <sstream>

#include "kernels/base/text/text.hpp"

namespace hilbench {
namespace {

// `--axis` and `--device` change the cases of a sweep, so the repeated run needs them too.
std::string overrides_of(const View& view) {
  const auto command = view.meta.find("command");
  if (command == view.meta.end()) return "";
  std::istringstream words(command->second);
  std::string kept, word;
  while (words >> word) {
    if (word.starts_with("--axis=") || word.starts_with("--device="))
      kept += fmt::format(" {}", shell_quoted(word));
    if (word != "--axis" && word != "--device") continue;
    kept += fmt::format(" {}", word);
    if (words >> word) kept += fmt::format(" {}", shell_quoted(word));
  }
  return kept;
}

}  // namespace

RepeatCommand repeat_command(const std::string& sweep, const View& view) {
  const auto file = view.meta.find("sweep_file");
  const std::string path =
      file != view.meta.end() && !file->second.empty() ? file->second : fmt::format("sweeps/{}.yaml", sweep);
  return {fmt::format("hilbench run {}{} --filter ", shell_quoted(path), overrides_of(view)),
          fmt::format(" --fresh -o {}", shell_quoted("results/" + sweep + "-repeat"))};
}

std::string repeat_word(std::string_view id) {
  return inside_quotes(regex_escaped(id));
}

Table commands_table(std::span<const CaseView> cases, const View& view) {
  std::vector<const Record*> rows;
  for (const CaseView& of_case : cases)
    rows.insert(rows.end(), of_case.records.begin(), of_case.records.end());
  using R = const Record* const&;
  const std::vector<ColumnOf<const Record*>> columns = {
      {{"case", "", Align::left, Show::data}, [](R r) { return Cell{r->case_id}; }},
      {{"variant", "variant"}, [](R r) { return Cell{r->variant_id}; }},
      {{"command", "command"},
       [&view](R r) {
         const RepeatCommand command = repeat_command(r->sweep, view);
         return Cell{fmt::format("{}'^{}/{}$'{}", command.head, repeat_word(r->case_id),
                                 repeat_word(r->variant_id), command.tail)};
       }},
  };
  return make_table<const Record*>("commands", "", columns, rows);
}

}  // namespace hilbench
