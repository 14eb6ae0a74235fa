// The report's tables, each built once and rendered to CSV, Markdown and HTML.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reports/view/pairing.hpp"
#include "reports/view/table.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

// One row for each claim and case that answers it. On the page judged claims and untestable ones are two
// tables with columns of their own; the CSV is one.
Table claims_table(const std::vector<ClaimAnswer>& answers);
// One row for each claim and quantity that these records test: what is claimed and measured over all cases.
Table headline_claims_table(const std::vector<ClaimAnswer>& answers);
Table judged_claims_table(const std::vector<ClaimAnswer>& answers);
Table untestable_claims_table(const std::vector<ClaimAnswer>& answers);
// One row for each level of the caches of each claim about them: counts, ratios, verdict, and how it was
// counted.
Table claim_levels_table(const std::vector<ClaimAnswer>& answers);
// One row for each record of `cases`: time, speedup, rate, permutation, error, memory.
Table comparison_table(std::span<const CaseView> cases);
// The ratios of `cases` beside the counters that explain them; columns that nothing fills are left out. Rows
// of variants that no counter saw are left out too.
Table explained_table(std::span<const CaseView> cases);
// The columns of explained_table for one record: what a counter tells of its time, in one order for all.
struct CounterFigure {
  std::string_view key, title;
  std::optional<double> value;
};
std::vector<CounterFigure> counter_figures(const CaseView& where, const Record& record);
// The same of one case in words: hilbert, or else the first kernel variant, against its reference. Empty
// where no counter tells anything.
std::string explanation(const CaseView& of_case);
// Kernels in linear order against every baseline that computes the case: rival's time / kernel's time. The
// CSV has a row for each rival, the page a column.
Table rivals_table(const View& view);
Table rivals_page_table(const View& view);
// Every ring size of a piece of work that some ring computed: time, bytes, overlap, and the efficiency
// against one rank on the same work and on the work of one rank.
Table rings_table(const View& view);
// What the fastest variant of each case gains over one rank, by ring size; empty where no ring has one beside
// it.
std::string rings_sentence(const View& view);
// One row for each kernel variant over all cases: how often faster, slower, undecided.
Table summary_table(const View& view);
// Exact layout counts and hardware counters beside the time; empty where no record has any.
Table locality_table(const View& view);
// Every record that is not ok, with its reason.
Table problems_table(const View& view);
// Counters that could not be read, each reason once.
Table unavailable_table(const View& view);
Table environment_table(const View& view);
// What the records' environments hold under each key ("host.cpu"), each value once, in the order met; and
// such values as text.
using EnvironmentValues = std::map<std::string, std::vector<std::string>>;
EnvironmentValues environment_values(const View& view);
std::string values_text(const std::vector<std::string>& values);
// The verdict on a speedup in words: what one process leaves open and what was withheld included; "" where
// there is none to give.
std::string verdict_text(const Record& record);
// The command that repeats each row.
Table commands_table(std::span<const CaseView> cases, const View& view);

// The command that repeats a record is head + '^CASE/VARIANT$' + tail; ids as repeat_word() writes them.
struct RepeatCommand {
  std::string head, tail;
};
RepeatCommand repeat_command(const std::string& sweep, const View& view);
std::string repeat_word(std::string_view id);
// Speedup with the permutation paid once every `uses` executions.
std::optional<double> amortised_speedup(const Record& record, double uses);
std::optional<double> peak_fraction(const CaseView& where, const Record& record);

}  // namespace hilbench
