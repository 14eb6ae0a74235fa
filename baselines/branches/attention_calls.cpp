#include "baselines/branches/attention_calls.hpp"

#include <algorithm>
#include <array>

#include "kernels/case/pattern.hpp"

namespace hilbench {
namespace {

// Query heads [first, first + count) read the stream of K/V head `kv_head` with offset `offset`.
struct Group {
  std::int64_t first = 0, count = 0, kv_head = 0, offset = 0;
};

std::vector<Group> groups_of(const Case& work, std::int64_t branch_index) {
  std::vector<Group> groups;
  for (std::int64_t head = 0; head < work.heads; ++head) {
    if (!head_runs_branch(work, head, branch_index)) continue;
    const std::int64_t kv_head = kv_head_of(work, head);
    if (groups.empty() || groups.back().kv_head != kv_head)
      groups.push_back({head, 0, kv_head, offset_of(work, static_cast<std::size_t>(branch_index), kv_head)});
    ++groups.back().count;
  }
  return groups;
}

// One group for each query head: the first heads of all groups, then the second ones, and so on.
std::vector<Group> single_heads(const std::vector<Group>& groups) {
  std::vector<Group> singles;
  std::int64_t most = 0;
  for (const Group& group : groups) most = std::max(most, group.count);
  for (std::int64_t member = 0; member < most; ++member)
    for (const Group& group : groups)
      if (member < group.count) singles.push_back({group.first + member, 1, group.kv_head, group.offset});
  return singles;
}

// `count` segments of one length, from `begin` on.
struct SegmentRun {
  std::int64_t begin = 0, count = 0, length = 0;
};

class Caller {
 public:
  Caller(const Case& work, const Branch& branch, RowStorage storage)
      : work_(work),
        branch_(branch),
        keys_gathered_(storage == RowStorage::gathered),
        queries_gathered_(keys_gathered_ && work.queries == Queries::dilated),
        rows_(gathered_rows(work, branch)) {}

  // The calls of `groups` for all segments of `run`. Joins neighbours in the list if their rows are a
  // fixed distance apart.
  std::vector<AttentionCall> calls(const std::vector<Group>& groups, const SegmentRun& run) const {
    std::vector<AttentionCall> joined;
    for (const Group& group : groups) {
      const AttentionCall call = call_of(group, run);
      if (call.keys == 0) continue;
      if (joined.empty() || !join(joined.back(), call)) joined.push_back(call);
    }
    std::vector<AttentionCall> calls;
    for (const AttentionCall& call : joined) add_outer(call, run, calls);
    return calls;
  }

 private:
  // One group in the first segment of the run and the first batch entry.
  AttentionCall call_of(const Group& group, const SegmentRun& run) const {
    AttentionCall call{.outer = 1, .heads = group.count, .kv_heads = 1};
    call.keys = selected_count(run.length, group.offset, branch_.dilation);
    call.queries = query_count(work_, run.length, group.offset, branch_.dilation);
    const bool dense = work_.queries == Queries::dense;
    const std::int64_t position = run.begin * branch_.segment_length, gathered = run.begin * rows_;
    call.q.row = (queries_gathered_ || dense ? 1 : branch_.dilation) * work_.heads;
    call.q.first =
        (queries_gathered_ ? gathered : position + (dense ? 0 : group.offset)) * work_.heads + group.first;
    call.q.head = 1;
    call.kv.row = (keys_gathered_ ? 1 : branch_.dilation) * work_.kv_heads;
    call.kv.first = (keys_gathered_ ? gathered : position + group.offset) * work_.kv_heads + group.kv_head;
    call.kv.head = 1;
    return call;
  }

