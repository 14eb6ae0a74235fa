// The command that repeats each row.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "reports/view/table.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

// The command that repeats each row.
Table commands_table(std::span<const CaseView> cases, const View& view);

// The command that repeats a record is head + '^CASE/VARIANT$' + tail; ids as repeat_word() writes them.
struct RepeatCommand {
  std::string head, tail;
};
RepeatCommand repeat_command(const std::string& sweep, const View& view);
std::string repeat_word(std::string_view id);
}  // namespace hilbench
