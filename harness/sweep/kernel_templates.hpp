// What `hilbench init --kernel` and `--rival` write: a kernel or rival that runs, with its sweeps
// (kernels/plugin/).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace hilbench {

struct TemplateFile {
  std::filesystem::path path;  // in the folder that is made
  std::string text;
};

struct KernelTemplate {
  std::vector<TemplateFile> files;
  std::vector<std::string> commands;  // from there to a report, in sequence
  std::string test;  // the command that says whether the kernel is right; empty: there is none
};

// "c", "cuda", "numpy", "torch", "triton".
const std::vector<std::string>& kernel_template_names();
// `name` is one of these; `has_gpu`: for torch, whether it is to compute on a GPU.
KernelTemplate kernel_template(std::string_view name, bool has_gpu);
KernelTemplate rival_template(bool has_gpu);

}  // namespace hilbench
