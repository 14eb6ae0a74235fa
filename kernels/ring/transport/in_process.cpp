#include "kernels/ring/transport/in_process.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <utility>

namespace hilbench {
namespace {

using Clock = std::chrono::steady_clock;

std::string awaited(const Transfer& transfer, int rank) {
  if (transfer.destination == rank && transfer.expected)
    return fmt::format("{} bytes from rank {}", transfer.expected->message.bytes, transfer.source);
  return fmt::format("rank {} to receive {} bytes", transfer.destination, transfer.sent->message.bytes);
}

}  // namespace

InProcessGroup::InProcessGroup(int size, double timeout_s, std::shared_ptr<std::uint32_t> ended)
    : size_(size),
      timeout_s_(timeout_s),
      changed_(size),
      channels_(size * size),
      sent_(size),
      ended_(std::move(ended)) {}

void InProcessGroup::wake_all() {
  for (std::condition_variable& condition : changed_) condition.notify_all();
}

void InProcessGroup::fail(const std::string& why) {
  if (failure_) return;
  failure_ = why;
  std::atomic_ref(*ended_).store(1, std::memory_order_release);
  wake_all();
}

std::shared_ptr<Transfer> InProcessGroup::tell(int source, int destination,
                                               std::optional<Transfer::End> Transfer::*end,
                                               Transfer::End told) {
  auto& channel = channels_[source * size_ + destination];
  // All transfers of a channel lack the same end, since either senders or receivers are ahead.
  if (channel.empty() || (*channel.front()).*end) {
    channel.push_back(std::make_shared<Transfer>());
    Transfer& transfer = *channel.back();
    transfer.source = source, transfer.destination = destination;
    transfer.*end = std::move(told);
    return channel.back();
  }
  const std::shared_ptr<Transfer> transfer = channel.front();
  channel.pop_front();
  (*transfer).*end = std::move(told);
  const Transport::Message &from = transfer->sent->message, &to = transfer->expected->message;
  if (const std::size_t sent = from.bytes, expected = to.bytes; sent != expected)
    fail(fmt::format("rank {} sends {} bytes to rank {}, which expects {}", source, sent, destination,
                     expected));
  if (from.lines != to.lines)
    fail(fmt::format("rank {} sends {} lines to rank {}, which expects {}", source, from.lines, destination,
                     to.lines));
  return transfer;
}

InProcessTransport::InProcessTransport(int rank, std::shared_ptr<InProcessGroup> group)
    : Transport(rank, group->size_, group->timeout_s_), group_(std::move(group)) {}

std::vector<std::string> InProcessTransport::gather(const std::string& mine) {
  Lock lock(group_->mutex_);
  if (group_->failure_) raise(lock);
  const std::uint64_t number = gathered_++;
  InProcessGroup::Gathering& gathering = group_->gatherings_[number];
  gathering.values.resize(size());
  gathering.values[rank()] = mine;
  if (++gathering.arrived == size()) group_->wake_all();
  const Clock::time_point end = deadline();
  while (gathering.arrived < size())
    sleep(lock, end, [&] {
      std::vector<int> missing;
      for (int other = 0; other < size(); ++other)
        if (!gathering.values[other]) missing.push_back(other);
      return fmt::format("rank {} to come", fmt::join(missing, ", "));
    });
  std::vector<std::string> values;
  for (const std::optional<std::string>& value : gathering.values) values.push_back(*value);
  if (++gathering.left == size()) group_->gatherings_.erase(number);
  return values;
}

void InProcessTransport::abort(const std::string& why) noexcept {
  Lock lock(group_->mutex_);
  end(lock, why);
}

std::string InProcessTransport::failure() {
  const Lock lock(group_->mutex_);
  return group_->failure_.value_or("");
}

void InProcessTransport::wake_ends(const Transfer& transfer) {
  group_->wake(transfer.source);
  group_->wake(transfer.destination);
}

void InProcessTransport::leave() noexcept {
  if (!exchanges_.empty()) abort(fmt::format("rank {} left while it exchanged data", rank()));
}

void InProcessTransport::start(std::span<const Message> sends, std::span<const Message> receives, After after,
                               Mover mover) {
  Lock lock(group_->mutex_);
  if (group_->failure_) raise(lock);
  try {
    const std::shared_ptr<void> with = prepare(after, mover, sends.size());
    Exchange& exchange = exchanges_.emplace_back();
    for (const Message& message : sends) {
      exchange.push_back(group_->tell(rank(), message.peer, &Transfer::sent, {message, with}));
      group_->sent_[rank()].push_back(exchange.back());
    }
    for (const Message& message : receives)
      exchange.push_back(group_->tell(message.peer, rank(), &Transfer::expected, {message, with}));
    if (group_->failure_) raise(lock);
    match(rank());
    for (const Message& message : receives) match(message.peer);
  } catch (const std::exception& error) {
    end(lock, error.what());
    throw;
  }
}

// What keeps a transfer from moving: itself, or the first message of its sender that is not matched.
const Transfer& InProcessTransport::open_before(const Transfer& transfer) const {
  const auto& sent = group_->sent_[transfer.source];
  return transfer.posted_by_both() && !transfer.matched && !sent.empty() ? *sent.front() : transfer;
}

void InProcessTransport::match(int source) {
  for (auto& sent = group_->sent_[source]; !sent.empty() && sent.front()->posted_by_both();
       sent.pop_front()) {
    matched(*sent.front());
    sent.front()->matched = true;
    wake_ends(*sent.front());
  }
}

void InProcessTransport::settle() {
  Lock lock(group_->mutex_);
  const Clock::time_point end = deadline();
  const auto open_in = [](const Exchange& exchange) {
    return std::find_if(exchange.begin(), exchange.end(),
                        [](const auto& transfer) { return !transfer->matched; });
  };
  for (const Exchange& exchange : exchanges_)
    for (;;) {
      if (group_->failure_) raise(lock);
      const auto open = open_in(exchange);
      if (open == exchange.end()) break;
      sleep(lock, end, [&] { return awaited(open_before(**open), rank()); });
    }
}

void InProcessTransport::finish() {
  Lock lock(group_->mutex_);
  const Clock::time_point end = deadline();
  for (;;) {
    if (group_->failure_) raise(lock);
    const Exchange& exchange = exchanges_.front();
    const auto open = std::find_if(exchange.begin(), exchange.end(),
                                   [](const auto& transfer) { return transfer->state != Transfer::done; });
    if (open == exchange.end()) break;
    if (!advance(lock)) sleep(lock, end, [&] { return awaited(open_before(**open), rank()); });
  }
  complete(exchanges_.front());
  exchanges_.pop_front();
}

void InProcessTransport::end(Lock& lock, const std::string& why) noexcept {
  group_->fail(why);
  release(lock);
  exchanges_.clear();
}

void InProcessTransport::raise(Lock& lock) {
  end(lock, *group_->failure_);
  throw TransportError(*group_->failure_);
}

// Waits until something changes; fails the group if the deadline has passed.
template <class Awaited>
void InProcessTransport::sleep(Lock& lock, Clock::time_point deadline, Awaited awaited) {
  if (!group_->failure_ && Clock::now() >= deadline)
    group_->fail(fmt::format("rank {} waited {} s for {}", rank(), group_->timeout_s_, awaited()));
  if (group_->failure_) raise(lock);
  group_->changed_[rank()].wait_until(lock, deadline);
}

Clock::time_point InProcessTransport::deadline() const {
  return Clock::now() +
         std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(group_->timeout_s_));
}

}  // namespace hilbench
