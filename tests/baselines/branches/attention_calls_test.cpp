#include "baselines/branches/attention_calls.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "baselines/reference.hpp"
#include "kernels/case/pattern.hpp"

namespace hilbench {
namespace {

// A row of a tensor with `heads` heads.
struct Row {
  std::int64_t batch = 0, position = 0, head = 0;
  auto operator<=>(const Row&) const = default;
};

Row in_place_row(const Case& work, std::int64_t row, std::int64_t heads) {
  return {row / heads / work.sequence_length, row / heads % work.sequence_length, row % heads};
}

Row gathered_row(const Case& work, std::size_t number, std::int64_t row, std::int64_t heads) {
  const Branch& branch = work.pattern[number];
  const std::int64_t rows = gathered_rows(work, branch), segments = segment_count(work, branch);
  const std::int64_t head = row % heads, key = row / heads % rows, segment = row / heads / rows % segments;
  const std::int64_t kv_head = heads == work.kv_heads ? head : kv_head_of(work, head);
  return {row / heads / rows / segments,
          segment * branch.segment_length + offset_of(work, number, kv_head) + key * branch.dilation, head};
}

// The calls give every query with keys exactly once, with the positions of its keys.
void expect_calls_cover(const Case& work, std::int64_t branch_index, RowStorage storage) {
  const auto branch = static_cast<std::size_t>(branch_index);
  const bool gathered_q = storage == RowStorage::gathered && work.queries == Queries::dilated;
  std::map<Row, std::vector<std::int64_t>> keys_of;
  for (const AttentionCall& call : attention_calls(work, branch_index, storage)) {
    ASSERT_EQ(call.heads % call.kv_heads, 0);
    for (std::int64_t outer = 0; outer < call.outer; ++outer)
      for (std::int64_t head = 0; head < call.heads; ++head)
        for (std::int64_t query = 0; query < call.queries; ++query) {
          const std::int64_t q_row =
              call.q.first + outer * call.q.outer + head * call.q.head + query * call.q.row;
          const Row q = gathered_q ? gathered_row(work, branch, q_row, work.heads)
                                   : in_place_row(work, q_row, work.heads);
          ASSERT_FALSE(keys_of.contains(q)) << "twice";
          std::vector<std::int64_t>& keys = keys_of[q];
          const std::int64_t visible = work.mask == Mask::causal ? std::min(call.keys, query + 1) : call.keys;
          for (std::int64_t key = 0; key < visible; ++key) {
            const std::int64_t kv_row = call.kv.first + outer * call.kv.outer +
                                        head / (call.heads / call.kv_heads) * call.kv.head +
                                        key * call.kv.row;
            const Row kv = storage == RowStorage::gathered ? gathered_row(work, branch, kv_row, work.kv_heads)
                                                           : in_place_row(work, kv_row, work.kv_heads);
            ASSERT_EQ(kv.batch, q.batch);
            ASSERT_EQ(kv.head, kv_head_of(work, q.head));
            keys.push_back(kv.position);
          }
        }
  }
  for (std::int64_t b = 0; b < work.batch; ++b)
    for (std::int64_t head = 0; head < work.heads; ++head)
      for (std::int64_t t = 0; t < work.sequence_length; ++t) {
        const std::vector<std::int64_t> keys = visible_keys(work, head, branch_index, t);
        const auto found = keys_of.find({b, t, head});
        ASSERT_EQ(found != keys_of.end(), !keys.empty()) << "batch " << b << " head " << head << " at " << t;
        if (!keys.empty()) {
          ASSERT_EQ(found->second, keys);
        }
      }
}

Case random_case(std::mt19937_64& random) {
  const auto pick = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  Case work;
  work.sequence_length = pick(1, 60);
  work.pattern.clear();
  for (std::int64_t branches = pick(1, 2); branches > 0; --branches) {
    const std::int64_t length = pick(1, 70);
    work.pattern.push_back({length, pick(1, std::min<std::int64_t>(length, 7))});
  }
  work.batch = pick(1, 3);
  work.kv_heads = pick(1, 6);
  work.heads = pick(work.kv_heads, 9);
  work.head_offset = static_cast<HeadOffset>(pick(0, 3));
  work.branch_heads = static_cast<BranchHeads>(pick(0, 1));
  work.queries = pick(0, 2) == 0 ? Queries::dense : Queries::dilated;
  work.mask = work.queries == Queries::dilated && pick(0, 1) != 0 ? Mask::causal : Mask::full;
  return work;
}

TEST(AttentionCalls, CoverEveryQueryOnceForRandomShapesAndEveryOption) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 400; ++i) {
    const Case work = random_case(random);
    SCOPED_TRACE(case_id(work));
    for (std::int64_t b = 0; b < std::ssize(work.pattern); ++b)
      for (const RowStorage storage : {RowStorage::in_place, RowStorage::gathered})
        expect_calls_cover(work, b, storage);
    if (HasFailure()) return;
  }
}

std::size_t calls_in_place(const Case& work) {
  return attention_calls(work, 0, RowStorage::in_place).size();
}

TEST(AttentionCalls, AreFew) {
  Case work{.sequence_length = 64, .pattern = {{16, 4}}, .batch = 2, .heads = 4, .kv_heads = 4};
  work.head_offset = HeadOffset::none;
  EXPECT_EQ(calls_in_place(work), 1u);
  work.head_offset = HeadOffset::modulo;  // heads 0..3 with offsets 0..3 are one progression of rows
  EXPECT_EQ(calls_in_place(work), 1u);
  work.heads = work.kv_heads = 16;  // four such progressions
  EXPECT_EQ(calls_in_place(work), 4u);
  work.pattern = {{16, 2}};  // two classes of eight heads
  EXPECT_EQ(calls_in_place(work), 2u);
  work.kv_heads = 4;  // groups of four heads share a stream; two classes
  EXPECT_EQ(calls_in_place(work), 4u);
  work.sequence_length = 72;  // a short last segment, and batch entries that no segment stride reaches
  work.head_offset = HeadOffset::none;
  EXPECT_EQ(calls_in_place(work), 3u);
}

TEST(AttentionCalls, GatherWholeSegmentsInOneCall) {
  Case work{.sequence_length = 64, .pattern = {{16, 4}}, .batch = 2, .heads = 6, .kv_heads = 3};
  const std::vector<AttentionCall> calls = attention_calls(work, 0, RowStorage::gathered);
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0], (AttentionCall{.outer = 8,
                                     .heads = 6,
                                     .kv_heads = 3,
                                     .queries = 4,
                                     .keys = 4,
                                     .q = {0, 4 * 6, 1, 6},
                                     .kv = {0, 4 * 3, 1, 3}}));
}

}  // namespace
}  // namespace hilbench
