// How the ranks of a ring exchange data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace hilbench {

// An exchange that cannot be completed: a rank that never came, died, aborted or expected another size, or
// the library that moves the data failed. All ranks of the ring get one; none of its transports works
// afterwards.
class TransportError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// One rank's end of a ring. Its calls come from that rank's thread, and the same GPU is current in all of
// them. Every call that blocks throws TransportError after the timeout that was given when the transport was
// made; the message names the rank, its peer and what was awaited. Then, as after abort(), no rank touches
// another's memory any more.
class Transport {
 public:
  struct Message {
    int peer = 0;  // may be the rank itself
    void* data = nullptr;
    std::size_t bytes = 0;  // the same at both ends; 0 is a message too
  };

  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;
  int rank() const { return rank_; }
  int size() const { return size_; }

  // Posts one exchange and returns at once. The n-th message from a to b is the n-th that b expects from a,
  // whatever exchanges they stand in. Until wait() has returned for it, what is sent stays unchanged, and
  // what is received is not to be read. On a GPU both are ordered after all work enqueued on stream 0 before.
  void post(std::span<const Message> sends, std::span<const Message> receives);
  // The oldest posted exchange not yet waited for is complete before what the rank does next (on a GPU:
  // before what is enqueued on stream 0 next; the host does not wait).
  void wait();
  // Returns when every rank is here. Of a GPU only the host is meant.
  virtual void barrier() = 0;
  // Everyone's small value, by rank.
  virtual std::vector<std::string> gather(const std::string& mine) = 0;
  // These two may be called from any thread. abort() wakes every blocked call on all ranks with
  // TransportError(why), and lets every later call fail so; the first reason counts. failure() is that
  // reason, "" while the ring works.
  virtual void abort(const std::string& why) noexcept = 0;
  virtual std::string failure() = 0;

  std::uint64_t bytes_sent() const { return bytes_sent_; }  // in all that was posted

 protected:
  Transport(int rank, int size) : rank_(rank), size_(size) {}

 private:
  virtual void start(std::span<const Message> sends, std::span<const Message> receives) = 0;
  virtual void finish() = 0;  // the oldest exchange that was started

  int rank_, size_;
  std::uint64_t bytes_sent_ = 0;
  std::size_t posted_ = 0;  // and not waited for
};

}  // namespace hilbench
