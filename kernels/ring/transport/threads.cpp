#include "kernels/ring/transport/threads.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <set>
#include <utility>

#include "kernels/ring/transport/in_process.hpp"

namespace hilbench {
namespace {

class ThreadTransport final : public InProcessTransport {
 public:
  ThreadTransport(int rank, std::shared_ptr<InProcessGroup> group, EmulatedLink link)
      : InProcessTransport(rank, std::move(group)),
        link_(link),
        between_(link.present() ? kLinkChunkBytes : 0) {}
  ~ThreadTransport() override { leave(); }
  bool strides() const override { return !link_.present(); }

 private:
  // The transfers of which this rank receives something that it may be about to pass on.
  std::shared_ptr<void> prepare(After after, Mover, std::size_t) override {
    auto before = std::make_shared<Exchange>();
    if (after == After::arrivals)
      for (const Exchange& exchange : exchanges())
        for (const std::shared_ptr<Transfer>& transfer : exchange)
          if (transfer->destination == rank() && transfer->state != Transfer::done)
            before->push_back(transfer);
    return before;
  }

  static bool may_move(const Transfer& transfer) {
    if (transfer.state != Transfer::waiting || !transfer.posted_by_both()) return false;
    const auto before = std::static_pointer_cast<Exchange>(transfer.sent->with);
    return std::all_of(before->begin(), before->end(),
                       [](const auto& earlier) { return earlier->state == Transfer::done; });
  }

  // Copies a message of any exchange, because the other rank may be waiting for one of a later exchange. A
  // message that sets a flag moves after all before it from the same rank.
  bool advance(Lock& lock) override {
    std::set<std::pair<int, int>> open;
    for (const Exchange& exchange : exchanges())
      for (const std::shared_ptr<Transfer>& transfer : exchange) {
        if (transfer->state == Transfer::done) continue;
        const bool first = open.emplace(transfer->source, transfer->destination).second;
        if (!may_move(*transfer) || (!first && transfer->expected->message.arrival.flag != nullptr)) continue;
        copy(lock, *std::shared_ptr<Transfer>(transfer));
        return true;
      }
    return false;
  }

  void copy(Lock& lock, Transfer& transfer) {
    const Message from = transfer.sent->message, to = transfer.expected->message;
    transfer.state = Transfer::moving;
    lock.unlock();
    if (link_.crossed_by(transfer.source, transfer.destination))
      cross(from, static_cast<std::byte*>(to.data));
    else if (from.bytes > 0)
      for (std::size_t line = 0; line < from.lines; ++line)
        std::memcpy(static_cast<std::byte*>(to.data) + line * to.step,
                    static_cast<const std::byte*>(from.data) + line * from.step, from.bytes / from.lines);
    if (to.arrival.flag != nullptr)
      std::atomic_ref(*to.arrival.flag).store(to.arrival.value, std::memory_order_release);
    lock.lock();
    transfer.state = Transfer::done;
    wake_ends(transfer);
  }

  void cross(const Message& from, std::byte* to) {
    for (std::size_t begin = 0; begin < from.bytes; begin += between_.size()) {
      const std::size_t bytes = std::min(between_.size(), from.bytes - begin);
      std::memcpy(between_.data(), static_cast<const std::byte*>(from.data) + begin, bytes);
      std::memcpy(to + begin, between_.data(), bytes);
    }
  }

  void release(Lock& lock) noexcept override {
    for (const Exchange& exchange : exchanges())
      for (const std::shared_ptr<Transfer>& transfer : exchange)
        wait_for_change(lock, [&] { return transfer->state != Transfer::moving; });
  }

  const EmulatedLink link_;
  std::vector<std::byte> between_;  // a chunk in host memory; the thread that copies uses its own
};

}  // namespace

std::vector<std::unique_ptr<Transport>> thread_transports(int size, double timeout_s, EmulatedLink link) {
  const auto group = std::make_shared<InProcessGroup>(size, timeout_s, std::make_shared<std::uint32_t>(0));
  std::vector<std::unique_ptr<Transport>> transports;
  for (int rank = 0; rank < size; ++rank)
    transports.push_back(std::make_unique<ThreadTransport>(rank, group, link));
  return transports;
}

}  // namespace hilbench
