// Who sends which shard to whom in which step.
#include <algorithm>

#include "kernels/ring/ring.hpp"

namespace hilbench {
namespace {

bool gathers(RingAlgorithm algorithm) {
  return algorithm == RingAlgorithm::allgather || algorithm == RingAlgorithm::allgather_packed;
}

}  // namespace

std::vector<RingStep> Ring::steps(std::int64_t rank) const {
  if (algorithm_ == RingAlgorithm::local) return {{.sources = {{rank, kOwnRows}}}};
  if (algorithm_ == RingAlgorithm::hierarchical || algorithm_ == RingAlgorithm::hierarchical_packed)
    return grouped_steps(rank);
  if (splits_heads()) return splitting_steps(rank);
  if (persistent()) return persistent_steps(rank);
  return gathers(algorithm_) ? gathering_steps(rank) : passing_steps(rank);
}

// allgather sends every shard to every rank; allgather_packed sends a shard only to ranks that see
// some of its keys. In turn to the ranks after this one, so that no two send to the same rank at a time.
std::vector<RingStep> Ring::gathering_steps(std::int64_t rank) const {
  const auto goes = [&](std::int64_t to, std::int64_t source) {
    return sent_rows(source) > 0 && (algorithm_ == RingAlgorithm::allgather || sees(to, source));
  };
  RingStep exchange, compute{.sources = {{rank, kOwnRows}}};
  for (std::int64_t apart = 1; apart < ranks(); ++apart) {
    const std::int64_t to = (rank + apart) % ranks(), from = (rank - apart + ranks()) % ranks();
    if (goes(to, rank)) exchange.sends.push_back({to, rank, kOwnRows});
    if (!goes(rank, from)) continue;
    const auto buffer = static_cast<int>(exchange.receives.size());
    exchange.receives.push_back({from, from, buffer});
    if (sees(rank, from)) compute.sources.push_back({from, buffer});
  }
  return {exchange, compute};
}

std::int64_t Ring::hops(std::int64_t source) const {
  if (sent_rows(source) == 0) return 0;
  std::int64_t hop = ranks() - 1;
  while (hop > 0 && !sees((source + hop) % ranks(), source)) --hop;
  return hop;
}

// In step s the rank computes with the keys of the rank s places before it. Meanwhile it passes that shard on
// to the next rank, and the shard of the rank s + 1 places before it arrives.
std::vector<RingStep> Ring::passing_steps(std::int64_t rank) const {
  std::vector<RingStep> steps;
  for (std::int64_t s = 0; s < ranks(); ++s) {
    const std::int64_t source = (rank - s + ranks()) % ranks();
    const std::int64_t next = (source - 1 + ranks()) % ranks();
    const int buffer = s == 0 ? kOwnRows : static_cast<int>((s - 1) % 2);
    RingStep step;
    if (hops(source) > s) step.sends.push_back({(rank + 1) % ranks(), source, buffer});
    if (s + 1 < ranks() && hops(next) > s)
      step.receives.push_back({(rank - 1 + ranks()) % ranks(), next, static_cast<int>(s % 2)});
    if (s == 0 || sees(rank, source)) step.sources.push_back({source, buffer});
    steps.push_back(step);
  }
  return steps;
}

// The shards of the ranks before this one, nearest first, each in a buffer of its own: as passing_steps()
// says they are passed on, or each comes from its owner, as in gathering_steps(). Step s computes with the
// shard that is received in step s - 1.
std::vector<RingStep> Ring::persistent_steps(std::int64_t rank) const {
  const bool direct = gathers(algorithm_);
  const bool to_all = algorithm_ == RingAlgorithm::allgather;
  const auto at = [&](std::int64_t place) { return (place % ranks() + ranks()) % ranks(); };
  const auto goes = [&](std::int64_t source, std::int64_t hop) {
    if (!direct) return hops(source) >= hop;
    return sent_rows(source) > 0 && (to_all || sees(at(source + hop), source));
  };
  std::vector<RingStep> steps;
  int buffer = kOwnRows;  // of the shard that was received last
  for (std::int64_t s = 0; s < ranks(); ++s) {
    const std::int64_t source = at(rank - s), sent = direct ? rank : source;
    RingStep step;
    if (s == 0 || sees(rank, source)) step.sources.push_back({source, buffer});
    if (s + 1 < ranks() && goes(sent, s + 1))
      step.sends.push_back({at(rank + (direct ? s + 1 : 1)), sent, direct ? kOwnRows : buffer});
    if (s + 1 < ranks() && goes(at(source - 1), s + 1))
      step.receives.push_back({direct ? at(source - 1) : at(rank - 1), at(source - 1), ++buffer});
    steps.push_back(step);
  }
  return steps;
}

bool Ring::between_groups(std::int64_t rank, std::int64_t other) const {
  if (groups() == 0) return false;
  const std::int64_t size = ranks() / groups();
  return rank / size != other / size;
}

std::int64_t Ring::hops_in_group(std::int64_t source, std::int64_t group) const {
  if (sent_rows(source) == 0) return 0;
  const std::int64_t size = ranks() / groups();
  std::int64_t hop = size - 1;
  while (hop > 0 && !sees(group * size + (source + hop) % size, source)) --hop;
  return hop;
}

std::int64_t Ring::hops_of_groups(std::int64_t source) const {
  if (sent_rows(source) == 0) return 0;
  const std::int64_t size = ranks() / groups();
  const auto group_sees = [&](std::int64_t group) {
    for (std::int64_t place = 0; place < size; ++place)
      if (sees(group * size + place, source)) return true;
    return false;
  };
  std::int64_t hop = groups() - 1;
  while (hop > 0 && !group_sees((source / size + hop) % groups())) --hop;
  return hop;
}

// In round `round` the rank's group holds the shards of the group `round` places before it, and passes each
// of them around as a ring does. Meanwhile every rank sends the shard that it had first in this round to the
// rank of its place in the next group, a part in each step: so this takes as long as all steps of the round.
std::vector<RingStep> Ring::grouped_steps(std::int64_t rank) const {
  constexpr int kFromOtherGroups =
      2;  // buffers: two for shards of this round, two for the first of each round
  const std::int64_t size = ranks() / groups(), group = rank / size, place = rank % size;
  const auto at = [&](std::int64_t group_number, std::int64_t place_number) {
    return (group_number + groups()) % groups() * size + (place_number + size) % size;
  };
  std::vector<RingStep> steps;
  for (std::int64_t round = 0; round < groups(); ++round) {
    const std::int64_t first = at(group - round, place), next_first = at(group - round - 1, place);
    const int first_buffer = round == 0 ? kOwnRows : kFromOtherGroups + static_cast<int>((round - 1) % 2);
    for (std::int64_t s = 0; s < size; ++s) {
      const std::int64_t source = at(group - round, place - s), next = at(group - round, place - s - 1);
      const int buffer = s == 0 ? first_buffer : static_cast<int>((s - 1) % 2);
      RingStep step;
      if (hops_in_group(source, group) > s) step.sends.push_back({at(group, place + 1), source, buffer});
      if (s + 1 < size && hops_in_group(next, group) > s)
        step.receives.push_back({at(group, place - 1), next, static_cast<int>(s % 2)});
      if (hops_of_groups(first) > round)
        step.sends.push_back({at(group + 1, place), first, first_buffer, s, size});
      if (round + 1 < groups() && hops_of_groups(next_first) > round)
        step.receives.push_back(
            {at(group - 1, place), next_first, kFromOtherGroups + static_cast<int>(round % 2), s, size});
      if (source == rank || sees(rank, source)) step.sources.push_back({source, buffer});
      steps.push_back(step);
    }
  }
  return steps;
}

// Every rank gives to every other what it needs to compute its heads, and gets the results of its own rows
// back, a part of the heads after another: while a part is computed, the next one arrives and the results of
// the one before leave.
std::vector<RingStep> Ring::splitting_steps(std::int64_t rank) const {
  const std::int64_t parts = head_parts();
  std::vector<RingStep> steps;
  for (std::int64_t number = 0; number < parts + 2; ++number) {
    RingStep step;
    const auto exchange = [&](std::int64_t part, Payload payload) {
      if (part < 0 || part >= parts) return;
      for (std::int64_t apart = 1; apart < ranks(); ++apart) {  // in turn, as in gathering_steps()
        const std::int64_t to = (rank + apart) % ranks(), from = (rank - apart + ranks()) % ranks();
        const bool results = payload == Payload::results;
        step.sends.push_back({to, results ? to : rank, kOwnRows, part, parts, payload});
        step.receives.push_back({from, results ? rank : from, kOwnRows, part, parts, payload});
      }
    };
    exchange(number, Payload::heads);
    exchange(number - 2, Payload::results);
    if (number >= 1 && number <= parts) step.sources.push_back({rank, kOwnRows, number - 1});
    steps.push_back(std::move(step));
  }
  return steps;
}

Span Ring::moved_rows(const ShardMove& move) const {
  const std::int64_t rows = work_.batch * sent_rows(move.source);
  const auto begin_of = [&](std::int64_t part) {
    return rows / move.parts * part + std::min(part, rows % move.parts);
  };
  return {begin_of(move.part), begin_of(move.part + 1)};
}

}  // namespace hilbench