  // Appends the one group of `next` to `call` if it continues the progression of heads.
  static bool join(AttentionCall& call, const AttentionCall& next) {
    const std::int64_t members = next.heads;  // query heads of a K/V head
    if (call.keys != next.keys || call.queries != next.queries || call.heads != call.kv_heads * members)
      return false;
    const std::int64_t q_gap = next.q.first - call.q.first - (call.kv_heads - 1) * call.q.head * members;
    const std::int64_t kv_gap = next.kv.first - call.kv.first - (call.kv_heads - 1) * call.kv.head;
    if (q_gap <= 0 || kv_gap <= 0) return false;
    if (members > 1 && q_gap != members) return false;
    const std::int64_t q_head = members > 1 ? 1 : q_gap;
    if (call.kv_heads > 1 && (q_head != call.q.head || kv_gap != call.kv.head)) return false;
    call.q.head = q_head;
    call.kv.head = kv_gap;
    call.heads += members;
    ++call.kv_heads;
    return true;
  }

  // Joins batch entries and segments into one dimension if they are a fixed distance apart; else makes a call
  // for each batch entry.
  void add_outer(AttentionCall call, const SegmentRun& run, std::vector<AttentionCall>& calls) const {
    const std::int64_t segments = segment_count(work_, branch_);
    const auto distance = [&](bool gathered, std::int64_t heads, bool of_batch) {
      if (gathered) return (of_batch ? segments : 1) * rows_ * heads;
      return (of_batch ? work_.sequence_length : branch_.segment_length) * heads;
    };
    const std::int64_t q_segment = distance(queries_gathered_, work_.heads, false),
                       kv_segment = distance(keys_gathered_, work_.kv_heads, false),
                       q_batch = distance(queries_gathered_, work_.heads, true),
                       kv_batch = distance(keys_gathered_, work_.kv_heads, true);
    const bool one_dimension = q_segment * run.count == q_batch && kv_segment * run.count == kv_batch;
    std::int64_t repeats = 1;
    if (run.count == 1) {
      call.outer = work_.batch;
      call.q.outer = q_batch;
      call.kv.outer = kv_batch;
    } else {
      call.outer = run.count * (one_dimension ? work_.batch : 1);
      call.q.outer = q_segment;
      call.kv.outer = kv_segment;
      if (!one_dimension) repeats = work_.batch;
    }
    for (std::int64_t b = 0; b < repeats; ++b) {
      calls.push_back(call);
      call.q.first += q_batch;
      call.kv.first += kv_batch;
    }
  }

  const Case& work_;
  const Branch& branch_;
  bool keys_gathered_, queries_gathered_;
  std::int64_t rows_;
};

}  // namespace

std::int64_t gathered_rows(const Case& work, const Branch& branch) {
  return selected_count(std::min(branch.segment_length, work.sequence_length), 0, branch.dilation);
}

std::vector<AttentionCall> attention_calls(const Case& work, std::int64_t branch_index, RowStorage storage) {
  const Branch& branch = work.pattern[static_cast<std::size_t>(branch_index)];
  const Caller caller(work, branch, storage);
  const std::vector<Group> groups = groups_of(work, branch_index);
  // The best sequence of heads for joining depends on offsets and groups, so all are tried.
  std::array<std::vector<Group>, 4> sequences = {groups, groups, single_heads(groups), single_heads(groups)};
  for (std::size_t i : {1, 3})
    std::stable_sort(sequences[i].begin(), sequences[i].end(),
                     [](const Group& a, const Group& b) { return a.offset < b.offset; });
  const std::int64_t full = work.sequence_length / branch.segment_length;
  const std::int64_t rest = work.sequence_length - full * branch.segment_length;
  std::vector<AttentionCall> all;
  for (const SegmentRun& run : {SegmentRun{0, full, branch.segment_length}, SegmentRun{full, 1, rest}}) {
    if (run.count == 0 || run.length == 0) continue;
    std::vector<AttentionCall> fewest = caller.calls(sequences[0], run);
    for (const std::vector<Group>& sequence : sequences) {
      std::vector<AttentionCall> calls = caller.calls(sequence, run);
      if (calls.size() < fewest.size()) fewest = std::move(calls);
    }
    all.insert(all.end(), fewest.begin(), fewest.end());
  }
  return all;
}

}  // namespace hilbench
