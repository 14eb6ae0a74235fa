// Cells that the tables of claims share.
#pragma once

#include <optional>
#include <string>

#include "reports/claims/answers.hpp"
#include "reports/view/table.hpp"

namespace hilbench {

Tone tone_of(ClaimVerdict verdict);

// The same with what is reproduced: borne out alike, a claimed loss is no success.
Cell told_verdict(ClaimVerdict verdict, bool gain);

// Caches are told by the level that decided, or as the layout's count where none did.
std::string compared(const ClaimAnswer& answer);

Cell ratio_cell(const std::optional<Measured>& measured);
Cell end_cell(const std::optional<Measured>& measured, double Interval::*end);

}  // namespace hilbench
