#include "kernels/ring/threads.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <optional>

namespace hilbench {
namespace {

using Lock = std::unique_lock<std::mutex>;
using Clock = std::chrono::steady_clock;

// A message, as far as its two ends have told of it.
struct Transfer {
  int source = 0, destination = 0;
  std::optional<Transport::Message> sent, expected;
  enum { idle, copying, done } state = idle;
};

// A gathering that not everyone has left.
struct Gathering {
  std::vector<std::optional<std::string>> values;
  std::size_t arrived = 0, left = 0;
};

// What the ranks share. All is guarded by `mutex`; a buffer is touched without it while its transfer is
// copying.
struct Group {
  Group(int ranks, double seconds)
      : size(ranks), timeout_s(seconds), changed(ranks), channels(ranks * ranks) {}

  const int size;
  const double timeout_s;
  std::mutex mutex;
  std::vector<std::condition_variable> changed;                 // one a rank: a call of it may go on
  std::vector<std::deque<std::shared_ptr<Transfer>>> channels;  // [source, destination]: one end is missing
  std::map<std::uint64_t, Gathering> gatherings;                // by their number
  std::optional<std::string> failure;

  void fail(const std::string& why) {
    if (failure) return;
    failure = why;
    for (std::condition_variable& condition : changed) condition.notify_all();
  }

  // The transfer whose end of that kind (`sent` or `expected`) is told now.
  std::shared_ptr<Transfer> tell(int source, int destination,
                                 std::optional<Transport::Message> Transfer::*end,
                                 const Transport::Message& message) {
    auto& channel = channels[source * size + destination];
    // All transfers of a channel lack the same end: either messages or receivers are ahead.
    if (channel.empty() || (*channel.front()).*end) {
      channel.push_back(std::make_shared<Transfer>(Transfer{source, destination, {}, {}, Transfer::idle}));
      (*channel.back()).*end = message;
      return channel.back();
    }
    const std::shared_ptr<Transfer> transfer = channel.front();
    channel.pop_front();
    (*transfer).*end = message;
    if (transfer->sent->bytes != transfer->expected->bytes)
      fail(fmt::format("rank {} sends {} bytes to rank {}, which expects {}", source, transfer->sent->bytes,
                       destination, transfer->expected->bytes));
    changed[source].notify_all();
    changed[destination].notify_all();
    return transfer;
  }
};

using Exchange = std::vector<std::shared_ptr<Transfer>>;

class ThreadTransport final : public Transport {
 public:
  ThreadTransport(int rank, std::shared_ptr<Group> group)
      : Transport(rank, group->size), group_(std::move(group)) {}
  // Buffers of exchanges that nobody waited for are about to go.
  ~ThreadTransport() override {
    if (!exchanges_.empty()) abort(fmt::format("rank {} left while it exchanged data", rank()));
  }

  void barrier() override { gather(""); }

  std::vector<std::string> gather(const std::string& mine) override {
    Lock lock(group_->mutex);
    if (group_->failure) raise(lock);
    Gathering& gathering = group_->gatherings[gatherings_++];
    gathering.values.resize(size());
    gathering.values[rank()] = mine;
    if (++gathering.arrived == static_cast<std::size_t>(size()))
      for (std::condition_variable& condition : group_->changed) condition.notify_all();
    const Clock::time_point deadline = this->deadline();
    while (gathering.arrived < static_cast<std::size_t>(size()))
      sleep(lock, deadline, [&] { return missing(gathering); });
    std::vector<std::string> values;
    for (const auto& value : gathering.values) values.push_back(*value);
    if (++gathering.left == static_cast<std::size_t>(size())) group_->gatherings.erase(gatherings_ - 1);
    return values;
  }

  void abort(const std::string& why) noexcept override {
    Lock lock(group_->mutex);
    group_->fail(why);
    release(lock);
  }

  std::string failure() override {
    Lock lock(group_->mutex);
    return group_->failure.value_or("");
  }

