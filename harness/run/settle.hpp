// Measures a comparison to its end, whatever happens to the processes that run it.
#pragma once

#include <functional>
#include <vector>

#include "harness/run/task_runner.hpp"

namespace hilbench {

// The records of `task`'s variants: each is measured, in one run or more, or `failed` with the reason. If a
// run fails, the variant that was at work fails; the others run again.
std::vector<Record> settle(const ComparisonTask& task, const TaskRunner& runner,
                           const std::function<void(const TaskEvent&)>& progress);

// The seed of process number `process` of a comparison; that of the first is `seed` itself.
std::uint64_t process_seed(std::uint64_t seed, std::int64_t process);

// Measures a comparison in one more process, number `process`, with inputs, buffer offsets and sequence of
// its own. `before`: the records of the earlier processes, empty for the first. Returns the joined records,
// with medians and intervals. A variant that was not `ok` before is not measured again. The default `runner`
// runs tasks in worker processes.
std::vector<Record> measure_process(const ComparisonTask& task, std::vector<Record> before,
                                    std::int64_t process,
                                    const std::function<void(const TaskEvent&)>& progress,
                                    const TaskRunner& runner = nullptr);

// Fails the records that contradict themselves: whatever reads a store with one would refuse it, and all
// others.
void fail_contradictions(std::vector<Record>& records);

}  // namespace hilbench
