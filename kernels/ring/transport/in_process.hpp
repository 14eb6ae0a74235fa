// What transports between threads of one process share: matching of messages, and waiting.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "kernels/ring/transport/transport.hpp"

namespace hilbench {

// A message, as far as its two ends have posted it. `with` is data that each end's transport adds, `moved`
// data that the copy leaves.
struct Transfer {
  struct End {
    Transport::Message message;
    std::shared_ptr<void> with;
  };
  int source = 0, destination = 0;
  std::optional<End> sent, expected;
  enum { waiting, moving, done } state = waiting;
  bool matched = false;  // both ends are posted, and those of all messages that the source sent before it
  std::shared_ptr<void> moved;
  bool posted_by_both() const { return sent && expected; }
};

// What the ranks share. `mutex_` guards all of it; buffers are accessed without it.
class InProcessGroup {
 public:
  // `ended`: becomes 1 when the ring fails; kernels of the ranks may read it.
  InProcessGroup(int size, double timeout_s, std::shared_ptr<std::uint32_t> ended);

 private:
  friend class InProcessTransport;
  struct Gathering {
    std::vector<std::optional<std::string>> values;
    int arrived = 0, left = 0;
  };

  void wake(int rank) { changed_[rank].notify_all(); }
  void wake_all();
  void fail(const std::string& why);
  // The transfer to which this end (`sent` or `expected`) belongs.
  std::shared_ptr<Transfer> tell(int source, int destination, std::optional<Transfer::End> Transfer::*end,
                                 Transfer::End told);

  const int size_;
  const double timeout_s_;
  std::mutex mutex_;
  std::vector<std::condition_variable> changed_;                 // one per rank: wakes its waiting call
  std::vector<std::deque<std::shared_ptr<Transfer>>> channels_;  // [source, destination]: of one end so far
  std::vector<std::deque<std::shared_ptr<Transfer>>> sent_;      // [source]: not yet matched, in turn
  std::map<std::uint64_t, Gathering> gatherings_;  // those that some rank has not left, by number
  std::optional<std::string> failure_;
  const std::shared_ptr<std::uint32_t> ended_;
};

// A rank of the group. A derived class moves the data; its destructor calls leave().
class InProcessTransport : public Transport {
 public:
  InProcessTransport(int rank, std::shared_ptr<InProcessGroup> group);
  void barrier() final { gather(""); }
  std::vector<std::string> gather(const std::string& mine) final;
  void abort(const std::string& why) noexcept final;
  std::string failure() final;
  void settle() final;
  bool signals() const final { return true; }
  const std::uint32_t* ended() const final { return group_->ended_.get(); }

 protected:
  using Lock = std::unique_lock<std::mutex>;
  using Exchange = std::vector<std::shared_ptr<Transfer>>;

  const std::deque<Exchange>& exchanges() const { return exchanges_; }  // posted and not waited for
  void wake_ends(const Transfer& transfer);
  template <class Done>
  void wait_for_change(Lock& lock, Done done) {
    group_->changed_[rank()].wait(lock, done);
  }
  // Ends the ring if an exchange was not waited for, because its buffers are about to be freed.
  void leave() noexcept;

 private:
  // All of these are called with the lock and hold it when they return.
  // The data `with` the messages of an exchange that is being posted, in which this rank sends so many.
  virtual std::shared_ptr<void> prepare(After after, Mover mover, std::size_t sends) = 0;
  // Both ends of a transfer are posted, the second by some rank. Called for the messages of a rank in the
  // sequence in which it sent them, to whomever: so a sender decides who receives when. The transfer lives
  // until it is done, or the ring has failed.
  virtual void matched(Transfer&) {}
  // Does a part of an exchange; false if there is nothing to do.
  virtual bool advance(Lock&) { return false; }
  // Called when all transfers of the exchange that is waited for are done.
  virtual void complete(const Exchange&) {}
  // Called when the ring has failed: returns when nobody accesses a buffer of exchanges() any more.
  virtual void release(Lock&) noexcept = 0;

  void start(std::span<const Message> sends, std::span<const Message> receives, After after,
             Mover mover) final;
  void finish() final;
  void match(int source);
  const Transfer& open_before(const Transfer& transfer) const;
  [[noreturn]] void raise(Lock& lock);
  template <class Awaited>
  void sleep(Lock& lock, std::chrono::steady_clock::time_point deadline, Awaited awaited);
  std::chrono::steady_clock::time_point deadline() const;
  void end(Lock& lock, const std::string& why) noexcept;

  const std::shared_ptr<InProcessGroup> group_;
  std::deque<Exchange> exchanges_;
  std::uint64_t gathered_ = 0;
};

}  // namespace hilbench
