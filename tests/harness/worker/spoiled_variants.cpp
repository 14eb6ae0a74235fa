// The table of variants, and the main program: it is also the worker that the supervisor starts.
#include "tests/harness/worker/spoiled_variants.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include "baselines/peak/peak.hpp"
#include "baselines/table.hpp"
#include "harness/worker/worker.hpp"
#include "kernels/cpu/dilated_cpu.hpp"
#include "tests/fakes/own_implementations.hpp"

namespace hilbench {
namespace {

using Spoil = void (*)(const Case& work, const Operands& operands);

// Runs dilated_cpu, then spoils its output.
class Spoiled final : public Execution {
 public:
  Spoiled(const Case& work, const KernelChoice& choice, int threads, Spoil spoil)
      : work_(work), right_(kDilatedCpu.prepare(work, choice, threads)), spoil_(spoil) {}
  void run(const Operands& operands, const Index& index) override {
    ++g_spoiled_runs;
    right_->run(operands, index);
    spoil_(work_, operands);
  }

 private:
  Case work_;
  std::unique_ptr<Execution> right_;
  Spoil spoil_;
};

float* output(const Operands& operands) {
  return static_cast<float*>(operands.o);
}
std::size_t rows(const Case& work) {
  return static_cast<std::size_t>(work.batch * work.sequence_length * work.heads);
}

void one_value_off(const Case&, const Operands& operands) {
  output(operands)[37] += 0.01f;
}
void last_row_unwritten(const Case& work, const Operands& operands) {
  const auto row = static_cast<std::size_t>(work.head_dim);
  std::memset(output(operands) + (rows(work) - 1) * row, 0xff, row * sizeof(float));
}
void lse_off(const Case&, const Operands& operands) {
  operands.lse[0] += 0.01f;
}
void crash(const Case&, const Operands&) {
  ::raise(SIGSEGV);
}
void crash_when_timed(const Case&, const Operands&) {
  static std::atomic<int> runs = 0;
  if (++runs > 2) ::raise(SIGSEGV);  // after verification and key probe
}
// Puts O on 4 KiB pages, as a system does that has no memory in one piece.
void splits_pages(const Case& work, const Operands& operands) {
  constexpr std::uintptr_t kPage = 4096;
  const auto o = reinterpret_cast<std::uintptr_t>(operands.o), begin = o / kPage * kPage;
  const std::size_t bytes = o - begin + rows(work) * static_cast<std::size_t>(work.head_dim) * sizeof(float);
  void* const memory = reinterpret_cast<void*>(begin);
  const std::vector<char> kept(static_cast<char*>(memory), static_cast<char*>(memory) + bytes);
  ASSERT_EQ(::madvise(memory, bytes, MADV_NOHUGEPAGE), 0);
  ASSERT_EQ(::madvise(memory, bytes, MADV_DONTNEED), 0);
  std::memcpy(memory, kept.data(), bytes);
}
void splits_pages_when_timed(const Case& work, const Operands& operands) {
  static std::atomic<int> runs = 0;
  if (++runs == 4) splits_pages(work, operands);  // after verification, check of the pages and key probe
}
void throw_something(const Case&, const Operands&) {
  throw std::runtime_error("the kernel refuses");
}
void no_memory(const Case&, const Operands&) {
  throw std::bad_alloc();
}
// The first rank that computes throws; the others wait for its data.
void one_rank_throws(const Case&, const Operands&) {
  static std::atomic<bool> thrown = false;
  if (!thrown.exchange(true)) throw std::runtime_error("this rank refuses");
}
// The first rank that computes never ends; the others wait for its data.
void one_rank_hangs(const Case&, const Operands&) {
  static std::atomic<bool> hung = false;
  if (!hung.exchange(true)) std::this_thread::sleep_for(std::chrono::hours(1));
}
void nothing(const Case&, const Operands&) {}
void notes_inputs(const Case& work, const Operands& operands) {
  const auto* q = static_cast<const float*>(operands.q);
  const auto* v = static_cast<const float*>(operands.v);
  const std::size_t size = rows(work) * static_cast<std::size_t>(work.head_dim);
  g_seen.emplace_back(q, q + size);
  g_seen.back().insert(g_seen.back().end(), v, v + size);
}

// Runs dilated_cpu with an index that is wrong in a tile.
using Misread = void (*)(Index& index);
class Misreading final : public Execution {
 public:
  Misreading(const Case& work, const KernelChoice& choice, int threads, Misread misread)
      : right_(kDilatedCpu.prepare(work, choice, threads)), misread_(misread) {}
  void run(const Operands& operands, const Index& index) override {
    Index wrong = index;
    misread_(wrong);
    right_->run(operands, wrong);
  }

