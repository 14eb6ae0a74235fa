// The part of the Python package that kernels of the user import, `hilbench.kernel`: the program brings it
// along, so that a kernel in Python needs nothing installed but its own libraries.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/base/process/shared_file.hpp"

namespace hilbench {

// An archive of files, by name and text, which are stored as they are (APPNOTE.TXT of PKWARE, version 2.0).
std::string stored_zip(const std::vector<std::pair<std::string, std::string_view>>& files);

// Writes the package into `file`, which Python imports from while that lives. Returns the PYTHONPATH of this
// process with the file behind it.
std::string python_path_with(SharedFile& file);

}  // namespace hilbench
