#include "harness/ring/counters.hpp"

#include <algorithm>
#include <cmath>

namespace hilbench {
namespace {

// Replaces counts that are not finite by a reason.
RawCounts finite(RawCounts counts) {
  for (auto& [name, count] : counts)
    if (count.value && !std::isfinite(*count.value)) count = {.reason = "not a finite number"};
  return counts;
}

}  // namespace

RankAnswer RankCounters::open(const std::string& set) {
  if (open_) backend_ = open_(set);
  return {.counts = backend_ != nullptr, .passes = backend_ != nullptr ? backend_->passes() : 0};
}

// Ranks on the same GPU share its caches and counters. So every rank finishes a step before any rank starts
// the next.
RankAnswer RankCounters::pass(int pass, Transport& transport, const std::function<void()>& restore,
                              const std::function<void()>& body) {
  const bool counts = backend_ != nullptr && pass < backend_->passes();
  const std::uint64_t before = transport.bytes_sent();
  try {
    restore();
    transport.barrier();
    if (counts) backend_->begin(pass);
    transport.barrier();
    body();
    transport.barrier();
    if (counts) backend_->end(pass);
  } catch (...) {
    backend_.reset();
    throw;
  }
  return {.sent_bytes = transport.bytes_sent() - before, .failed = counts && backend_->passes() == 0};
}

RankAnswer RankCounters::close() {
  RankAnswer answer;
  if (backend_ != nullptr) answer.counted = finite(backend_->read());
  backend_.reset();
  return answer;
}

std::map<std::string, Counter> count_ring(
    const CounterSet& set, bool cold, const std::function<std::vector<RankAnswer>(const RankCommand&)>& ask,
    const std::function<void()>& restore) {
  int passes = 0;
  bool able = true;
  const std::vector<RankAnswer> opened = ask(OpenCounters{set.name});
  for (const RankAnswer& rank : opened) {
    passes = std::max(passes, rank.passes);
    able = able && (!rank.counts || rank.passes > 0);
  }
  RawCount sent{.reason = "the ring did not run"};
  for (int pass = 0; able && pass < passes; ++pass) {
    restore();
    sent.value = 0;
    for (const RankAnswer& rank : ask(CountPass{pass, cold})) {
      *sent.value += static_cast<double>(rank.sent_bytes);
      able = able && !rank.failed;
    }
  }
  std::vector<RawCounts> counts;
  const std::vector<RankAnswer> closed = ask(CloseCounters{});
  for (std::size_t rank = 0; rank < closed.size(); ++rank)
    if (opened[rank].counts) counts.push_back(closed[rank].counted);
  RawCounts all = over_ranks(set, counts);
  all[kRingBytes] = sent;
  return finish_counters(set, all, set.backend, passes);
}

}  // namespace hilbench
