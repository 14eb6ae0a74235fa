// Memory sizes as people write them.
#pragma once

#include <cstdint>
#include <string>

namespace hilbench {

// "80GB", "1.5 GiB": a decimal number and a unit: B, kB to TB (powers of 1000) or KiB to TiB (powers of
// 1024), in upper or lower case. Throws UsageError naming `where` for anything else, and for under a byte.
std::int64_t parse_bytes(const std::string& text, const std::string& where);

}  // namespace hilbench
