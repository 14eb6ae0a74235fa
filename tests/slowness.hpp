// Limits on times in tests hold on a machine that does the reference work in the reference time. A slower
// machine gets proportionally more: such a limit says how fast our code is, not how fast the machine is.
#pragma once

namespace hilbench {

// How many times as long as the reference this machine takes now for memory, branches and the standard
// library, as in most of what tests time; at least 1. The shortest of five attempts counts.
double slowness();

}  // namespace hilbench
