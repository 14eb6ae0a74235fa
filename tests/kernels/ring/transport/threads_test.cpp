#include "kernels/ring/transport/threads.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>

#include "tests/kernels/ring/transport/arrivals.hpp"
#include "tests/kernels/ring/transport/exercise.hpp"
#include "tests/kernels/ring/transport/run_ranks.hpp"
#include "tests/sanitized.hpp"

namespace hilbench {
namespace {

constexpr double kPatience_s = 60;
using Transports = std::vector<std::unique_ptr<Transport>>;

// Runs each rank's part over `threads`; returns what each threw, "" for nothing.
std::vector<std::string> run_threads(int ranks, double timeout_s, const std::function<void(Transport&)>& part,
                                     EmulatedLink link = {}) {
  const Transports transports = thread_transports(ranks, timeout_s, link);
  return run_ranks(ranks, [&](int rank) { part(*transports[rank]); });
}

class ThreadRanks : public testing::TestWithParam<int> {};

TEST_P(ThreadRanks, ExchangeRandomMessages) {
  for (unsigned seed = 0; seed < (kSanitized ? 1 : 3); ++seed)
    expect_no_errors(run_threads(GetParam(), kPatience_s, [&](Transport& transport) {
      exercise_exchanges<HostMemory>(transport, 12, 1 + static_cast<int>(seed % 4), seed);
    }));
}

// Groups of one or two ranks: of a ring, some messages or all cross the link.
TEST_P(ThreadRanks, CrossAnEmulatedLink) {
  for (const int group_size : {1, 2}) {
    const EmulatedLink link{.group_size = group_size};
    expect_no_errors(run_threads(
        GetParam(), kPatience_s,
        [&](Transport& transport) {
          exercise_exchanges<HostMemory>(transport, 12, 3, static_cast<unsigned>(group_size));
          if (!kSanitized || GetParam() <= 3) exercise_long_messages<HostMemory>(transport, kLinkChunkBytes);
        },
        link));
  }
}

TEST_P(ThreadRanks, TellOfArrivals) {
  for (const EmulatedLink link : {EmulatedLink{}, EmulatedLink{.group_size = 1}})
    expect_no_errors(run_threads(GetParam(), kPatience_s, exercise_arrivals<HostMemory>, link));
}

TEST_P(ThreadRanks, ExchangeLines) {
  expect_no_errors(run_threads(GetParam(), kPatience_s,
                               [](Transport& transport) { exercise_lines<HostMemory>(transport); }));
}

TEST_P(ThreadRanks, Gather) {
  expect_no_errors(run_threads(GetParam(), kPatience_s, exercise_gather));
}

TEST_P(ThreadRanks, AreAllHereAfterABarrier) {
  std::atomic<int> arrived = 0;
  expect_no_errors(run_threads(GetParam(), kPatience_s, [&](Transport& transport) {
    for (int round = 1; round <= 50; ++round) {
      ++arrived;
      transport.barrier();
      EXPECT_GE(arrived, round * GetParam());
      transport.barrier();
    }
  }));
}

// Every received buffer is sent on in the next step, as in a ring.
TEST_P(ThreadRanks, PassShardsAround) {
  constexpr std::size_t kLength = kSanitized ? 1000 : 10'000;
  const int ranks = GetParam();
  expect_no_errors(run_threads(ranks, kPatience_s, [&](Transport& transport) {
    const int rank = transport.rank(), next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;
    std::vector<int> shards[2] = {std::vector<int>(kLength, rank), std::vector<int>(kLength)};
    const std::size_t bytes = shards[0].size() * sizeof(int);
    for (int step = 1; step < 3 * ranks; ++step) {
      const Transport::Message sends[] = {{next, shards[(step + 1) % 2].data(), bytes}};
      const Transport::Message receives[] = {{previous, shards[step % 2].data(), bytes}};
      transport.post(sends, receives);
      transport.wait();
      EXPECT_EQ(shards[step % 2], std::vector<int>(kLength, (rank + 3 * ranks - step) % ranks));
    }
  }));
}

INSTANTIATE_TEST_SUITE_P(Sizes, ThreadRanks, testing::Range(1, 9), testing::PrintToStringParamName());

// Messages match by their sequence between two ranks, in whatever exchanges they are.
TEST(Threads, MatchAcrossExchanges) {
  expect_no_errors(run_threads(2, kPatience_s, [](Transport& transport) {
    int values[4] = {10, 11, 12, 13};
    if (transport.rank() == 0) {
      const Transport::Message sends[] = {{1, &values[0], sizeof(int)}, {1, &values[1], sizeof(int)}};
      const Transport::Message more[] = {{1, &values[2], sizeof(int)}, {1, &values[3], sizeof(int)}};
      transport.post(sends, {});
      transport.post(more, {});
      transport.wait();
      transport.wait();
    } else {
      int received[4] = {};
      for (int& value : received) {
        const Transport::Message receives[] = {{0, &value, sizeof(int)}};
        transport.post({}, receives);
      }
      for (int i = 0; i < 4; ++i) {
        transport.wait();
        EXPECT_EQ(received[i], values[i]);
      }
    }
  }));
}

// Rank 0 first waits for the second exchange of rank 1.
TEST(Threads, ALaterExchangeIsNotHeldUp) {
  expect_no_errors(run_threads(2, kPatience_s, [](Transport& transport) {
    int first = 1, second = 2;
    const Transport::Message sends[2][1] = {{{1, &first, sizeof(int)}}, {{0, &second, sizeof(int)}}};
    const Transport::Message receives[2][1] = {{{0, &first, sizeof(int)}}, {{1, &second, sizeof(int)}}};
    if (transport.rank() == 0) {
      transport.post({}, receives[1]);
      transport.wait();
      transport.post(sends[0], {});
      transport.wait();
    } else {
      transport.post({}, receives[0]);
      transport.post(sends[1], {});
      transport.wait();
      transport.wait();
    }
  }));
}

TEST(Threads, ARankThatNeverComesIsNamed) {
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<std::string> errors = run_threads(4, 0.3, [](Transport& transport) {
    int value = 0;
    if (transport.rank() == 2) return;
    const Transport::Message receives[] = {{2, &value, sizeof(int)}};
    transport.post({}, receives);
    transport.wait();
  });
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
  for (const int rank : {0, 1, 3})
    EXPECT_TRUE(errors[rank].ends_with("for 4 bytes from rank 2")) << errors[rank];
  EXPECT_EQ(errors[2], "");
}

TEST(Threads, AReceiverThatNeverComesIsNamed) {
  const std::vector<std::string> errors = run_threads(2, 0.2, [](Transport& transport) {
    int value = 0;
    if (transport.rank() == 1) return;
    const Transport::Message sends[] = {{1, &value, sizeof(int)}};
    transport.post(sends, {});
    transport.wait();
  });
  EXPECT_EQ(errors[0], "rank 0 waited 0.2 s for rank 1 to receive 4 bytes");
}

TEST(Threads, WhoIsMissingAtABarrierIsNamed) {
  const std::vector<std::string> errors = run_threads(4, 0.2, [](Transport& transport) {
    if (transport.rank() % 2 == 0) transport.barrier();
  });
  for (const int rank : {0, 2}) EXPECT_TRUE(errors[rank].ends_with("for rank 1, 3 to come")) << errors[rank];
}

TEST(Threads, EndsThatDifferAreTold) {
  const auto expect_told = [](Transport::Message sent, Transport::Message expected, const std::string& told) {
    const std::vector<std::string> errors = run_threads(2, kPatience_s, [&](Transport& transport) {
      int values[4] = {};
      Transport::Message mine = transport.rank() == 0 ? sent : expected;
      mine.peer = 1 - transport.rank(), mine.data = values;
      if (transport.rank() == 0)
        transport.post({&mine, 1}, {});
      else
        transport.post({}, {&mine, 1});
      transport.wait();
    });
    for (const std::string& error : errors) EXPECT_EQ(error, told);
  };
  expect_told({.bytes = 4}, {.bytes = 8}, "rank 0 sends 4 bytes to rank 1, which expects 8");
  expect_told({.bytes = 8, .lines = 2, .step = 8}, {.bytes = 8},
              "rank 0 sends 2 lines to rank 1, which expects 1");
}

// A sender decides who receives when: the message to rank 2 waits for the one to rank 1, which is named.
TEST(Threads, MessagesOfARankMoveInTurn) {
  const std::vector<std::string> errors = run_threads(3, 0.5, [](Transport& transport) {
    int values[2] = {};
    const Transport::Message sends[] = {{1, values, 4}, {2, values + 1, 4}};
    const Transport::Message receives[] = {{0, values, 4}};
    if (transport.rank() == 0) transport.post(sends, {});
    if (transport.rank() == 2) {
      transport.post({}, receives);
      transport.settle();
    }
    std::this_thread::sleep_for(std::chrono::seconds(2));
    transport.barrier();
  });
  for (const std::string& error : errors)
    EXPECT_EQ(error, "rank 2 waited 0.5 s for rank 1 to receive 4 bytes");
}

TEST(Threads, AbortWakesEveryone) {
  const std::vector<std::string> errors = run_threads(5, kPatience_s, [](Transport& transport) {
    int value = 0;
    const Transport::Message receives[] = {{4, &value, sizeof(int)}};
    switch (transport.rank()) {
      case 4:
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        transport.abort("rank 4 cannot allocate");
        break;
      case 3:
        transport.barrier();
        break;
      case 2:
        transport.gather("2");
        break;
      default:
        transport.post({}, receives);
        transport.wait();
    }
    transport.barrier();  // only rank 4 gets here: later calls fail too
  });
  for (const std::string& error : errors) EXPECT_EQ(error, "rank 4 cannot allocate");
}

TEST(Threads, ARankThatLeavesInTheMiddleEndsTheRing) {
  Transports transports = thread_transports(2, kPatience_s);
  int value = 0;
  const Transport::Message sends[] = {{1, &value, sizeof(int)}}, receives[] = {{0, &value, sizeof(int)}};
  transports[0]->post(sends, {});
  transports[0].reset();
  EXPECT_THROW(transports[1]->post({}, receives), TransportError);
}

// Ranks fail at any moment while large messages move, and free their buffers as soon as the error arrives.
// Address and thread sanitizers show if anyone still copies then.
TEST(Threads, NoCopyOutlivesAFailure) {
  for (int round = 0; round < 40; ++round)
    run_threads(3, kPatience_s, [&](Transport& transport) {
      const int next = (transport.rank() + 1) % 3, previous = (transport.rank() + 2) % 3;
      for (int step = 0;; ++step) {
        std::vector<char> from(300'000, static_cast<char>(step)), to(from.size());
        const Transport::Message sends[] = {{next, from.data(), from.size()}};
        const Transport::Message receives[] = {{previous, to.data(), to.size()}};
        try {
          transport.post(sends, receives);
          if (transport.rank() == round % 3 && step == round % 7) {
            transport.abort("enough");
            std::fill(from.begin(), from.end(), 'x');
            std::fill(to.begin(), to.end(), 'y');
          }
          transport.wait();
        } catch (const TransportError&) {
          std::fill(from.begin(), from.end(), 'x');
          std::fill(to.begin(), to.end(), 'y');
          throw;
        }
        EXPECT_EQ(to, from);
      }
    });
}

TEST(Threads, OurOwnMistakesAreNoTransportErrors) {
  const Transports transports = thread_transports(2, kPatience_s);
  int value = 0;
  const Transport::Message nowhere[] = {{2, &value, sizeof(int)}};
  EXPECT_THROW(transports[0]->post(nowhere, {}), std::out_of_range);
  EXPECT_THROW(transports[0]->wait(), std::logic_error);
}

}  // namespace
}  // namespace hilbench
