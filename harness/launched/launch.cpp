#include "harness/launched/launch.hpp"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>

namespace hilbench {
namespace {

std::optional<int> number(const char* text) {
  if (text == nullptr) return std::nullopt;
  int value = 0;
  const char* end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, value);
  if (error != std::errc() || stop != end || value < 0) return std::nullopt;
  return value;
}

// In this sequence: Open MPI; MPICH's launchers and Slurm's pmi2; Slurm's pmix, where Slurm itself sets the
// number of tasks.
constexpr struct {
  const char* rank;
  const char* processes;
} kLaunchers[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                  {"PMI_RANK", "PMI_SIZE"},
                  {"PMIX_RANK", "SLURM_STEP_NUM_TASKS"}};

}  // namespace

Launch launch_of(const std::function<const char*(const char* name)>& variable) {
  for (const auto& launcher : kLaunchers) {
    const std::optional<int> rank = number(variable(launcher.rank)),
                             processes = number(variable(launcher.processes));
    if (rank && processes && *rank < *processes) return {*rank, *processes};
  }
  return {};
}

Launch launch_of_this_process() {
  return launch_of([](const char* name) { return std::getenv(name); });
}

}  // namespace hilbench
