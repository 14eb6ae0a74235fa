// Memory that one rank's run allocates on its device; its own rows that it sends packed are a part of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/implementation.hpp"
#include "kernels/ring/ring.hpp"
#include "kernels/ring/ring_device.hpp"

namespace hilbench {

class RankBuffers {
 public:
  // `ring` and `device` outlive this.
  RankBuffers(const Ring& ring, std::int64_t rank, RingDevice& device)
      : ring_(ring), rank_(rank), device_(device) {}
  RankBuffers(const RankBuffers&) = delete;
  RankBuffers& operator=(const RankBuffers&) = delete;

  // Zeros, as RingDevice::allocate() gives them; null for 0 bytes: a buffer that no step uses.
  void* allocate(double bytes);
  double bytes() const { return bytes_; }  // allocated so far

  // Allocates K and V of the own rows that are sent packed, if there are any. With `heads_first`, of all rows
  // that are sent.
  void allocate_packed(bool heads_first = false);
  void pack(const Operands& own);  // does nothing without them
  // [batch, sent rows, kv_heads, head_dim], or with heads_first [batch, kv_heads, sent rows, head_dim]; null
  // if own rows are sent from the tensors.
  std::byte* packed_k() const { return packed_k_; }
  std::byte* packed_v() const { return packed_v_; }

 private:
  const Ring& ring_;
  std::int64_t rank_;
  RingDevice& device_;
  double bytes_ = 0;
  std::vector<std::shared_ptr<void>> memory_;
  std::byte* packed_k_ = nullptr;
  std::byte* packed_v_ = nullptr;
};

}  // namespace hilbench
