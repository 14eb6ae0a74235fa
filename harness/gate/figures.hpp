// Figures that do not vary from run to run: what a sweep computes, and what it costs but for time.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hilbench {

// Names of the figures of a variant, in the sequence in which they are printed. Bytes but for
// `flops` and `instructions`; `comm_bytes` are sent by all ranks in one execution.
namespace figure {
inline constexpr std::string_view kFlops = "flops", kMinBytes = "min_bytes", kMemoryBytes = "memory_bytes",
                                  kCommBytes = "comm_bytes", kInstructions = "instructions";
// Of a GPU kernel: registers of a thread, bytes of a thread that are stored to memory for want of registers,
// and shared memory of a block that is known when it is compiled.
inline constexpr std::string_view kRegisters = "registers", kSpilledBytes = "spilled_bytes",
                                  kStaticSharedBytes = "static_shared_bytes";
}  // namespace figure

// Less is better for every figure. A figure that is not known has the reason, and is never 0.
struct FigureValue {
  std::optional<double> value;
  std::string reason;
};

// The figures of one variant of a case, or of one GPU kernel for one architecture.
struct FigureRow {
  std::string group;  // case id, or "sm_90a"
  std::string name;   // variant id, or the kernel as C++ writes it
  std::map<std::string, FigureValue, std::less<>> figures;
  std::string skip;          // why the plan skips the variant
  bool needs_a_gpu = false;  // then a skip may be due to this machine
  std::string text() const { return group + "/" + name; }
};

// What figures depend on, as name and value: they are compared only if all of it is equal.
using FigureBasis = std::map<std::string, std::string>;

// Instructions counted in one execution, single-threaded.
struct InstructionBasis {
  FigureBasis taken_with;  // counter, compiler, instruction set...; empty: not counted
  std::string absence;     // why not
  double tolerance = 0;    // share by which counts of one program may differ
};

struct KernelBasis {
  FigureBasis taken_with;  // the compiler; empty: this build has no GPU kernels
  std::string absence;
};

// The files that the GPU kernels are made of, each with its SHA-256, and the compiler and its flags. No file:
// this build has not compiled them.
struct DeviceCode {
  std::string compiler, flags;
  std::map<std::string, std::string> sources;
  bool operator==(const DeviceCode&) const = default;
};

struct FigureTable {
  std::string sweep;
  InstructionBasis instructions;
  KernelBasis kernels_basis;
  DeviceCode device_code;
  std::vector<FigureRow> variants;
  std::vector<FigureRow> kernels;
};

// The file `sweeps/ci.figures.json` for `sweeps/ci.yaml`.
std::filesystem::path figures_file_of(const std::filesystem::path& sweep);

// A row is a line, so that changes of the file read well.
std::string figures_json(const FigureTable& table);
// Throws UsageError if the text is not what figures_json() writes; `file` is for messages.
FigureTable figures_from_json(std::string_view text, const std::filesystem::path& file);

// The table as text for people.
std::string figures_text(const FigureTable& table);

}  // namespace hilbench