 private:
  std::unique_ptr<Execution> right_;
  Misread misread_;
};

// An output, and the query that it was computed for.
struct KeptOutput {
  std::vector<float> o, lse;
  float query = 0;
};
KeptOutput kept_of(const Case& work, const Operands& operands) {
  const std::size_t elements = rows(work) * static_cast<std::size_t>(work.head_dim);
  return {.o = {output(operands), output(operands) + elements},
          .lse = {operands.lse, operands.lse + rows(work)},
          .query = static_cast<const float*>(operands.q)[0]};
}
void put(const KeptOutput& kept, const Operands& operands) {
  std::copy(kept.o.begin(), kept.o.end(), output(operands));
  std::copy(kept.lse.begin(), kept.lse.end(), operands.lse);
}

enum class Does { all, half, nothing };

// Runs dilated_cpu in some executions, and pretends in others.
class Pretending final : public Execution {
 public:
  // May write the output itself. `before`: what stands there; `first`: what was computed for its query first.
  using Pretend = Does (*)(int execution, const KeptOutput& before, const KeptOutput& first,
                           const Operands& operands);
  Pretending(const Case& work, const KernelChoice& choice, int threads, Pretend pretend)
      : work_(work), right_(kDilatedCpu.prepare(work, choice, threads)), pretend_(pretend) {}
  void run(const Operands& operands, const Index& index) override {
    const KeptOutput before = kept_of(work_, operands);
    const Does does = ++executions_ == 1 ? Does::all : pretend_(executions_, before, first_, operands);
    if (does == Does::nothing) return;
    right_->run(operands, index);
    if (executions_ == 1 || first_.query != before.query) first_ = kept_of(work_, operands);
    const auto half = static_cast<std::ptrdiff_t>(before.o.size() / 2);
    if (does == Does::half) std::copy(before.o.begin() + half, before.o.end(), output(operands) + half);
  }

 private:
  Case work_;
  std::unique_ptr<Execution> right_;
  Pretend pretend_;
  KeptOutput first_;
  int executions_ = 0;
};

Does skips_from_the_fourth(int execution, const KeptOutput&, const KeptOutput&, const Operands&) {
  return execution < 4 ? Does::all : Does::half;
}
Does works_every_second_time(int execution, const KeptOutput&, const KeptOutput&, const Operands&) {
  return execution % 2 == 1 ? Does::all : Does::nothing;
}
Does keeps_its_first_output(int, const KeptOutput&, const KeptOutput& first, const Operands& operands) {
  put(first, operands);
  return Does::nothing;
}
// Computes for every query once.
Does keeps_an_output_for_each_query(int, const KeptOutput& before, const KeptOutput& first,
                                    const Operands& operands) {
  if (before.query != first.query) return Does::all;
  put(first, operands);
  return Does::nothing;
}

// Runs dilated_cpu; its choice says how often it was tuned, and after how many runs.
class Tuned final : public Execution {
 public:
  Tuned(const Case& work, const KernelChoice& choice, int threads)
      : right_(kDilatedCpu.prepare(work, choice, threads)) {}
  void tune(const Operands& operands) override {
    choice_ = std::to_string(++tunings_) + " after " + std::to_string(runs_);
    operands.lse[0] = 7;  // as is allowed
  }
  std::map<std::string, std::string> choices() const override { return {{"plan", choice_}}; }
  void run(const Operands& operands, const Index& index) override {
    ++runs_;
    right_->run(operands, index);
  }

 private:
  std::unique_ptr<Execution> right_;
  int tunings_ = 0, runs_ = 0;
  std::string choice_;
};

void misses_a_key(Index& index) {
  IndexTile& tile = index.branches.back().tiles.back();
  --tile.key_count;
  tile.unmasked = tile.key_count;
}
void doubles_a_key(Index& index) {  // in place of its neighbour
  const IndexTile& tile = index.branches.back().tiles.back();
  auto key = index.branches.back().key_slot.begin() + tile.key_begin;
  key[1] = key[0];
}

// dilated_cpu under another name, with executions of the class Made; `how` is the last that they are made
// with.
template <class Made, auto... how>
const Implementation& made_of(std::string_view name) {
  static const Implementation kMade = [name] {
    Implementation implementation = kDilatedCpu;
    implementation.name = name;
    implementation.prepare = [](const Case& work, const KernelChoice& choice,
                                int threads) -> std::unique_ptr<Execution> {
      return std::make_unique<Made>(work, choice, threads, how...);
    };
    return implementation;
  }();
  return kMade;
}

}  // namespace

std::span<const Implementation* const> implementation_table() {
  static const std::array kTable = {
      &kDilatedCpu,
      &kPeak,
      &made_of<Spoiled, one_value_off>("one_value_off"),
      &made_of<Spoiled, last_row_unwritten>("last_row_unwritten"),
      &made_of<Spoiled, lse_off>("lse_off"),
      &made_of<Spoiled, crash>("crash"),
      &made_of<Spoiled, crash_when_timed>("crash_when_timed"),
      &made_of<Spoiled, one_rank_hangs>("one_rank_hangs"),
      &made_of<Spoiled, throw_something>("throw_something"),
      &made_of<Spoiled, splits_pages>("splits_pages"),
      &made_of<Spoiled, splits_pages_when_timed>("splits_pages_when_timed"),
      &made_of<Spoiled, no_memory>("no_memory"),
      &made_of<Spoiled, one_rank_throws>("one_rank_throws"),
      &made_of<Misreading, misses_a_key>("misses_a_key"),
      &made_of<Misreading, doubles_a_key>("doubles_a_key"),
      &made_of<Spoiled, notes_inputs>("notes_inputs"),
      &made_of<Pretending, skips_from_the_fourth>("skips_from_the_fourth"),
      &made_of<Pretending, works_every_second_time>("works_every_second_time"),
      &made_of<Pretending, keeps_its_first_output>("keeps_its_first_output"),
      &made_of<Pretending, keeps_an_output_for_each_query>("keeps_an_output_for_each_query"),
      &made_of<Tuned>("tuned"),
      &made_of<Spoiled, nothing>("boaster")};
  return kTable;
}

}  // namespace hilbench

int main(int argc, char** argv) {
  if (argc == 4 && std::strcmp(argv[1], "worker") == 0)
    return hilbench::worker_main(std::atoi(argv[2]), std::atoi(argv[3]));
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
