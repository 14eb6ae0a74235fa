// A plausible store in memory: the four cases of sweeps/quick.yaml with every kind of result, and some
// hostile names. It is the same in every run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/case/pattern.hpp"
#include "reports/records/record.hpp"
#include "reports/view/input.hpp"

namespace hilbench::sample {

inline constexpr std::string_view kHostile = "<script>alert(1)</script> & \"quotes\" | pipes `ticks`";

Case work(std::int64_t length, std::vector<Branch> pattern);
Record record(const Case& of, std::string_view kernel, std::string_view order, bool baseline = false);

// Adds times: `factor` * `size` * 20 ms, with the same drift for all variants and a ripple that differs.
void time(Record& made, double size, double factor, double ripple_phase);
void compare_with(Record& made, const Record& reference);

// One comparison: reference, orders, the variant that the seeds ran, baselines.
void add_comparison(std::vector<Record>& records, const Case& of, double size);
Record without_time(const Case& of, std::string_view order, Status status, std::string reason);
ReportInput input();

// `count` records, seven for each case.
std::vector<Record> many(std::size_t count);

}  // namespace hilbench::sample
