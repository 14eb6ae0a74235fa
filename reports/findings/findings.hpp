// What records say. It is told once: reports, sites, `hilbench show --finding` and the pages of published
// results print these sentences and tables.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reports/claims/answers.hpp"
#include "reports/view/table.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

struct Finding {
  std::string id;                      // "windows"
  std::vector<std::string> sentences;  // each a paragraph
  Table table;                         // of people; without rows if the sentences say it all
};

// Those that these records have something to say about, the most important first. `answers`: to the claims of
// reports and papers.
std::vector<Finding> findings_of(const View& view, const std::vector<ClaimAnswer>& answers);
// The finding of that id; null if there is none.
const Finding* find_finding(const std::vector<Finding>& findings, std::string_view id);

// Without answers if these records test no claim and their sweep names none: those from before sweeps named
// claims are held against all.
std::vector<ClaimAnswer> shown_answers(const View& view, const std::vector<ClaimAnswer>& of_reports);

std::string to_markdown(const Finding& finding);

}  // namespace hilbench
