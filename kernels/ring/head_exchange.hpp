// The exchange of heads in the Ulysses ring (arXiv 2309.14509, section 3.1): each rank gives away its rows of
// the other ranks' heads, gets all rows of its own heads, and after the computation gets its rows of the
// result back.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "kernels/implementation.hpp"
#include "kernels/ring/ring.hpp"
#include "kernels/ring/ring_device.hpp"
#include "kernels/ring/transport/transport.hpp"

namespace hilbench {

// One part of each rank's heads. Tensors of the computed heads are [batch, rows, heads of a piece, head_dim].
// Q, K and V hold the rows of rank 0, then those of rank 1 ..., each as that rank stores them; O and LSE are
// in position order.
class HeadExchange {
 public:
  // `allocate` gives memory of `device`, which outlives this. `ring` splits heads.
  HeadExchange(const Ring& ring, std::int64_t rank, std::int64_t part, RingDevice& device,
               const std::function<void*(double bytes)>& allocate);

  // Times that the exchange of one part calls RingDevice::copy_rows().
  static std::int64_t copies(const Ring& ring);

  void split(const Operands& own);    // before the heads are sent
  Operands computed() const;          // of the part of the rank's heads
  void collect(const Operands& own);  // before the results are sent
  void join(const Operands& own);     // after the results were received
  // Adds the messages of a move, one for each batch entry and tensor.
  void add_send(const ShardMove& move, std::vector<Transport::Message>& to) const;
  void add_receive(const ShardMove& move, std::vector<Transport::Message>& to) const;

 private:
  // A tensor that is exchanged. A row has the computed heads of one position.
  struct Tensor {
    std::size_t row_bytes = 0;
    std::vector<std::int64_t> first_row;  // [ranks + 1]: rows of each rank in `whole`
    std::byte* whole = nullptr;           // [batch, all rows]
    std::byte* parts = nullptr;           // of own rows, for each other rank: [others, batch, own rows]
    std::byte* collected = nullptr;  // rows of each other rank: [others][batch, its rows]; null: in `whole`
    std::int64_t rows(std::int64_t rank) const;
  };

  Tensor tensor(std::size_t row_bytes, bool of_keys) const;
  std::byte* part(const Tensor& tensor, std::int64_t other) const;
  std::byte* collected(const Tensor& tensor, std::int64_t other) const;
  std::byte* whole_row(const Tensor& tensor, std::int64_t batch, std::int64_t row) const;
  // From a row of own rows to the next, and from its first head to those that `of` computes.
  std::size_t own_step(const Tensor& tensor) const;
  std::size_t own_offset(const Tensor& tensor, std::int64_t of) const;
  void split(const Tensor& tensor, const void* own);
  void take(const Tensor& tensor, std::int64_t of, std::byte* to, std::size_t to_step);
  void join(const Tensor& tensor, void* own);
  template <class Place>
  void add(const std::vector<const Tensor*>& tensors, const ShardMove& move, const Place& place,
           std::vector<Transport::Message>& to) const;

  Ring ring_;
  std::int64_t rank_, part_;
  RingDevice& device_;
  Tensor q_, k_, v_, o_, lse_;
};

}  // namespace hilbench
