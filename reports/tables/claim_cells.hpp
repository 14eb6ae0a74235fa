// Cells that the tables of claims share.
#pragma once

#include <optional>
#include <string>

#include "reports/claims/answers.hpp"
#include "reports/view/table.hpp"

namespace hilbench {

Tone tone_of(ClaimVerdict verdict);

// The verdict as shown. A reproduced claim that claimed no gain says so, because it is no success of Hilbert
// order. `gain`: is_about_a_gain().
Cell shown_verdict(ClaimVerdict verdict, bool gain);

// What the claim compares: "kernel time". For caches the level that decided, or the layout if
// none was counted.
std::string compared(const ClaimAnswer& answer);

Cell ratio_cell(const std::optional<Measured>& measured);
Cell end_cell(const std::optional<Measured>& measured, double Interval::*end);

}  // namespace hilbench
