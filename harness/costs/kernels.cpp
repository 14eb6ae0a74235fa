#include "harness/costs/kernels.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <regex>
#include <sstream>
#include <string>
#include <tuple>

namespace hilbench {

std::string_view embedded_kernel_resources();

namespace {

std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 ? text.get() : name;
}

// The kernel without its parameters and its home, which say nothing about it: "void
// hilbench::cuda::(anonymous namespace)::f<(hilbench::Dtype)1>(int)" is "f<(Dtype)1>".
std::string short_name(const std::string& mangled) {
  static const std::regex kHomes(R"(hilbench::|cuda::|\(anonymous namespace\)::)");
  std::string name = std::regex_replace(demangled(mangled), kHomes, "");
  if (name.starts_with("void ")) name.erase(0, 5);
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<') ++depth;
    if (name[i] == '>') --depth;
    if (name[i] == '(' && depth == 0) return name.substr(0, i);
  }
  return name;
}

std::optional<double> number_before(const std::string& line, const std::string& words) {
  std::smatch match;
  const std::regex pattern("([0-9]+) " + words);
  if (!std::regex_search(line, match, pattern)) return std::nullopt;
  return std::stod(match[1]);
}

// Reads the lines of one kernel after another: its name, "bytes stack frame ... spill stores", "Used ...
// registers".
class PtxasLines {
 public:
  void read(const std::string& line) {
    static const std::regex kEntry("Compiling entry function '([^']+)' for '([^']+)'");
    static const std::regex kProperties("Function properties for ([^ ]+)");
    std::smatch match;
    if (std::regex_search(line, match, kEntry)) {
      entry_ = match[1];
      row_ = {.group = match[2], .name = short_name(entry_)};
    } else if (std::regex_search(line, match, kProperties)) {
      of_entry_ = match[1] == entry_;  // else of a function that the kernel calls
    } else if (const auto spilled = number_before(line, "bytes spill stores"); spilled && of_entry_) {
      set(cost::kSpilledBytes, *spilled);
    } else if (const auto registers = number_before(line, "registers"); registers && !entry_.empty()) {
      set(cost::kRegisters, *registers);
      set(cost::kStaticSharedBytes, number_before(line, "bytes smem").value_or(0));
      rows.push_back(row_);
      entry_.clear();
    }
  }

  std::vector<CostRow> rows;

 private:
  void set(std::string_view name, double value) { row_.costs[std::string(name)] = {value, ""}; }

  std::string entry_;  // mangled; empty: no kernel is being read
  bool of_entry_ = false;
  CostRow row_;
};

// Two kernels may have the same short name: they are numbered.
void number_equals(std::vector<CostRow>& rows) {
  std::map<std::string, int> seen;
  for (CostRow& row : rows)
    if (const int before = seen[row.text()]++; before > 0) row.name += " #" + std::to_string(before + 1);
}

}  // namespace

KernelCosts parse_kernel_costs(std::string_view text) {
  std::istringstream lines{std::string(text)};
  KernelCosts costs;
  PtxasLines ptxas;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("absent: "))
      costs.basis.absence = line.substr(8);
    else if (line.starts_with("compiler: "))
      costs.basis.taken_with["compiler"] = costs.device_code.compiler = line.substr(10);
    else if (line.starts_with("flags: "))
      costs.device_code.flags = line.substr(7);
    else if (const std::size_t space = line.rfind(' '); line.starts_with("source: ") && space > 8)
      costs.device_code.sources[line.substr(8, space - 8)] = line.substr(space + 1);
    else
      ptxas.read(line);
  }
  costs.rows = std::move(ptxas.rows);
  std::ranges::stable_sort(costs.rows, [](const CostRow& a, const CostRow& b) {
    return std::tie(a.group, a.name) < std::tie(b.group, b.name);
  });
  number_equals(costs.rows);
  return costs;
}

KernelCosts kernel_costs() {
  return parse_kernel_costs(embedded_kernel_resources());
}

}  // namespace hilbench
