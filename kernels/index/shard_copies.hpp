// How a launch copies the shards of a persistent ring by itself, out of the memory of other ranks: which
// chunk comes next, which words in memory say that it may be read, that it has arrived, and that it has been
// read. Launches on GPUs and their emulation on processors share this code. C++17 and no fmt.
//
// Executions are numbered from 1, by the same number on all ranks, and every word only counts on. So no word
// is ever set back. Words of a rank, all in its own memory:
//
//   ready       the execution of which its own rows are complete: it writes them, other ranks wait for it
//   arrived[s]  chunks of received shard s that have arrived in all executions: its copiers add to it; tiles
//               wait for it, and so does the rank to which the shard is passed on
//   counts[i]   parts of chunk i of a shard that its copiers have copied in all executions; the copier that
//               counts the last part then adds the chunk to `arrived`
//   read[r]     the last execution in which rank r has read all that it needs here: rank r writes it, this
//               rank waits for it before its rows may change
//
// A rank that writes data and then such a word releases it; a rank that waits for the word acquires it.
// Copiers acquire and release when they count. So when the last of them writes `arrived` or `read`, the work
// of all of them is visible. Two copiers may add to `arrived` for successive chunks in either sequence: the
// copier that counted the last part of the later chunk has seen all parts of the earlier one, because every
// copier counts in the sequence of chunks.
#pragma once

#include <cstddef>
#include <cstdint>

#ifdef __CUDACC__
#define HILBENCH_IN_LAUNCH __device__ __forceinline__
#else
#define HILBENCH_IN_LAUNCH inline
#endif

