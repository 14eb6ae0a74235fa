#include "harness/ring/counters.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace hilbench {
namespace {

using Json = nlohmann::json;

// JSON has no number that is not finite: such a count is a reason.
Json to_json(const RawCounts& counts) {
  Json made = Json::object();
  for (const auto& [name, count] : counts) {
    if (count.value && std::isfinite(*count.value))
      made[name] = {{"value", *count.value}, {"scaled", count.scaled}};
    else
      made[name] = {{"reason", count.value ? "not a finite number" : count.reason}};
  }
  return made;
}

RawCounts counts_from_json(const Json& from) {
  RawCounts counts;
  for (const auto& [name, count] : from.items()) {
    if (count.contains("value"))
      counts[name] = {.value = count.at("value").get<double>(), .scaled = count.at("scaled").get<bool>()};
    else
      counts[name] = {.reason = count.at("reason").get<std::string>()};
  }
  return counts;
}

}  // namespace

Json RankCounters::answer(const Json& order, Transport& transport, const std::function<void()>& restore,
                          const std::function<void()>& work) {
  const std::string& step = order.at("step").get_ref<const std::string&>();
  if (step == "pass") return pass(order.at("pass"), transport, restore, work);
  if (step == "close") return close();
  if (step != "open") throw std::logic_error("no rank knows the step " + step);
  if (open_) backend_ = open_(order.at("set"));
  return {{"counts", backend_ != nullptr}, {"passes", backend_ != nullptr ? backend_->passes() : 0}};
}

// The ranks of a GPU share its caches and its counters, so that each part is over everywhere before the next
// begins.
Json RankCounters::pass(int pass, Transport& transport, const std::function<void()>& restore,
                        const std::function<void()>& work) {
  const bool counts = backend_ != nullptr && pass < backend_->passes();
  const std::uint64_t before = transport.bytes_sent();
  try {
    restore();
    transport.barrier();
    if (counts) backend_->begin(pass);
    transport.barrier();
    work();
    transport.barrier();
    if (counts) backend_->end(pass);
  } catch (...) {
    backend_.reset();
    throw;
  }
  return {{"sent", transport.bytes_sent() - before}, {"failed", counts && backend_->passes() == 0}};
}

Json RankCounters::close() {
  const Json counts = backend_ != nullptr ? to_json(backend_->read()) : Json::object();
  backend_.reset();
  return {{"counts", counts}};
}

std::map<std::string, Counter> count_ring(const CounterSet& set,
                                          const std::function<std::vector<Json>(const Json&)>& ask,
                                          const std::function<void()>& restore) {
  int passes = 0;
  bool able = true;
  const std::vector<Json> opened = ask({{"do", "count"}, {"step", "open"}, {"set", set.name}});
  for (const Json& rank : opened) {
    passes = std::max(passes, rank.at("passes").get<int>());
    able = able && (!rank.at("counts").get<bool>() || rank.at("passes").get<int>() > 0);
  }
  RawCount sent{.reason = "the ring did not run"};
  for (int pass = 0; able && pass < passes; ++pass) {
    restore();
    sent.value = 0;
    for (const Json& rank : ask({{"do", "count"}, {"step", "pass"}, {"pass", pass}})) {
      *sent.value += rank.at("sent").get<double>();
      able = able && !rank.at("failed").get<bool>();
    }
  }
  std::vector<RawCounts> counts;
  const std::vector<Json> closed = ask({{"do", "count"}, {"step", "close"}});
  for (std::size_t rank = 0; rank < closed.size(); ++rank)
    if (opened[rank].at("counts").get<bool>()) counts.push_back(counts_from_json(closed[rank].at("counts")));
  RawCounts all = over_ranks(set, counts);
  all[kRingBytes] = sent;
  return finish_counters(set, all, set.backend, passes);
}

}  // namespace hilbench
