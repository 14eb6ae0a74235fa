// Claims about rings, and about what fits them.
#pragma once

#include "reports/claims/answers.hpp"

namespace hilbench {

// Bytes that the transport counted: exact, so that the interval reaches over the rings compared.
ClaimAnswer answer_communication(const ClaimRow& claim, const View& view);

// The longest sequence that ran on as many devices with as much memory, against the one claimed.
ClaimAnswer answer_longest(const ClaimRow& claim, const View& view);

}  // namespace hilbench
