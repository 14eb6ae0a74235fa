#include "kernels/ring/launch_copies.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <stdexcept>

namespace hilbench {
namespace {

bool passes_on(const Ring& ring) {
  return ring.algorithm() == RingAlgorithm::ring || ring.algorithm() == RingAlgorithm::ring_packed;
}

// The buffer of `rank` out of which it passes a shard on; kOwnRows if the shard is its own.
int buffer_of(const Ring& ring, std::int64_t rank, std::int64_t source) {
  if (rank == source) return kOwnRows;
  for (const RingStep& step : ring.steps(rank))
    for (const ShardMove& receive : step.receives)
      if (receive.source == source) return receive.buffer;
  throw std::logic_error("a rank passes on what it has not received");
}

// In `memory`, which is allocated if it is null.
template <class T>
T* uploaded(RingDevice& device, const std::vector<T>& values, std::shared_ptr<void>& memory) {
  if (values.empty()) return nullptr;
  const std::size_t bytes = values.size() * sizeof(T);
  if (memory == nullptr) memory = device.allocate(bytes);
  device.upload(values.data(), bytes, memory.get());
  return static_cast<T*>(memory.get());
}

}  // namespace

bool copies_in_launch(const Ring& ring, Transport::Reach reach) {
  return reach == Transport::Reach::running || (reach == Transport::Reach::mapped && !passes_on(ring));
}

struct LaunchCopies::Addresses {
  Memory memory;
  std::uint32_t* ready = nullptr;
  std::uint32_t* read = nullptr;
};

LaunchCopies::LaunchCopies(const Ring& ring, const ShardChunks& chunks, RingDevice& device,
                           Transport& transport, std::uint32_t* gave_up)
    : ring_(ring),
      chunks_(chunks),
      device_(device),
      transport_(transport),
      rank_(transport.rank()),
      steps_(ring.steps(rank_)) {
  if (device.copiers() == 0 || chunks.row_chunks != 1)
    throw std::logic_error("launches that copy, without a device for it or in chunks of rows");
  const Case& work = ring_.work();
  const std::size_t sources = ring_.buffer_rows(rank_).size();
  const auto words = [&](std::size_t count) { return device_.allocate(count * sizeof(std::uint32_t)); };
  words_ = words(static_cast<std::size_t>(1 + ring_.ranks()));
  counts_ = words(sources * static_cast<std::size_t>(chunks_.count(work.batch)) + 1);
  std::set<std::int32_t> readers;
  for (const RingStep& step : steps_)
    for (const ShardMove& send : step.sends) readers.insert(static_cast<std::int32_t>(send.peer));
  const ShardWaits waits = {static_cast<std::uint64_t>(1e9 * transport_.timeout_s()), transport_.ended(),
                            gave_up};
  reads_ = {.read = static_cast<std::uint32_t*>(words_.get()) + 1,
            .ranks = uploaded(device_, std::vector<std::int32_t>(readers.begin(), readers.end()), readers_),
            .count = static_cast<std::int32_t>(readers.size()),
            .waits = waits};
  const auto head_bytes = static_cast<std::int32_t>(work.head_dim * dtype_bytes(work.dtype));
  copies_ = {.source_count = static_cast<std::int32_t>(sources),
             .batch = static_cast<std::int32_t>(work.batch),
             .kv_heads = static_cast<std::int32_t>(work.kv_heads),
             .chunk_heads = static_cast<std::int32_t>(chunks_.heads),
             .head_chunks = static_cast<std::int32_t>(chunks_.head_chunks),
             .head_bytes = head_bytes,
             .batch_step = ring_.longest_sent_rows() * work.kv_heads * head_bytes,
             .counts = static_cast<std::uint32_t*>(counts_.get()),
             .copiers = sources > 0 ? device_.copiers() : 0,
             .waits = waits};
}

ShardCopies LaunchCopies::begin(const Memory& memory) {
  ++copies_.execution;
  Addresses mine{memory, static_cast<std::uint32_t*>(words_.get()),
                 static_cast<std::uint32_t*>(words_.get()) + 1};
  device_.tell(mine.ready, copies_.execution);
  copies_.k = static_cast<std::byte*>(memory.received_k);
  copies_.v = static_cast<std::byte*>(memory.received_v);
  copies_.arrived = memory.arrived;
  std::vector<std::string> told =
      transport_.gather(std::string(reinterpret_cast<const char*>(&mine), sizeof mine));
  if (told != told_) find_sources(told);
  told_ = std::move(told);
  for (const RingStep& step : steps_)
    for (const ShardMove& send : step.sends)
      transport_.count_sent(static_cast<int>(send.peer),
                            static_cast<std::uint64_t>(std::llround(ring_.moved_bytes(send))));
  return copies_;
}

void LaunchCopies::find_sources(const std::vector<std::string>& told) {
  const std::int64_t row_bytes = std::int64_t{copies_.kv_heads} * copies_.head_bytes;
  std::vector<ShardSource> sources;
  std::set<std::int64_t> read_at;
  std::vector<std::uint32_t*> read;
  for (std::size_t step = 0; step < steps_.size(); ++step)
    for (const ShardMove& receive : steps_[step].receives) {
      Addresses there;
      std::memcpy(&there, told[static_cast<std::size_t>(receive.peer)].data(), sizeof there);
      const std::int64_t rows = ring_.sent_rows(receive.source);
      const int buffer = buffer_of(ring_, receive.peer, receive.source);
      ShardSource& source = sources.emplace_back();
      source.rows = static_cast<std::int32_t>(rows);
      if (buffer == kOwnRows) {
        source.k = static_cast<const std::byte*>(there.memory.own_k);
        source.v = static_cast<const std::byte*>(there.memory.own_v);
        source.batch_step = rows * row_bytes;
        source.shows = there.ready;
      } else {
        const std::int64_t at = buffer * copies_.batch * copies_.batch_step;
        source.k = static_cast<const std::byte*>(there.memory.received_k) + at;
        source.v = static_cast<const std::byte*>(there.memory.received_v) + at;
        source.batch_step = copies_.batch_step;
        source.shows = there.memory.arrived + buffer;
        source.hop = static_cast<std::int32_t>(step);
      }
      if (read_at.insert(receive.peer).second) read.push_back(there.read + rank_);
    }
  copies_.sources = uploaded(device_, sources, sources_);
  copies_.read = uploaded(device_, read, read_);
  copies_.read_count = static_cast<std::int32_t>(read.size());
}

void LaunchCopies::end() {
  transport_.barrier();
  reads_.execution = copies_.execution;
  if (reads_.count > 0) device_.wait_until_read(reads_);
}

}  // namespace hilbench
