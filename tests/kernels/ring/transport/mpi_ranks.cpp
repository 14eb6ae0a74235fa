// One rank of the tests of `mpi`, started by mpirun with at least four ranks. Without an argument it is
// a GoogleTest program whose tests all ranks run; with `--fault NAME` rank 2 fails in that way while
// the ring moves data.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

#include "kernels/ring/transport/mpi.hpp"
#include "tests/kernels/ring/transport/exercise.hpp"

namespace hilbench {
namespace {

constexpr double kPatience_s = 60, kFaultPatience_s = 2;
MpiProgram* program = nullptr;

class MpiRanks : public testing::TestWithParam<int> {};

TEST_P(MpiRanks, ExchangeRandomMessages) {
  for (unsigned seed = 0; seed < 4; ++seed) {
    const std::unique_ptr<Transport> transport = program->transport(GetParam(), kPatience_s);
    ASSERT_EQ(transport == nullptr, program->rank() >= GetParam());
    if (transport != nullptr)
      exercise_exchanges<HostMemory>(*transport, 12, 1 + static_cast<int>(seed), seed);
  }
}

TEST_P(MpiRanks, ExchangeMessagesInParts) {
  const std::unique_ptr<Transport> transport = program->transport(GetParam(), kPatience_s, 1000);
  if (transport != nullptr) exercise_exchanges<HostMemory>(*transport, 8, 2, 77);
}

TEST_P(MpiRanks, Gather) {
  const std::unique_ptr<Transport> transport = program->transport(GetParam(), kPatience_s);
  if (transport != nullptr) exercise_gather(*transport);
}

// Large enough that a message moves only while both ends call MPI.
TEST_P(MpiRanks, PassShardsAround) {
  const int ranks = GetParam();
  const std::unique_ptr<Transport> transport = program->transport(ranks, kPatience_s);
  if (transport == nullptr) return;
  const int rank = transport->rank();
  constexpr std::size_t kCount = 1 << 20;
  std::vector<int> shards[2] = {std::vector<int>(kCount, rank), std::vector<int>(kCount)};
  for (int step = 1; step < 2 * ranks; ++step) {
    const Transport::Message sends[] = {
        {(rank + 1) % ranks, shards[(step + 1) % 2].data(), kCount * sizeof(int)}};
    const Transport::Message receives[] = {
        {(rank + ranks - 1) % ranks, shards[step % 2].data(), kCount * sizeof(int)}};
    transport->post(sends, receives);
    transport->wait();
    ASSERT_EQ(shards[step % 2], std::vector<int>(kCount, (rank + 2 * ranks - step) % ranks));
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, MpiRanks, testing::Range(1, 5), testing::PrintToStringParamName());

TEST(Mpi, TellsItsVersion) {
  EXPECT_EQ(mpi_absence(), "");
  EXPECT_NE(mpi_version().find_first_of("0123456789"), std::string::npos) << mpi_version();
}

TEST(Mpi, CountsTheRanksOfAHost) {
  EXPECT_EQ(program->local_rank(), program->rank());  // all are on this host
  EXPECT_EQ(program->first_on_host(), 0);
}

void fail(const std::string& fault, Transport& transport) {
  if (fault == "kill") ::raise(SIGKILL);
  if (fault == "hang") std::this_thread::sleep_for(std::chrono::hours(1));
  if (fault == "abort") transport.abort("rank 2 cannot allocate");
}

// Passes shards around until rank 2 fails.
int run_fault(const std::string& fault) {
  const std::unique_ptr<Transport> transport = program->transport(program->size(), kFaultPatience_s);
  const int rank = transport->rank(), ranks = transport->size();
  try {
    std::vector<char> from(1 << 20), to(from.size());
    for (int step = 0;; ++step) {
      const bool fails = rank == 2 && step == 5;
      if (fails) fail(fault, *transport);
      const std::size_t bytes = fails && fault == "size" ? 1000 : from.size();
      const Transport::Message sends[] = {{(rank + 1) % ranks, from.data(), bytes}};
      const Transport::Message receives[] = {{(rank + ranks - 1) % ranks, to.data(), to.size()}};
      transport->post(sends, receives);
      transport->wait();
    }
  } catch (const TransportError& error) {
    std::printf("%s\n", error.what());
    std::fflush(stdout);
    std::this_thread::sleep_for(std::chrono::milliseconds(500));  // the others write their messages
    program->abandon(4);
  }
}

}  // namespace
}  // namespace hilbench

int main(int count, char** arguments) {
  using namespace hilbench;
  MpiProgram mpi;
  program = &mpi;
  if (count == 3 && std::strcmp(arguments[1], "--fault") == 0) return run_fault(arguments[2]);
  if (mpi.rank() > 0) GTEST_FLAG_SET(brief, true);
  testing::InitGoogleTest(&count, arguments);
  return RUN_ALL_TESTS();
}
