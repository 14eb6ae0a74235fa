// The exchange of heads in the Ulysses ring (arXiv 2309.14509, section 3.1): each rank gives away its rows of
// the other ranks' heads, gets all rows of its own heads, and after the computation gets its rows of the
// result back. The heads that go to one rank are a line of each row. If heads are regrouped, lines of Q, K
// and V are copied together before they are sent, and those of O and LSE into place when they have arrived.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "kernels/implementation.hpp"
#include "kernels/ring/ring.hpp"
#include "kernels/ring/ring_device.hpp"
#include "kernels/ring/transport/transport.hpp"

namespace hilbench {

// One part of each rank's heads. Before the messages of Payload::heads are posted: split(), and when they
// are, keep(); after the computation the same for the results, with collect() and keep_results(), and join()
// when they have arrived. If heads move directly these do nothing, and what a rank keeps is a message to
// itself. Tensors of the computed heads are [batch, rows, heads of a piece, head_dim]. Q, K and V hold the
// rows of rank 0, then those of rank 1 ..., each as that rank stores them; O and LSE are in position order.
class HeadExchange {
 public:
  // `allocate` gives memory of `device`, which outlives this. `ring` splits heads.
  HeadExchange(const Ring& ring, std::int64_t rank, std::int64_t part, RingDevice& device,
               const std::function<void*(double bytes)>& allocate);

  // Times that the exchange of one part calls RingDevice::copy_rows().
  static std::int64_t copies(const Ring& ring);

  Operands computed() const;  // of the part of the rank's heads
  void split(const Operands& own);
  void keep(const Operands& own);  // own rows of own heads
  void collect();
  void keep_results(const Operands& own);
  void join(const Operands& own);
  // Adds the messages of a move: for each tensor and batch entry one; of results that move directly, one for
  // each stretch of rows.
  void add_send(const Operands& own, const ShardMove& move, std::vector<Transport::Message>& to) const;
  void add_receive(const Operands& own, const ShardMove& move, std::vector<Transport::Message>& to) const;

 private:
  // A tensor that is exchanged. A row has the computed heads of one position.
  struct Tensor {
    std::size_t row_bytes = 0;
    std::vector<std::int64_t> first_row;  // [ranks + 1]: rows of each rank in `whole`
    std::byte* whole = nullptr;           // [batch, all rows]
    // Null if heads move directly:
    std::byte* parts = nullptr;      // of own rows, for each other rank: [others, batch, own rows]
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
  void keep(const Tensor& tensor, const void* own);
  // Calls use(first row in `whole`, rows of `of` that it begins) for every batch entry and stretch of a rank
  // that has rows. In `whole` they are row_step() bytes apart.
  template <class Use>
  void for_stretches(const Tensor& tensor, std::int64_t of, const Use& use) const;
  std::size_t row_step(const Tensor& tensor) const;
  void take(const Tensor& tensor, std::int64_t of, RowsTo to);
  void join(const Tensor& tensor, void* own);
  // Adds one message of `rows` rows that are `step` bytes apart.
  void add(const Tensor& tensor, std::int64_t peer, const std::byte* first, std::size_t step,
           std::int64_t rows, std::vector<Transport::Message>& to) const;
  void add_own(const Tensor& tensor, const void* own, std::int64_t peer, Span rows,
               std::vector<Transport::Message>& to) const;
  template <class Place>
  void add_entries(const Tensor& tensor, const ShardMove& move, const Place& place,
                   std::vector<Transport::Message>& to) const;

  Ring ring_;
  std::int64_t rank_, part_;
  RingDevice& device_;
  bool direct_;  // heads move in lines
  Tensor q_, k_, v_, o_, lse_;
};

}  // namespace hilbench
