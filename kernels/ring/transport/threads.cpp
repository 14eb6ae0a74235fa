#include "kernels/ring/transport/threads.hpp"

#include <algorithm>
#include <cstring>
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

 private:
  // Copies a message of any exchange, because the other rank may be waiting for one of a later exchange.
  bool advance(Lock& lock) override {
    for (const Exchange& exchange : exchanges())
      for (const std::shared_ptr<Transfer>& transfer : exchange)
        if (transfer->state == Transfer::waiting && transfer->sent && transfer->expected) {
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
      std::memcpy(to.data, from.data, from.bytes);
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
  const auto group = std::make_shared<InProcessGroup>(size, timeout_s);
  std::vector<std::unique_ptr<Transport>> transports;
  for (int rank = 0; rank < size; ++rank)
    transports.push_back(std::make_unique<ThreadTransport>(rank, group, link));
  return transports;
}

}  // namespace hilbench
