#include "harness/measure/kept_elements.hpp"

#include <algorithm>
#include <cstring>

#include "kernels/case/rounding.hpp"

namespace hilbench {

KeptElements::KeptElements(Dtype dtype, std::int64_t elements)
    : dtype_(dtype),
      elements_(elements),
      stored_(static_cast<std::size_t>(elements * dtype_bytes(dtype))),
      states_(static_cast<std::size_t>((elements + kBlock - 1) / kBlock)) {}

void KeptElements::read(std::int64_t first, std::span<float> to, const Compute& compute) {
  const std::int64_t end = first + std::ssize(to), element = dtype_bytes(dtype_);
  for (std::int64_t at = first, next; at < end; at = next) {
    const std::int64_t block = at / kBlock, begin = block * kBlock,
                       after = std::min(begin + kBlock, elements_);
    next = std::min(end, after);
    const auto part = to.subspan(static_cast<std::size_t>(at - first), static_cast<std::size_t>(next - at));
    if (kept(block)) {
      widen(dtype_, stored_.data() + at * element, part);
    } else {
      compute(at, part);
      if (at == begin && next == after) keep(block, part);
    }
  }
}

bool KeptElements::copy_stored(std::int64_t first, std::int64_t count, std::byte* to) const {
  for (std::int64_t block = first / kBlock; block * kBlock < first + count; ++block)
    if (!kept(block)) return false;
  const std::int64_t element = dtype_bytes(dtype_);
  std::memcpy(to, stored_.data() + first * element, static_cast<std::size_t>(count * element));
  return true;
}

bool KeptElements::kept(std::int64_t block) const {
  return states_[static_cast<std::size_t>(block)].load(std::memory_order_acquire) == State::kept;
}

void KeptElements::keep(std::int64_t block, std::span<const float> values) {
  std::atomic<State>& state = states_[static_cast<std::size_t>(block)];
  State absent = State::absent;
  if (!state.compare_exchange_strong(absent, State::being_kept, std::memory_order_relaxed)) return;
  narrow(dtype_, values, stored_.data() + block * kBlock * dtype_bytes(dtype_));
  state.store(State::kept, std::memory_order_release);
}

}  // namespace hilbench
