#include "kernels/ring/rank_buffers.hpp"

namespace hilbench {

void* RankBuffers::allocate(double bytes) {
  if (bytes == 0) return nullptr;
  bytes_ += bytes;
  return memory_.emplace_back(device_.allocate(static_cast<std::size_t>(bytes))).get();
}

void RankBuffers::allocate_packed(bool heads_first) {
  const bool packed = ring_.packed(rank_);
  if ((!packed && !heads_first) || ring_.sent_rows(rank_) == 0) return;
  const Case& work = ring_.work();
  const auto bytes = static_cast<double>(ring_.sent_rows(rank_) * work.batch * work.kv_heads * work.head_dim *
                                         dtype_bytes(work.dtype));
  PackedShard sent = packed ? packed_shard(ring_, rank_) : whole_shard(ring_, rank_);
  sent.heads_first = heads_first;
  device_.load(sent);
  packed_k_ = static_cast<std::byte*>(allocate(bytes));
  packed_v_ = static_cast<std::byte*>(allocate(bytes));
}

void RankBuffers::pack(const Operands& own) {
  if (packed_k_ == nullptr) return;
  const Case& work = ring_.work();
  const std::int64_t head_bytes = work.head_dim * dtype_bytes(work.dtype);
  device_.pack({own.k, own.v}, {packed_k_, packed_v_}, work.batch, ring_.kv_rows(rank_), head_bytes);
}

}  // namespace hilbench