namespace hilbench {

// A shard that arrives: where it is read.
struct ShardSource {
  const std::byte* k = nullptr;  // of the first row
  const std::byte* v = nullptr;
  std::int64_t batch_step = 0;           // bytes between batch entries
  const std::uint32_t* shows = nullptr;  // `ready` there, or `arrived` if the shard is passed on
  std::int32_t rows = 0;                 // in a batch entry
  std::int32_t hop = 0;                  // how often it was passed on; 0: that rank's own rows
};

// When a wait fails.
struct ShardWaits {
  std::uint64_t patience_ns = 0;
  const std::uint32_t* ended = nullptr;  // in host memory; not 0: the ring has failed. May be null
  // [2] in host memory, 0 at first. [kMissedKeys]: 1 + the received shard of which a chunk did not arrive;
  // [kMissedReader]: 1 + the rank that did not say that it has read. Then results are wrong.
  std::uint32_t* gave_up = nullptr;
};
constexpr int kMissedKeys = 0, kMissedReader = 1;

struct ShardCopies {
  const ShardSource* sources = nullptr;  // [source_count], by hop
  std::int32_t source_count = 0;
  std::int32_t batch = 1, kv_heads = 1;
  std::int32_t chunk_heads = 1, head_chunks = 1;  // a chunk: heads of all rows of a batch entry
  std::int32_t head_bytes = 0;                    // a multiple of 16, as all addresses are
  std::byte* k = nullptr;                         // [sources, batch, rows of the longest shard, kv_heads]
  std::byte* v = nullptr;
  std::int64_t batch_step = 0;           // bytes between batch entries of k and v
  std::uint32_t* arrived = nullptr;      // [sources]
  std::uint32_t* counts = nullptr;       // [sources, chunks], and one more: copiers that have ended
  std::uint32_t* const* read = nullptr;  // [read_count] words `read` at the ranks that this one reads from
  std::int32_t read_count = 0;
  std::uint32_t execution = 0;
  std::uint32_t copiers = 0;  // that share every chunk; the same in all executions
  ShardWaits waits;
};

// What a rank waits for before its rows may change.
struct ShardReaders {
  const std::uint32_t* read = nullptr;  // [ranks]
  const std::int32_t* ranks = nullptr;  // [count] that read here
  std::int32_t count = 0;
  std::uint32_t execution = 0;
  ShardWaits waits;
};

// A chunk of K or V as words of 16 bytes, line by line.
struct ChunkWords {
  const std::byte* from = nullptr;
  std::byte* to = nullptr;
  std::int64_t row_bytes = 0;
  std::uint32_t line_words = 1;
  HILBENCH_IN_LAUNCH std::int64_t at(std::uint32_t word) const {
    const std::uint32_t line = word / line_words;
    return line * row_bytes + std::int64_t{word - line * line_words} * 16;
  }
};

HILBENCH_IN_LAUNCH bool has_reached(std::uint32_t number, std::uint32_t needed) {
  return static_cast<std::int32_t>(number - needed) >= 0;
}

// Chunks of a shard; and what `arrived` of a shard is before the first of them arrives in this execution.
HILBENCH_IN_LAUNCH std::int32_t chunk_count(const ShardCopies& copies) {
  return copies.batch * copies.head_chunks;
}
HILBENCH_IN_LAUNCH std::uint32_t arrived_before(const ShardCopies& copies) {
  return (copies.execution - 1) * static_cast<std::uint32_t>(chunk_count(copies));
}

// Waits until a word has reached a number. False, and `whom` in gave_up[missed], if it does not; false as
// well if another wait of the rank has failed. A Thread has
//   kTurns       loads of the word between two looks at the clock and at host memory: many, because each look
//                leaves the GPU, and hundreds of threads wait
//   peek(word)   does not acquire
//   load(word)   acquires
//   store(word, value)
//   now_ns(), pause(turn)
template <class Thread>
HILBENCH_IN_LAUNCH bool wait_for(const std::uint32_t* word, std::uint32_t needed, const ShardWaits& waits,
                                 int missed, std::uint32_t whom, Thread& thread) {
  std::uint64_t begin = 0;
  for (int turn = 0; !has_reached(thread.peek(word), needed); ++turn) {
    if (turn == 0) begin = thread.now_ns();
    if (turn % Thread::kTurns == Thread::kTurns - 1) {
      if (thread.load(waits.gave_up + kMissedKeys) != 0) return false;
      if (thread.now_ns() - begin > waits.patience_ns ||
          (waits.ended != nullptr && thread.load(waits.ended) != 0)) {
        thread.store(waits.gave_up + missed, whom);
        return false;
      }
    }
    thread.pause(turn);
  }
  return has_reached(thread.load(word), needed);  // true, since it only counts on
}

// The part of copier number `copier` in an execution. Chunk c of a shard that was passed on h times comes in
// round c + h, from the rank before this one, which copied it in the round before: so copiers of all ranks
// move in the same sequence, and none waits for one that waits for it. Pieces of chunks are dealt to the
// copiers in turn. A Copier has
//   kPieceWords
//   wait_for(word, needed, waits, missed, whom)  as above
//   copy(words, begin, end)      words [begin, end) of a chunk
//   is_last(word, needed)        counts one; true if that makes `needed`. Acquires and releases.
//   add(word)                    adds 1; releases
//   tell(word, value)            releases; the word may be in another rank's memory
// After a failed wait a copier copies nothing more, but still says that it has read, so that no rank waits
// for it.
template <class Copier>
HILBENCH_IN_LAUNCH void copy_shards(const ShardCopies& copies, std::uint32_t copier, Copier& by) {
  const std::int32_t chunks = chunk_count(copies);
  const std::uint32_t copiers = copies.copiers, whole = copiers * copies.execution;
  const std::int64_t row_bytes = std::int64_t{copies.kv_heads} * copies.head_bytes;
  const std::int32_t rounds =
      copies.source_count == 0 ? 0 : chunks + copies.sources[copies.source_count - 1].hop;
  std::uint64_t ready = 0;  // bit s: the own rows that source s is were seen to be complete
  std::uint32_t turn = 0;   // the copier that gets the next piece
  bool going = true;
  for (std::int32_t round = 0; going && round < rounds; ++round)
    for (std::int32_t s = 0; going && s < copies.source_count; ++s) {
      const ShardSource source = copies.sources[s];
      const std::int32_t chunk = round - source.hop;
      if (chunk < 0 || chunk >= chunks) continue;
      const std::uint64_t bit = source.hop == 0 && s < 64 ? std::uint64_t{1} << s : 0;
      if ((ready & bit) == 0) {
        const std::uint32_t needed = source.hop == 0
                                         ? copies.execution
                                         : arrived_before(copies) + static_cast<std::uint32_t>(chunk) + 1;
        going =
            by.wait_for(source.shows, needed, copies.waits, kMissedKeys, static_cast<std::uint32_t>(s) + 1);
        if (!going) break;
        ready |= bit;
      }
      const std::int32_t entry = chunk / copies.head_chunks;
      const std::int32_t head = chunk % copies.head_chunks * copies.chunk_heads;
      const std::int32_t left = copies.kv_heads - head;
      const std::int32_t heads = left < copies.chunk_heads ? left : copies.chunk_heads;
      const std::int64_t first = std::int64_t{head} * copies.head_bytes;
      const std::int64_t from = entry * source.batch_step + first;
      const std::int64_t to = (std::int64_t{s} * copies.batch + entry) * copies.batch_step + first;
      const auto line_words = static_cast<std::uint32_t>(heads * copies.head_bytes / 16);
      const std::uint32_t words = static_cast<std::uint32_t>(source.rows) * line_words;
      for (int tensor = 0; tensor < 2; ++tensor) {
        const ChunkWords chunk_words{(tensor == 0 ? source.k : source.v) + from,
                                     (tensor == 0 ? copies.k : copies.v) + to, row_bytes, line_words};
        const std::uint32_t pieces = (words + Copier::kPieceWords - 1) / Copier::kPieceWords;
        const std::uint32_t first_piece = copier >= turn ? copier - turn : copier - turn + copiers;
        for (std::uint32_t piece = first_piece; piece < pieces; piece += copiers) {
          const std::uint32_t begin = piece * Copier::kPieceWords, end = begin + Copier::kPieceWords;
          by.copy(chunk_words, begin, end < words ? end : words);
        }
        turn = (turn + pieces) % copiers;
      }
      if (by.is_last(copies.counts + s * chunks + chunk, whole)) by.add(copies.arrived + s);
    }
  if (by.is_last(copies.counts + copies.source_count * chunks, whole))
    for (std::int32_t i = 0; i < copies.read_count; ++i) by.tell(copies.read[i], copies.execution);
}

// Waits until all ranks that read here have said so.
template <class Thread>
HILBENCH_IN_LAUNCH void wait_until_read(const ShardReaders& readers, Thread& thread) {
  for (std::int32_t i = 0; i < readers.count; ++i) {
    const std::int32_t rank = readers.ranks[i];
    if (!wait_for(readers.read + rank, readers.execution, readers.waits, kMissedReader,
                  static_cast<std::uint32_t>(rank) + 1, thread))
      return;
  }
}

}  // namespace hilbench
