// How the ranks of a ring exchange data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace hilbench {

// An exchange cannot be completed: a rank did not arrive, died, aborted or expected another
// size, or the library that moves the data failed. All ranks of the ring get this error; none of
// its transports works afterwards.
class TransportError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// One rank's end of a ring. That rank's thread makes all calls, with the same GPU current in all of them.
// Every call that blocks throws TransportError after the timeout that was given when the transport was made;
// its message names the rank, its peer and what was awaited. After that, and after abort(), no rank accesses
// another's memory any more.
class Transport {
 public:
  // A word in the receiver's memory that gets a value after a message has arrived, and all messages before it
  // from the same rank: a kernel may wait for it. The value is visible after the data.
  struct Arrival {
    std::uint32_t* flag = nullptr;  // null: none
    std::uint32_t value = 0;
  };
  struct Message {
    int peer = 0;  // may be the rank itself
    void* data = nullptr;
    std::size_t bytes = 0;  // the same at both ends; 0 is a message too
    Arrival arrival = {};   // of a message that is received
    // The bytes are `lines` lines of equal length, as many at both ends, whose begins are `step` bytes apart,
    // which may differ. More than one only if strides() is true.
    std::size_t lines = 1, step = 0;
  };
  // When an exchange may begin. stream: on a GPU after all work that is on stream 0 already. arrivals: after
  // all that this rank receives in earlier exchanges has arrived, so that it may be passed on.
  enum class After { stream, arrivals };
  // What moves the messages of several lines that a rank sends in an exchange over `peer`; others, and all
  // other transports, take no notice. kernel: one launch for up to 64 messages, once all receivers have
  // posted theirs; faster if lines are short or messages many, but it needs multiprocessors and sets no
  // flags: for an exchange beside which nothing is computed. Engines move all if GPUs cannot access each
  // other's memory, or over an emulated link.
  enum class Mover { engines, kernel };

  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;
  int rank() const { return rank_; }
  int size() const { return size_; }

  // Posts one exchange and returns at once. The n-th message from a to b is the n-th that b expects from a,
  // in whatever exchanges they are. A rank's messages move in the sequence in which it sends them, to
  // whomever (but see Mover::kernel): one that its receiver does not expect yet holds up those after it.
  // Until wait() has returned for the exchange, do not change sent data and do not read received data, unless
  // a flag shows that it has arrived. Flags and After::arrivals only if signals() is true. After::arrivals:
  // call settle() before.
  void post(std::span<const Message> sends, std::span<const Message> receives, After after = After::stream,
            Mover mover = Mover::engines);
  // Returns when both ends have posted this rank's messages, and those that their senders sent before, and
  // whatever a host must do for them is done: a kernel that is enqueued on stream 0 from now on may wait for
  // their flags. (Between threads the messages move in wait().)
  virtual void settle() = 0;
  // True if messages may set flags; if they may be of several lines.
  virtual bool signals() const { return false; }
  virtual bool strides() const { return false; }
  // Multiprocessors that must stay free of kernels which wait for flags, because exchanges need them.
  virtual int multiprocessors() const { return 0; }
  // A word of host memory, not 0 once the ring has failed: kernels that wait for flags end then. May be null.
  virtual const std::uint32_t* ended() const { return nullptr; }

  double timeout_s() const { return timeout_s_; }
  // Completes the oldest posted exchange that was not waited for. On a GPU the host does not wait: work that
  // is enqueued on stream 0 from now on comes after the exchange.
  void wait();
  // Returns when every rank has called it. Orders hosts only, not their GPUs.
  virtual void barrier() = 0;
  // The small values of all ranks, by rank.
  virtual std::vector<std::string> gather(const std::string& mine) = 0;
  // These two may be called from any thread. abort() ends every blocked call on all ranks with
  // TransportError(why), and every later call; the first reason counts. failure() returns that reason, ""
  // while the ring works.
  virtual void abort(const std::string& why) noexcept = 0;
  virtual std::string failure() = 0;

  // Counted over all that was posted: to all other ranks, and to one.
  std::uint64_t bytes_sent() const;
  std::uint64_t bytes_sent_to(int peer) const { return bytes_sent_to_[static_cast<std::size_t>(peer)]; }

 protected:
  Transport(int rank, int size, double timeout_s)
      : rank_(rank), size_(size), timeout_s_(timeout_s), bytes_sent_to_(static_cast<std::size_t>(size), 0) {}

 private:
  virtual void start(std::span<const Message> sends, std::span<const Message> receives, After after,
                     Mover mover) = 0;
  virtual void finish() = 0;  // the oldest exchange that was started

  int rank_, size_;
  double timeout_s_;
  std::vector<std::uint64_t> bytes_sent_to_;  // [size]
  std::size_t posted_ = 0;                    // and not waited for
};

}  // namespace hilbench
