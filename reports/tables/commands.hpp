// Commands that repeat records.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "reports/view/table.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

// One row for each record.
Table commands_table(std::span<const CaseView> cases, const View& view);

// The command that repeats a record is head + '^CASE/VARIANT$' + tail, with the ids as
// repeat_word() writes them.
struct RepeatCommand {
  std::string head, tail;
};
RepeatCommand repeat_command(const std::string& sweep, const View& view);
std::string repeat_word(std::string_view id);
}  // namespace hilbench