 private:
  void start(std::span<const Message> sends, std::span<const Message> receives) override {
    Lock lock(group_->mutex);
    Exchange exchange;
    for (const Message& message : sends)
      exchange.push_back(group_->tell(rank(), message.peer, &Transfer::sent, message));
    for (const Message& message : receives)
      exchange.push_back(group_->tell(message.peer, rank(), &Transfer::expected, message));
    exchanges_.push_back(std::move(exchange));
    if (group_->failure) raise(lock);
  }

  void finish() override {
    Lock lock(group_->mutex);
    const Clock::time_point deadline = this->deadline();
    for (;;) {
      if (group_->failure) raise(lock);
      const Transfer* open = unfinished();
      if (open == nullptr) break;
      if (const std::shared_ptr<Transfer> next = copyable(); next != nullptr)
        copy(lock, *next);
      else
        sleep(lock, deadline, [&] { return awaited(*open); });
    }
    exchanges_.pop_front();
  }

  Clock::time_point deadline() const {
    return Clock::now() +
           std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(group_->timeout_s));
  }

  // A message of the oldest exchange that is not copied.
  const Transfer* unfinished() const {
    for (const std::shared_ptr<Transfer>& transfer : exchanges_.front())
      if (transfer->state != Transfer::done) return transfer.get();
    return nullptr;
  }

  // A message of any exchange that can be copied now: nobody waits in vain for one of a later exchange.
  std::shared_ptr<Transfer> copyable() const {
    for (const Exchange& exchange : exchanges_)
      for (const std::shared_ptr<Transfer>& transfer : exchange)
        if (transfer->state == Transfer::idle && transfer->sent && transfer->expected) return transfer;
    return nullptr;
  }

  void copy(Lock& lock, Transfer& transfer) {
    transfer.state = Transfer::copying;
    lock.unlock();
    if (transfer.sent->bytes > 0)
      std::memcpy(transfer.expected->data, transfer.sent->data, transfer.sent->bytes);
    lock.lock();
    transfer.state = Transfer::done;
    group_->changed[transfer.source].notify_all();
    group_->changed[transfer.destination].notify_all();
  }

  // Until something changes; fails the group where the deadline has passed.
  template <class Awaited>
  void sleep(Lock& lock, Clock::time_point deadline, Awaited what) {
    if (!group_->failure && Clock::now() >= deadline)
      group_->fail(fmt::format("rank {} waited {} s for {}", rank(), group_->timeout_s, what()));
    if (group_->failure) raise(lock);
    group_->changed[rank()].wait_until(lock, deadline);
  }

  [[noreturn]] void raise(Lock& lock) {
    release(lock);
    throw TransportError(*group_->failure);
  }

  // When it returns no other rank copies from or to this one. Called after a failure: no copy begins.
  void release(Lock& lock) {
    group_->changed[rank()].wait(lock, [this] {
      for (const Exchange& exchange : exchanges_)
        for (const std::shared_ptr<Transfer>& transfer : exchange)
          if (transfer->state == Transfer::copying) return false;
      return true;
    });
    exchanges_.clear();
  }

  std::string awaited(const Transfer& transfer) const {
    if (transfer.destination == rank())
      return fmt::format("{} bytes from rank {}", transfer.expected->bytes, transfer.source);
    return fmt::format("rank {} to receive {} bytes", transfer.destination, transfer.sent->bytes);
  }

  std::string missing(const Gathering& gathering) const {
    std::vector<int> ranks;
    for (int other = 0; other < size(); ++other)
      if (!gathering.values[other]) ranks.push_back(other);
    return fmt::format("rank {} to come", fmt::join(ranks, ", "));
  }

  std::shared_ptr<Group> group_;
  std::deque<Exchange> exchanges_;  // posted and not waited for
  std::uint64_t gatherings_ = 0;
};

}  // namespace

std::vector<std::unique_ptr<Transport>> thread_transports(int size, double timeout_s) {
  const auto group = std::make_shared<Group>(size, timeout_s);
  std::vector<std::unique_ptr<Transport>> transports;
  for (int rank = 0; rank < size; ++rank)
    transports.push_back(std::make_unique<ThreadTransport>(rank, group));
  return transports;
}

}  // namespace hilbench
