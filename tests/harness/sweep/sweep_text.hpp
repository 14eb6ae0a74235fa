// Sweeps and refusals from the text of a sweep.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "harness/sweep/sweep.hpp"
#include "kernels/base/text/error.hpp"

namespace hilbench {

using Ids = std::vector<std::string>;

inline const std::string kHead = "name: a\n";
inline const std::string kTail = "variants: [{kernel: dilated}]\n";

inline Sweep parse(const std::string& text, const SweepOverrides& overrides = {}) {
  return parse_sweep(text, "a.yaml", overrides);
}

// The message of the UsageError that the text is refused with.
inline std::string refusal(const std::string& text, const SweepOverrides& overrides = {}) {
  try {
    parse(text, overrides);
  } catch (const UsageError& error) {
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    return error.what();
  }
  return "(accepted)";
}

// Refusal of a sweep whose `axes` are `text`.
inline std::string axes_refusal(const std::string& text) {
  return refusal(kHead + "axes: " + text + "\n" + kTail);
}

inline Ids variant_ids(const Sweep& sweep) {
  Ids ids;
  for (const Variant& variant : sweep.variants) ids.push_back(variant_id(variant));
  return ids;
}
inline Ids variant_ids(const std::string& variants, const SweepOverrides& overrides = {}) {
  return variant_ids(parse(kHead + "cases: [{heads: 8}]\n" + variants, overrides));
}
inline std::string variants_refusal(const std::string& variants, const SweepOverrides& overrides = {}) {
  return refusal(kHead + "cases: [{heads: 8}]\n" + variants, overrides);
}

#define EXPECT_SAYS(message, part)                                                \
  do {                                                                            \
    const std::string said = message;                                             \
    EXPECT_NE(said.find(part), std::string::npos) << said << "\nlacks: " << part; \
  } while (false)

}  // namespace hilbench
