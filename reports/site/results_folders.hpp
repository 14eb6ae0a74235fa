// Where results are: the folders of sweeps below a folder, by machine.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace hilbench {

struct SweepFolder {
  std::filesystem::path path;  // holds a store or exported records
  std::string name;            // of the folder
};

// The folder above those of sweeps stands for a machine: reports/published/h200.
struct MachineFolder {
  std::filesystem::path path;
  std::string name;                             // below the folder that was searched; its own name at the top
  std::vector<SweepFolder> sweeps;              // by name
  std::vector<std::filesystem::path> findings;  // Markdown files, README.md first
};

// Every folder below `folder` with results, and `folder` itself if it has any; by name. Hidden folders and
// links are not entered. Throws UsageError if `folder` is no folder, none has results, or two machines or
// two sweeps of a machine would have the same page; EnvironmentError if a folder cannot be read.
std::vector<MachineFolder> machine_folders(const std::filesystem::path& folder);

}  // namespace hilbench
