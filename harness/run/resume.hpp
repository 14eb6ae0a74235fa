// Finds how far the comparisons of a plan have come in a store.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "harness/plan/plan.hpp"
#include "harness/plan/site.hpp"
#include "reports/records/store.hpp"

namespace hilbench {

// A text for everything that a comparison's records depend on: 16 hexadecimal digits for case, measure (but
// for the number of processes), inputs and counters, a colon, 16 for each variant with all its options,
// separated by commas, a colon, and what the first 16 stand for, as JSON: so that a message can name what
// differs.
std::string fingerprint(const Sweep& sweep, const Comparison& comparison);
// True if a comparison with the fingerprint `stored` holds everything that `wanted` asks for: the same
// settings and at least the same variants. So a run with a filter can reuse what a run without it measured,
// but not the other way round.
bool covers(std::string_view stored, std::string_view wanted);

// How many processes measure each comparison in this run. of_sweep: as many as lack to `measure.processes`.
// one: the first, if it is not there. one_more: one beside those that are there.
enum class Processes { of_sweep, one, one_more };
// once: a comparison with a failed variant is measured once more, from its first process, unless this run
// appends a process or measures fewer variants or processes than are there. always: again in every run.
enum class Retry { once, always };

// What a run has to do for a comparison.
struct Standing {
  std::int64_t measured = 0;  // processes whose records it keeps
  std::int64_t wanted = 1;    // processes when it is done
  bool retried = false;       // it is, or was, measured again because a variant had failed
  std::int64_t replaces = 0;  // processes of the stored records that stay until it has as many
  bool done() const { return measured >= wanted; }
};

// For each comparison of `plan`. Throws UsageError if the store holds one that was measured with other
// settings, or with other variants than a further process would measure, or if it would be measured again by
// fewer processes than are there. `folder`: the store's, for the message.
std::vector<Standing> find_standing(const Store& store, const Sweep& sweep, const Plan& plan,
                                    Processes processes, Retry retry, const std::filesystem::path& folder);
// What measures here: the build, the processor and its instructions, as JSON. A store holds it as meta
// `maker`.
std::string maker_of(const Site& site);
// Throws UsageError if the results of the store were measured by another maker than `maker`, or by one that
// it does not name. `folder`: the store's, for the message.
void expect_same_maker(const Store& store, const std::string& maker, const std::filesystem::path& folder);

// Throws UsageError if the store holds results of a sweep of another name. `folder`: the store's, for the
// message.
void expect_same_sweep(const Store& store, const std::string& sweep, const std::filesystem::path& folder);

// The stored records of the comparison's variants. The store may hold more: a filter leaves variants out.
std::vector<Record> stored_records(const Store& store, const Comparison& comparison);

}  // namespace hilbench
