// Rows of the output that nobody can guess: drawn from fresh entropy, once the output is in our memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "baselines/reference.hpp"
#include "harness/measure/oracle.hpp"
#include "kernels/case/case.hpp"

namespace hilbench {

// A number that the system draws anew. Throws EnvironmentError.
std::uint64_t fresh_entropy();
// 16 hexadecimal digits.
std::string entropy_text(std::uint64_t entropy);

inline constexpr std::int64_t kSampledRows = 256;  // compared before the timing, and others after it
inline constexpr std::int64_t kPoisonedRows = 32;  // compared in a poisoned round

// Those of `always` and others that the seed draws until there are `wanted`, a few less if some are drawn
// twice; every row if there are not more. In position order.
std::vector<RowId> rows_with(const Case& work, std::vector<std::int64_t> always, std::uint64_t seed,
                             std::int64_t wanted);

// Every row of a small case; of a large one `wanted` rows, in position order, a few less if some are drawn
// twice. All are equally likely; kSampledRows have those of the first and the last position among them, of
// the first and the last head. The same arguments give the same rows on every machine.
std::vector<RowId> drawn_rows(const Case& work, std::uint64_t entropy, std::int64_t wanted);
// These, and as many keys if the case has gradients.
DrawnRows drawn(const Case& work, std::uint64_t entropy, std::int64_t wanted);

}  // namespace hilbench
