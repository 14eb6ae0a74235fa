#include "harness/launched/launch.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace hilbench {
namespace {

std::pair<int, int> launch(const std::map<std::string, std::string>& variables) {
  const Launch found = launch_of([&](const char* name) {
    const auto at = variables.find(name);
    return at == variables.end() ? nullptr : at->second.c_str();
  });
  return {found.rank, found.processes};
}

using RankAndProcesses = std::pair<int, int>;

TEST(Launch, IsToldByEachLauncher) {
  EXPECT_EQ(launch({{"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "4"}}), RankAndProcesses(2, 4));
  EXPECT_EQ(launch({{"PMI_RANK", "1"}, {"PMI_SIZE", "3"}}), RankAndProcesses(1, 3));
  EXPECT_EQ(launch({{"PMIX_RANK", "7"}, {"SLURM_STEP_NUM_TASKS", "8"}}), RankAndProcesses(7, 8));
}

// Open MPI's mpirun sets PMIX_RANK too, and may stand in a batch script of Slurm.
TEST(Launch, OpenMpiInsideSlurmIsOpenMpis) {
  EXPECT_EQ(launch({{"OMPI_COMM_WORLD_RANK", "1"},
                    {"OMPI_COMM_WORLD_SIZE", "2"},
                    {"PMIX_RANK", "1"},
                    {"SLURM_STEP_NUM_TASKS", "16"}}),
            RankAndProcesses(1, 2));
}

TEST(Launch, WhatIsNoLauncherOfMpiIsOneProcess) {
  const RankAndProcesses alone(0, 1);
  EXPECT_EQ(launch({}), alone);
  EXPECT_EQ(launch({{"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "0"}}), alone);
  EXPECT_EQ(launch({{"OMPI_COMM_WORLD_RANK", "0"}}), alone);
  EXPECT_EQ(launch({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "1"}}), alone);
  for (const char* nonsense : {"", "x", "-1", "4x", "99999999999"})
    EXPECT_EQ(launch({{"PMI_RANK", nonsense}, {"PMI_SIZE", "4"}}), alone) << nonsense;
  EXPECT_EQ(launch({{"PMI_RANK", "4"}, {"PMI_SIZE", "4"}}), alone);
}

}  // namespace
}  // namespace hilbench
