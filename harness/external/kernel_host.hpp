// The process in which a library of the user computes: it speaks the protocol of docs/external.md, and times
// by the clocks of this program.
#pragma once

#include <filesystem>

namespace hilbench {

// Answers requests on standard input until it ends. What the library prints goes to standard error. Returns
// the exit status; what is wrong with the library is said in answers.
int kernel_host_main(const std::filesystem::path& library);

}  // namespace hilbench
