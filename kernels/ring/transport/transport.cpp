#include "kernels/ring/transport/transport.hpp"

#include <fmt/format.h>

#include <numeric>

namespace hilbench {

void Transport::post(std::span<const Message> sends, std::span<const Message> receives, After after,
                     Mover mover) {
  for (const std::span<const Message> messages : {sends, receives})
    for (const Message& message : messages) {
      if (message.peer < 0 || message.peer >= size_)
        throw std::out_of_range(fmt::format("no rank {} in a ring of {}", message.peer, size_));
      if (message.arrival.flag != nullptr && !signals())
        throw std::logic_error("this transport sets no flags");
      if (message.lines != 1 && (!strides() || message.lines == 0 || message.bytes % message.lines != 0))
        throw std::logic_error("this transport, or this message, has no such lines");
    }
  if (after == After::arrivals && !signals()) throw std::logic_error("this transport waits for no arrivals");
  start(sends, receives, after, mover);
  for (const Message& message : sends)
    if (message.peer != rank_) bytes_sent_to_[static_cast<std::size_t>(message.peer)] += message.bytes;
  ++posted_;
}

std::uint64_t Transport::bytes_sent() const {
  return std::accumulate(bytes_sent_to_.begin(), bytes_sent_to_.end(), std::uint64_t{0});
}

void Transport::wait() {
  if (posted_ == 0) throw std::logic_error("wait() without a posted exchange");
  --posted_;
  finish();
}

}  // namespace hilbench
