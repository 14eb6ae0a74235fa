// One rank's run: it computes with the keys of one shard after another, while the next shard is being sent.
// Any kernel computes the pieces, through its Execution and the index of the piece.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/implementation.hpp"
#include "kernels/ring/head_exchange.hpp"
#include "kernels/ring/persistent_run.hpp"
#include "kernels/ring/rank_buffers.hpp"
#include "kernels/ring/ring.hpp"
#include "kernels/ring/ring_device.hpp"
#include "kernels/ring/ring_part.hpp"
#include "kernels/ring/transport/transport.hpp"

namespace hilbench {

// 1 - (time that the exchange adds to the computation) / (time of the exchange alone), between 0 and 1; 1 if
// nothing is exchanged.
double hidden_share(double computation_ns, double exchange_ns, double total_ns);

class RingExecution {
 public:
  // Allocates buffers and builds the index of every piece. `device`, `transport` and `kernel` outlive this.
  // `transport.size()` is the ring's size. A rank may hold no row. `sizes`: of what a persistent ring moves.
  RingExecution(const Ring& ring, const Implementation& kernel, RingDevice& device, Transport& transport,
                int threads, const ChunkSizes& sizes = {});

  // q, k, v, o, lse are the rank's own rows, as stored_q_positions and stored_kv_positions list them; o and
  // lse by row. All ranks run together. A single part leaves o and lse undefined; `computation` reads what
  // the last exchange received.
  void run(const Operands& own, RingPart part);
  void run(const Operands& own) { run(own, RingPart::all); }
  // Once the device is idle. Throws TransportError, and ends the ring, if keys did not arrive in a run.
  void expect_complete() const;

  // The most query rows in a tile of this rank's pieces.
  std::int64_t tile_rows() const { return tile_rows_; }
  double buffer_bytes() const;  // allocated, fp32 output included

 private:
  struct Piece {
    RingStep::Source source;
    bool last = false;  // after it O of its heads is rounded
    Index index;
    std::unique_ptr<Execution> execution;
  };
  struct Step {
    std::vector<ShardMove> sends, receives;
    std::vector<Piece> pieces;
  };
  // The output of one part of the heads.
  struct Part {
    std::unique_ptr<HeadExchange> heads;  // null if the ring does not split heads
    float* o_fp32 = nullptr;
    std::size_t on_device = 0;          // its number there
    std::vector<RowWrites> row_writes;  // [rows, heads]; empty if kernels clear and round rows
  };

  void allocate_buffers();
  void add_parts();
  void add_piece(Step& step, const RingStep::Source& source);
  std::size_t row_bytes() const;                      // of K, and as many of V
  std::size_t sent_bytes(std::int64_t source) const;  // the same of a shard
  KvRows rows_of(const Operands& own, std::int64_t source, int buffer, bool sent) const;
  Operands computed(const Operands& own, const Part& part) const;
  // What must be done to a part of the heads, or its results, before or after it moves in a step.
  template <class Prepare>
  void for_parts(const std::vector<ShardMove>& moves, Payload payload, const Prepare& prepare);
  void post(const Operands& own, const Step& step);
  void add_keys(const Operands& own, const ShardMove& move, bool sent,
                std::vector<Transport::Message>& to) const;
  void compute(const Operands& own, const Piece& piece);

  Ring ring_;
  const Implementation& kernel_;
  RingDevice& device_;
  Transport& transport_;
  std::int64_t rank_;
  int threads_;
  std::int64_t tile_rows_ = 1;
  std::unique_ptr<PersistentRun> persistent_;  // if one launch computes with all shards: then it runs instead
  RankBuffers memory_;
  std::vector<void*> buffers_;
  std::vector<Part> parts_;  // of the heads
  std::vector<Step> steps_;
};

}  // namespace hilbench
