// What every transport must do, as one rank's part of it. All ranks call with the same arguments.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/ring/transport/transport.hpp"

namespace hilbench {

// The memory of messages; for CPU transports, this process's memory.
struct HostMemory {
  static void* allocate(std::size_t bytes) { return new unsigned char[bytes]; }
  static void free(void* data) { delete[] static_cast<unsigned char*>(data); }
  static void write(void* to, const std::vector<unsigned char>& from) {
    std::copy(from.begin(), from.end(), static_cast<unsigned char*>(to));
  }
  static std::vector<unsigned char> read(const void* from, std::size_t bytes) {
    const auto* data = static_cast<const unsigned char*>(from);
    return {data, data + bytes};
  }
};

template <class Memory>
class MessageBuffer {
 public:
  explicit MessageBuffer(std::size_t bytes) : bytes_(bytes), data_(Memory::allocate(bytes + kGuardBytes)) {
    Memory::write(data_, std::vector<unsigned char>(bytes + kGuardBytes, kGuard));
  }
  MessageBuffer(MessageBuffer&& other) noexcept
      : bytes_(other.bytes_), data_(std::exchange(other.data_, nullptr)) {}
  ~MessageBuffer() {
    if (data_ != nullptr) Memory::free(data_);
  }
  Transport::Message message(int peer) const { return {peer, data_, bytes_}; }
  void fill(const std::vector<unsigned char>& values) { Memory::write(data_, values); }
  // Expects `values`, and that nothing was written after them.
  void expect(std::span<const unsigned char> values, const std::string& what) const {
    const std::vector<unsigned char> found = Memory::read(data_, values.size() + kGuardBytes);
    const auto end = found.end() - kGuardBytes;
    EXPECT_TRUE(std::equal(values.begin(), values.end(), found.begin()) &&
                std::count(end, found.end(), kGuard) == kGuardBytes)
        << what;
  }

 private:
  static constexpr std::size_t kGuardBytes = 32;
  static constexpr unsigned char kGuard = 0xa5;
  std::size_t bytes_;
  void* data_;
};

// One message, known to both of its ends.
struct Letter {
  int exchange, source, destination;
  std::vector<unsigned char> values;
};

// No message, one or two for every exchange and pair of ranks: empty, small, odd and long ones.
inline std::vector<Letter> random_letters(int ranks, int exchanges, unsigned seed) {
  std::mt19937 random(seed);
  const std::size_t sizes[] = {0, 1, 3, 64, 1000, 4097, 40001};
  std::vector<Letter> letters;
  for (int exchange = 0; exchange < exchanges; ++exchange)
    for (int source = 0; source < ranks; ++source)
      for (int destination = 0; destination < ranks; ++destination)
        for (unsigned count = random() % 3; count > 0; --count) {
          std::vector<unsigned char> values(sizes[random() % std::size(sizes)]);
          unsigned value = random();
          for (unsigned char& byte : values)
            byte = static_cast<unsigned char>((value = value * 5 + 77) >> 24);
          letters.push_back({exchange, source, destination, std::move(values)});
        }
  return letters;
}

// One exchange under way.
template <class Memory>
struct Flight {
  std::deque<MessageBuffer<Memory>> sent, received;
  std::vector<const Letter*> expected;

  // Posts this rank's part of the exchange; returns the bytes that it sends to others.
  std::uint64_t post(Transport& transport, const std::vector<Letter>& letters, int exchange) {
    std::vector<Transport::Message> sends, receives;
    std::uint64_t bytes = 0;
    for (const Letter& letter : letters) {
      if (letter.exchange != exchange) continue;
      if (letter.source == transport.rank()) {
        sent.emplace_back(letter.values.size()).fill(letter.values);
        sends.push_back(sent.back().message(letter.destination));
        if (letter.destination != transport.rank()) bytes += letter.values.size();
      }
      if (letter.destination == transport.rank()) {
        receives.push_back(received.emplace_back(letter.values.size()).message(letter.source));
        expected.push_back(&letter);
      }
    }
    transport.post(sends, receives, Transport::After::stream,
                   exchange % 2 == 0 ? Transport::Mover::engines : Transport::Mover::kernel);
    return bytes;
  }

  void expect_received() const {
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const Letter& letter = *expected[i];
      received[i].expect(letter.values, "exchange " + std::to_string(letter.exchange) + ", " +
                                            std::to_string(letter.source) + " to " +
                                            std::to_string(letter.destination));
    }
  }
};

// Random messages over random exchanges, up to `depth` of them in flight.
template <class Memory>
void exercise_exchanges(Transport& transport, int exchanges, int depth, unsigned seed) {
  const std::vector<Letter> letters = random_letters(transport.size(), exchanges, seed);
  std::deque<Flight<Memory>> flights;
  std::uint64_t bytes = transport.bytes_sent();
  const auto land = [&] {
    transport.wait();
    flights.front().expect_received();
    flights.pop_front();
  };
  for (int exchange = 0; exchange < exchanges; ++exchange) {
    bytes += flights.emplace_back().post(transport, letters, exchange);
    if (flights.size() >= static_cast<std::size_t>(depth)) land();
  }
  while (!flights.empty()) land();
  EXPECT_EQ(transport.bytes_sent(), bytes);
}

