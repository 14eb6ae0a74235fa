// What a store holds already of a plan.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "harness/plan/plan.hpp"
#include "reports/records/store.hpp"

namespace hilbench {

// What a comparison's records depend on: 16 hexadecimal digits for case, measure, inputs and counters, a
// colon, and as many, parted by commas, for each variant with all its options.
std::string fingerprint(const Sweep& sweep, const Comparison& comparison);
// Whether a comparison of the fingerprint `stored` holds all that `wanted` asks for: the same settings, and
// no variant less. So a run with a filter finds done what one without it did, but not the other way round.
bool covers(std::string_view stored, std::string_view wanted);

// Which comparisons of `plan` the store holds already. Throws UsageError where it holds one that was measured
// otherwise. `folder`: of the store, for the message.
std::vector<bool> find_done(const Store& store, const Sweep& sweep, const Plan& plan,
                            const std::filesystem::path& folder);
// The stored records of the variants that the comparison has: a filter may have left some out.
std::vector<Record> stored_records(const Store& store, const Comparison& comparison);

}  // namespace hilbench
