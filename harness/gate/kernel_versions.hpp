// `hilbench gate`: two versions of a kernel of the user in the place of two builds of hilbench.
#pragma once

#include <string>
#include <vector>

#include "harness/gate/build.hpp"
#include "harness/sweep/sweep.hpp"

namespace hilbench {

// True if the texts of `--baseline` or `--candidate` have the form NAME=VERSION and name no file.
bool name_kernel_versions(const std::vector<std::string>& texts);

// This program with other versions of kernels that the sweep declares. VERSION is a library; a folder, in
// which the command of the sweep is started; or a command of its own. Throws UsageError, which names
// `option`, if a kernel is not declared or named twice, if there is no such library, or if a version does not
// start: each is started once, and asked who it is.
Build build_with_kernels(const std::vector<std::string>& texts, const char* option, const Sweep& sweep);

// Throws UsageError unless both have versions of the same kernels.
void expect_same_kernels(const Build& baseline, const Build& candidate);

}  // namespace hilbench
