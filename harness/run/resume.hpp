// Finds which comparisons of a plan a store already holds.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "harness/plan/plan.hpp"
#include "harness/plan/site.hpp"
#include "reports/records/store.hpp"

namespace hilbench {

// A text for everything that a comparison's records depend on: 16 hexadecimal digits for case, measure,
// inputs and counters, a colon, then 16 for each variant with all its options, separated by commas.
std::string fingerprint(const Sweep& sweep, const Comparison& comparison);
// True if a comparison with the fingerprint `stored` holds everything that `wanted` asks for: the same
// settings and at least the same variants. So a run with a filter can reuse what a run without it measured,
// but not the other way round.
bool covers(std::string_view stored, std::string_view wanted);

// For each comparison of `plan`: whether the store already holds it. Throws UsageError if the store holds one
// that was measured with other settings. `folder`: the store's, for the message.
std::vector<bool> find_done(const Store& store, const Sweep& sweep, const Plan& plan,
                            const std::filesystem::path& folder);
// What measures here: the build, the processor and its instructions, as JSON. A store holds it as meta
// `maker`.
std::string maker_of(const Site& site);
// Throws UsageError if the results of the store were measured by another maker than `maker`, or by one that
// it does not name. `folder`: the store's, for the message.
void expect_same_maker(const Store& store, const std::string& maker, const std::filesystem::path& folder);

// The stored records of the comparison's variants. The store may hold more: a filter leaves variants out.
std::vector<Record> stored_records(const Store& store, const Comparison& comparison);

}  // namespace hilbench
