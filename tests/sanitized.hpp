// How much a test does under a sanitizer, where every case takes many times as long as in Release.
#pragma once

namespace hilbench {

// True if the tests are built with HILBENCH_SANITIZE. Tests of numbers then take a part of their cases:
// enough to enter all code. Release takes all of them.
inline constexpr bool kSanitized = HILBENCH_SANITIZED;

}  // namespace hilbench
