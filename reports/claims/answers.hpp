// How each kind of claim is answered: the parts of answer_claims().
#pragma once

#include <optional>
#include <vector>

#include "reports/view/pairing.hpp"

namespace hilbench {

// By kernel time, misses or memory: in one case; over all cases together, where the claim states no pattern
// and must hold in each.
ClaimAnswer answer_in_case(const ClaimRow& claim, const CaseView& view);
ClaimAnswer answer_over_cases(const ClaimRow& claim, const View& view);

// Fresh over pooled buffers, for every kernel variant that a case holds in both forms.
std::vector<ClaimAnswer> answer_buffers(const ClaimRow& claim, const View& view);

// "Pays above c, costs below": every longer case faster and no shorter one.
ClaimAnswer answer_break_even(const ClaimRow& claim, const View& view);

// Bytes that the transport counted: exact, so that the interval reaches over the rings compared.
ClaimAnswer answer_communication(const ClaimRow& claim, const View& view);

// The longest sequence that ran on as many devices with as much memory, against the one claimed.
ClaimAnswer answer_longest(const ClaimRow& claim, const View& view);

// The verdict that the interval gives, and what a single process leaves open.
void settle(ClaimAnswer& answer);

// One ratio for many cases: the median, and an interval that reaches over all of theirs.
std::optional<Measured> over_all(const std::vector<Measured>& each);

}  // namespace hilbench