// Messages of lines: every rank gives columns of a matrix to every other, which puts them into a wider one,
// whose rest stays as it was. Lines of 40 bytes, of 48, and of 37; and one message without lines.
template <class Memory>
void exercise_lines(Transport& transport, Transport::Mover mover = Transport::Mover::engines) {
  constexpr std::size_t kLines = 700, kFromStep = 96, kToStep = 112, kBegin = 16;
  ASSERT_TRUE(transport.strides());
  const auto matrix_of = [](int source) {
    std::vector<unsigned char> values(kLines * kFromStep);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<unsigned char>(i / kFromStep * 7 + i + static_cast<std::size_t>(source) * 50);
    return values;
  };
  for (const std::size_t line : {40, 48, 37}) {
    const auto message = [&](const MessageBuffer<Memory>& matrix, int peer, std::size_t step) {
      Transport::Message lines = matrix.message(peer);
      lines.data = static_cast<unsigned char*>(lines.data) + kBegin;
      lines.bytes = kLines * line, lines.lines = kLines, lines.step = step;
      return lines;
    };
    MessageBuffer<Memory> own(kLines * kFromStep);
    own.fill(matrix_of(transport.rank()));
    std::vector<MessageBuffer<Memory>> received, whole;
    std::vector<Transport::Message> sends, receives;
    for (int peer = 0; peer < transport.size(); ++peer) {
      received.emplace_back(kLines * kToStep).fill(std::vector<unsigned char>(kLines * kToStep, 0x5a));
      whole.emplace_back(kLines * kFromStep);
      sends.push_back(message(own, peer, kFromStep));
      receives.push_back(message(received.back(), peer, kToStep));
      sends.push_back(own.message(peer));
      receives.push_back(whole.back().message(peer));
    }
    transport.post(sends, receives, Transport::After::stream, mover);
    transport.wait();
    for (int peer = 0; peer < transport.size(); ++peer) {
      const std::vector<unsigned char> matrix = matrix_of(peer);
      std::vector<unsigned char> expected(kLines * kToStep, 0x5a);
      for (std::size_t row = 0; row < kLines; ++row)
        std::copy_n(matrix.begin() + static_cast<std::ptrdiff_t>(row * kFromStep + kBegin), line,
                    expected.begin() + static_cast<std::ptrdiff_t>(row * kToStep + kBegin));
      const std::string what = std::to_string(line) + " bytes a line, of rank " + std::to_string(peer);
      received[static_cast<std::size_t>(peer)].expect(expected, what);
      whole[static_cast<std::size_t>(peer)].expect(matrix, what);
    }
  }
}

// Every rank gets the values of all ranks, by rank, of any length; several times.
inline void exercise_gather(Transport& transport) {
  for (int round = 0; round < 5; ++round) {
    const auto value_of = [&](int rank) {
      return std::string(static_cast<std::size_t>(rank * round * 100), static_cast<char>('a' + rank)) + '\0' +
             std::to_string(round);
    };
    const std::vector<std::string> values = transport.gather(value_of(transport.rank()));
    ASSERT_EQ(values.size(), static_cast<std::size_t>(transport.size()));
    for (int rank = 0; rank < transport.size(); ++rank) EXPECT_EQ(values[rank], value_of(rank)) << rank;
    transport.barrier();
  }
}

// Messages of several chunks of a link, their lengths no multiples, to both neighbours at once and over
// again.
template <class Memory>
void exercise_long_messages(Transport& transport, std::size_t chunk_bytes) {
  const int ranks = transport.size(), rank = transport.rank();
  const std::size_t lengths[] = {3 * chunk_bytes + 17, 2 * chunk_bytes - 1, chunk_bytes};
  // Made in words, each of which no other place has: a sanitizer sees every store.
  const auto values = [](int source, std::size_t length) {
    std::vector<std::uint64_t> words(length / sizeof(std::uint64_t) + 1);
    for (std::size_t i = 0; i < words.size(); ++i)
      words[i] = (i << 8 | static_cast<std::size_t>(source)) * 0x9e3779b97f4a7c15;
    std::vector<unsigned char> made(length);
    std::memcpy(made.data(), words.data(), length);
    return made;
  };
  // Made once: the shorter messages, which follow, are the beginning of the first.
  const int peers[] = {(rank + 1) % ranks, (rank + ranks - 1) % ranks};
  const std::size_t longest = lengths[0];
  std::vector<unsigned char> own = values(rank, longest);
  const std::vector<unsigned char> expected[] = {values(peers[0], longest), values(peers[1], longest)};
  for (const std::size_t length : lengths) {
    own.resize(length);
    MessageBuffer<Memory> sent(length);
    sent.fill(own);
    const MessageBuffer<Memory> received[] = {MessageBuffer<Memory>(length), MessageBuffer<Memory>(length)};
    std::vector<Transport::Message> sends, receives;
    for (const int at : {0, 1}) {
      sends.push_back(sent.message(peers[at]));
      receives.push_back(received[at].message(peers[at]));
    }
    transport.post(sends, receives);
    transport.wait();
    received[0].expect(std::span(expected[0]).first(length), "from the next rank");
    received[1].expect(std::span(expected[1]).first(length), "from the previous rank");
  }
}

}  // namespace hilbench
