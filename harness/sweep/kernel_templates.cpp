#include "harness/sweep/kernel_templates.hpp"

#include <algorithm>
#include <map>
#include <optional>

namespace hilbench {

// Made by hilbench_embed (CMake).
std::string_view embedded_template_c();
std::string_view embedded_template_cuda();
std::string_view embedded_template_numpy();
std::string_view embedded_template_torch();
std::string_view embedded_template_triton();
std::string_view embedded_template_rival();
std::string_view embedded_template_kernel_yaml();
std::string_view embedded_template_test_yaml();
std::string_view embedded_template_rival_yaml();
std::string_view embedded_kernel_h();

namespace {

struct Language {
  std::string file;   // "mine.c"
  std::string build;  // empty: nothing is built
  bool gpu = false;   // it computes on a GPU alone
  bool both = false;  // or on a GPU if there is one
  std::string dtypes;
  std::string_view (*text)();
};

const std::map<std::string, Language, std::less<>>& languages() {
  static const std::map<std::string, Language, std::less<>> kLanguages = {
      {"c",
       {.file = "mine.c",
        .build = "cc -O3 -march=native -fopenmp -shared -fPIC -I. mine.c -o libmine.so -lm",
        .dtypes = "fp32",
        .text = embedded_template_c}},
      {"cuda",
       {.file = "mine.cu",
        .build = "nvcc -O3 -arch=native -shared -Xcompiler -fPIC -I. mine.cu -o libmine.so",
        .gpu = true,
        .dtypes = "[fp32, bf16, fp16]",
        .text = embedded_template_cuda}},
      {"numpy", {.file = "mine.py", .dtypes = "fp32", .text = embedded_template_numpy}},
      {"torch", {.file = "mine.py", .both = true, .dtypes = "[fp32, bf16]", .text = embedded_template_torch}},
      {"triton",
       {.file = "mine.py", .gpu = true, .dtypes = "[fp32, bf16]", .text = embedded_template_triton}}};
  return kLanguages;
}

std::string filled(std::string_view text, const std::map<std::string, std::string>& values) {
  std::string made(text);
  for (const auto& [name, value] : values)
    for (std::size_t at = made.find("@" + name + "@"); at != std::string::npos;
         at = made.find("@" + name + "@"))
      made.replace(at, name.size() + 2, value);
  return made;
}

}  // namespace

const std::vector<std::string>& kernel_template_names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (const auto& [name, language] : languages()) names.push_back(name);
    return names;
  }();
  return kNames;
}

KernelTemplate kernel_template(std::string_view name, bool has_gpu) {
  const Language& language = languages().find(name)->second;
  const bool on_gpu = language.gpu || (language.both && has_gpu);
  const bool library = !language.build.empty();
  const std::map<std::string, std::string> values = {
      {"BUILD", library ? "#   " + language.build + "\n" : ""},
      {"LENGTHS", on_gpu ? "[16k, 64k]" : "[1k, 4k]"},
      {"PATTERNS", on_gpu ? "[2k/1, 8k/4]" : "[512/1, 2k/4]"},
      {"HEADS", on_gpu ? "8" : "4"},
      {"DTYPE", on_gpu ? "auto" : "fp32"},
      {"DTYPES", language.dtypes},
      {"DEVICE", on_gpu ? "cuda" : "cpu"},
      {"TEST_DEVICE", on_gpu ? "cuda" : "cpu\n  threads: 1"},
      {"KERNEL", library ? "{library: ./libmine.so}" : "{command: [python3, mine.py]}"}};
  KernelTemplate made{.files = {{language.file, std::string(language.text())},
                                {"mine.yaml", filled(embedded_template_kernel_yaml(), values)},
                                {"mine-test.yaml", filled(embedded_template_test_yaml(), values)}},
                      .commands = {},
                      .test = "hilbench run mine-test.yaml --allow-external --fresh"};
  if (library) {
    made.files.push_back({"hilbench/kernel.h", std::string(embedded_kernel_h())});
    made.commands.push_back(language.build);
  }
  made.commands.emplace_back("hilbench run mine.yaml --allow-external");
  made.commands.emplace_back("hilbench report results/mine");
  return made;
}

KernelTemplate rival_template(bool has_gpu) {
  const std::map<std::string, std::string> values = {{"DTYPE", has_gpu ? "auto" : "fp32"},
                                                     {"DEVICE", has_gpu ? "cuda" : "cpu"}};
  return {.files = {{"rival.py", std::string(embedded_template_rival())},
                    {"rival.yaml", filled(embedded_template_rival_yaml(), values)}},
          .commands = {"hilbench run rival.yaml --allow-external", "hilbench report results/rival"},
          .test = {}};
}

}  // namespace hilbench
