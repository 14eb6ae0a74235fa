// The parts of a run of a ring.
#pragma once

namespace hilbench {

// What a run does: all, or one part, whose time shows how much of the exchange is hidden.
enum class RingPart { all, exchange, computation };

}  // namespace hilbench
