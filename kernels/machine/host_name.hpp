// The name of this machine in its network.
#pragma once

#include <string>

namespace hilbench {

// As `hostname` prints it; "" if it is not known. It is private: records do not hold it.
std::string host_name();

}  // namespace hilbench
