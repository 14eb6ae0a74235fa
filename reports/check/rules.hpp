// The rules of check_results(). Each appends its line, and notes if it has any.
#pragma once

#include "reports/check/check.hpp"

namespace hilbench {

using CheckLines = std::vector<CheckLine>;
using Chosen = std::vector<const Record*>;

// How the records were measured.
void check_schema(const std::vector<Record>& records, CheckLines& lines);
void check_names(const std::vector<Record>& records, CheckLines& lines);
void check_failed(const std::vector<Record>& records, CheckLines& lines);
void check_verification(const std::vector<Record>& records, CheckLines& lines);
void check_clocks(const std::vector<Record>& records, CheckLines& lines);
void check_twins(const std::vector<Record>& records, CheckLines& lines);
void check_controls(const std::vector<Record>& records, CheckLines& lines);
void check_processes(const std::vector<Record>& records, CheckLines& lines);
void check_rounds(const std::vector<Record>& records, CheckLines& lines);
void check_injected(const std::vector<Record>& records, CheckLines& lines);
void check_noise(const std::vector<Record>& records, CheckLines& lines);
// Where they were measured, and what is sent of it.
void check_build(const std::vector<Record>& records, CheckLines& lines);
void check_machine(const std::vector<Record>& records, CheckLines& lines);
void check_fakes(const std::vector<Record>& records, CheckLines& lines);  // says nothing if there are none
void check_quiet(const std::vector<Record>& records, CheckLines& lines);
void check_processors(const std::vector<Record>& records, CheckLines& lines);
void check_private(const ReportInput& input, const PrivateNames& names, CheckLines& lines);

std::size_t processes_of(const Record& record);  // that timed it

// "3 of 12 records, the first CASE VARIANT"
std::string some_of(const Chosen& some, std::size_t all);
void add_ok(CheckLines& lines, std::string text);
void add_note(CheckLines& lines, std::string text, std::string limit = "");
void add_not_ok(CheckLines& lines, std::string text, std::string limit = "");

}  // namespace hilbench
