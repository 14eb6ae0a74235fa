// Baselines that are separate programs: what a plan needs to know about them.
// harness/external/program.hpp runs them.
#pragma once

#include <string>
#include <string_view>

#include "kernels/implementation.hpp"

namespace hilbench {

// The scripts of this folder.
extern const Implementation kTorchSdpa;
extern const Implementation kTorchContextParallel;
extern const Implementation kTorchWindows;
extern const Implementation kJaxFa3;
extern const Implementation kJaxRing;
extern const Implementation kOrigin;
// The text of one of them by the name of its baseline, with the modules of this folder that it imports; it is
// built into the program. `name` must be one of theirs.
std::string embedded_script(std::string_view name);
// Whether that script can run in a fork of the server below. False for any other name.
bool can_be_forked(std::string_view name);
// Seconds that the program of a baseline ("torch_sdpa.flex") may take to compile and tune a case before
// anything is measured, if nothing is kept and no single attempt takes longer; 0 if it has no such limit.
double baseline_tuning_s(std::string_view baseline);
// A server that imports PyTorch once, and whose forks run scripts (fork_server.py).
std::string_view embedded_fork_server();

// Any program that a sweep declares as a rival, and any kernel of the user: a program, or a library.
extern const Implementation kDeclaredExternal;
extern const Implementation kDeclaredKernel;

}  // namespace hilbench
