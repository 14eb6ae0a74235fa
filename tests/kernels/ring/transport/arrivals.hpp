// Messages that set flags, and are passed on as they arrive: what a transport with signals() must do, as one
// rank's part of it.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "tests/kernels/ring/transport/exercise.hpp"

namespace hilbench {

// Every rank's data goes around the ring. Flags count on from round to round. All is posted before anything
// is waited for.
template <class Memory>
void exercise_arrivals(Transport& transport) {
  constexpr std::size_t kBytes = 36'000;
  const int ranks = transport.size(), rank = transport.rank();
  const auto data_of = [&](int source, int round, std::vector<unsigned char> before) {
    for (std::size_t i = 0; i < kBytes; ++i)
      before[i] = static_cast<unsigned char>(i / 24 * 7 + i + static_cast<std::size_t>(source * 50 + round));
    return before;
  };
  const auto message = [&](int peer, void* data) {
    return Transport::Message{.peer = peer, .data = data, .bytes = kBytes};
  };
  const std::vector<unsigned char> empty(kBytes, 0x5a);
  MessageBuffer<Memory> own(empty.size()), flags(sizeof(std::uint32_t) * static_cast<std::size_t>(ranks));
  flags.fill(std::vector<unsigned char>(sizeof(std::uint32_t) * static_cast<std::size_t>(ranks), 0));
  auto* const flag = static_cast<std::uint32_t*>(flags.message(0).data);
  std::vector<MessageBuffer<Memory>> received;
  for (int s = 0; s + 1 < ranks; ++s) received.emplace_back(empty.size()).fill(empty);
  for (int round = 1; round <= 4; ++round) {
    own.fill(data_of(rank, round, std::vector<unsigned char>(empty.size(), 0x33)));
    const auto value = static_cast<std::uint32_t>(10 * round);
    for (int s = 0; s + 1 < ranks; ++s) {
      const auto at = static_cast<std::size_t>(s);
      const Transport::Message sent =
          message((rank + 1) % ranks, s == 0 ? own.message(0).data : received[at - 1].message(0).data);
      Transport::Message expected = message((rank + ranks - 1) % ranks, received[at].message(0).data);
      expected.arrival = {.flag = flag + s, .value = value};
      if (s > 0) transport.settle();
      transport.post({&sent, 1}, {&expected, 1},
                     s == 0 ? Transport::After::stream : Transport::After::arrivals);
    }
    transport.settle();
    for (int s = 0; s + 1 < ranks; ++s) transport.wait();
    for (int s = 0; s + 1 < ranks; ++s) {
      const int source = (rank - 1 - s + ranks) % ranks;
      received[static_cast<std::size_t>(s)].expect(data_of(source, round, empty),
                                                   "shard of rank " + std::to_string(source));
      std::uint32_t told = 0;
      std::memcpy(&told, Memory::read(flag + s, sizeof told).data(), sizeof told);
      EXPECT_EQ(told, value) << "flag of rank " << source;
    }
  }
}

}  // namespace hilbench
