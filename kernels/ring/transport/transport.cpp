#include "kernels/ring/transport/transport.hpp"

#include <fmt/format.h>

namespace hilbench {

void Transport::post(std::span<const Message> sends, std::span<const Message> receives) {
  for (const std::span<const Message> messages : {sends, receives})
    for (const Message& message : messages)
      if (message.peer < 0 || message.peer >= size_)
        throw std::out_of_range(fmt::format("no rank {} in a ring of {}", message.peer, size_));
  start(sends, receives);
  for (const Message& message : sends) bytes_sent_ += message.bytes;
  ++posted_;
}

void Transport::wait() {
  if (posted_ == 0) throw std::logic_error("wait() without a posted exchange");
  --posted_;
  finish();
}

}  // namespace hilbench
