#include "kernels/ring/transport/threads.hpp"

#include <cstring>

#include "kernels/ring/transport/in_process.hpp"

namespace hilbench {
namespace {

class ThreadTransport final : public InProcessTransport {
 public:
  using InProcessTransport::InProcessTransport;
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
    if (from.bytes > 0) std::memcpy(to.data, from.data, from.bytes);
    lock.lock();
    transfer.state = Transfer::done;
    wake_ends(transfer);
  }

  void release(Lock& lock) noexcept override {
    for (const Exchange& exchange : exchanges())
      for (const std::shared_ptr<Transfer>& transfer : exchange)
        wait_for_change(lock, [&] { return transfer->state != Transfer::moving; });
  }
};

}  // namespace

std::vector<std::unique_ptr<Transport>> thread_transports(int size, double timeout_s) {
  const auto group = std::make_shared<InProcessGroup>(size, timeout_s);
  std::vector<std::unique_ptr<Transport>> transports;
  for (int rank = 0; rank < size; ++rank)
    transports.push_back(std::make_unique<ThreadTransport>(rank, group));
  return transports;
}

}  // namespace hilbench
