// Costs that do not vary from run to run: what a sweep computes, and what it costs but for time.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hilbench {

// Names of the costs of a variant, in the sequence in which they are printed. Bytes but for
// `flops` and `instructions`; `comm_bytes` are sent by all ranks in one execution.
namespace cost {
inline constexpr std::string_view kFlops = "flops", kMinBytes = "min_bytes", kMemoryBytes = "memory_bytes",
                                  kCommBytes = "comm_bytes", kInstructions = "instructions";
// Of a GPU kernel: registers of a thread, bytes of a thread that are stored to memory for want of registers,
// and shared memory of a block that is known when it is compiled.
inline constexpr std::string_view kRegisters = "registers", kSpilledBytes = "spilled_bytes",
                                  kStaticSharedBytes = "static_shared_bytes";
}  // namespace cost

// Less is better for every cost. A cost that is not known has the reason, and is never 0.
struct CostValue {
  std::optional<double> value;
  std::string reason;
};

// The costs of one variant of a case, or of one GPU kernel for one architecture.
struct CostRow {
  std::string group;  // case id, or "sm_90a"
  std::string name;   // variant id, or the kernel as C++ writes it
  std::map<std::string, CostValue, std::less<>> costs;
  std::string skip;          // why the plan skips the variant
  bool needs_a_gpu = false;  // then a skip may be due to this machine
  std::string text() const { return group + "/" + name; }
};

// What costs depend on, as name and value: they are compared only if all of it is equal.
using CostBasis = std::map<std::string, std::string>;

// Instructions counted in one execution, single-threaded.
struct InstructionBasis {
  CostBasis taken_with;  // counter, compiler, instruction set...; empty: not counted
  std::string absence;   // why not
  double tolerance = 0;  // share by which counts of one program may differ
};

struct KernelBasis {
  CostBasis taken_with;  // the compiler; empty: this build has no GPU kernels
  std::string absence;
};

// The files that the GPU kernels are made of, each with its SHA-256, and the compiler and its flags. No file:
// this build has not compiled them.
struct DeviceCode {
  std::string compiler, flags;
  std::map<std::string, std::string> sources;
  bool operator==(const DeviceCode&) const = default;
};

struct CostTable {
  std::string sweep;
  InstructionBasis instructions;
  KernelBasis kernels_basis;
  DeviceCode device_code;
  std::vector<CostRow> variants;
  std::vector<CostRow> kernels;
};

// The file `sweeps/ci.costs.json` for `sweeps/ci.yaml`.
std::filesystem::path costs_file_of(const std::filesystem::path& sweep);

// A row is a line, so that changes of the file read well.
std::string costs_json(const CostTable& table);
// Throws UsageError if the text is not what costs_json() writes; `file` is for messages.
CostTable costs_from_json(std::string_view text, const std::filesystem::path& file);

// The table as text for people.
std::string costs_text(const CostTable& table);

}  // namespace hilbench
