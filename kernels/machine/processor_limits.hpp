// How much of the machine's processor this process may use, and how long Linux held it back.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace hilbench {

struct Host;

// Numbers of the cores that the calling thread may run on, by its affinity mask. As Linux counts cores:
// hardware threads. Empty if Linux does not say.
std::vector<int> allowed_core_numbers();
// How many these are; if Linux does not say, all of the machine.
int allowed_cores();

// The smallest quota of all cgroups of this process, in cores: 1.5 for 150 ms of each 100 ms. Nothing if none
// sets one. `root` is used in place of /.
std::optional<double> quota_cores(const std::filesystem::path& root = "/");

// Seconds for which each cgroup of this process has been throttled since it was made, those of all cores
// added up. Groups that do not say it are left out.
std::vector<double> throttled_s(const std::filesystem::path& root = "/");

// "2 of 16 cores (affinity mask)" if a mask or a quota leaves this process fewer cores than the machine has;
// otherwise "".
std::string limited_cores_text(const Host& host);

// What a run with `threads` threads has to say of that, or of more threads than can run at once: "this
// process may use 2 of 16 cores (affinity mask); times are those of 2 cores". "" if it has nothing to say.
std::string processor_warning(const Host& host, int threads);

// What is to be said if the environment (OMP_WAIT_POLICY and its like) lets idle threads spin for ever. ""
// otherwise.
std::string spinning_warning();

}  // namespace hilbench
