// Claims about rings: bytes sent, and the longest sequence.
#pragma once

#include "reports/claims/answers.hpp"

namespace hilbench {

// By the bytes that the transport counted. They are exact, so the interval spans the rings compared.
ClaimAnswer answer_communication(const ClaimRow& claim, const View& view);

// By the longest sequence that ran on as many devices with as much memory.
ClaimAnswer answer_longest(const ClaimRow& claim, const View& view);

}  // namespace hilbench
