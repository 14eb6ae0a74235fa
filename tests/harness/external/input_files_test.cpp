#include "harness/external/input_files.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "kernels/base/text/error.hpp"
#include "kernels/case/mask_blocks.hpp"

namespace hilbench {
namespace {

InputFileSets sets_of(const Case& work, const InputTensors& inputs) {
  return {[&inputs](InputSet) -> const InputTensors& { return inputs; }, {}, work, 1};
}

TEST(InputFiles, HoldTheTensorsInTheCasesDtype) {
  const Case work = {.sequence_length = 40, .pattern = {{40, 1}}, .heads = 4, .kv_heads = 2, .head_dim = 8};
  const InputTensors inputs(work, {}, 7);
  const InputFiles files = sets_of(work, inputs).of(InputSet::first);
  const auto expect_tensor = [&](Tensor which, const SharedFile& file) {
    std::vector<float> wanted(static_cast<std::size_t>(inputs.size(which))), found(wanted.size());
    inputs.read(which, 0, wanted);
    ASSERT_EQ(file.bytes(), wanted.size() * sizeof(float));
    file.read(0, found);
    EXPECT_EQ(found, wanted);
  };
  expect_tensor(Tensor::q, *files.q);
  expect_tensor(Tensor::k, *files.k);
  expect_tensor(Tensor::v, *files.v);
  Case half = work;
  half.dtype = Dtype::bf16;
  const InputTensors halves(half, {}, 7);
  EXPECT_EQ(sets_of(half, halves).of(InputSet::first).k->bytes(), files.k->bytes() / 2);
}

std::string contents(const SharedFile& file) {
  std::ifstream in(file.path(), std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(InputFiles, SetsShareWhatTheyHaveInCommon) {
  for (const Dtype dtype : {Dtype::fp32, Dtype::bf16}) {
    Case work = {.sequence_length = 40, .pattern = {{40, 1}}, .heads = 4, .kv_heads = 2, .head_dim = 8};
    work.dtype = dtype;
    const InputTensors inputs(work, {}, 7);
    InputFileSets sets = sets_of(work, inputs);
    const InputFiles second = sets.of(InputSet::second), negated = sets.of(InputSet::negated);
    EXPECT_EQ(sets.of(InputSet::second).v, second.v) << "written once";
    EXPECT_EQ(negated.q, second.q);
    EXPECT_EQ(negated.k, second.k);
    EXPECT_EQ(sets.of(InputSet::key_probe).k, sets.of(InputSet::first).k);
    std::string wanted = contents(*second.v);
    const std::size_t width = dtype == Dtype::fp32 ? 4 : 2;
    for (std::size_t last = width - 1; last < wanted.size(); last += width)
      wanted[last] = static_cast<char>(wanted[last] ^ 0x80);
    EXPECT_EQ(contents(*negated.v), wanted);
  }
  using Names = std::vector<std::string>;
  Case work;
  EXPECT_EQ(changed_inputs(work, InputSet::second, InputSet::negated), Names{"v"});
  EXPECT_EQ(changed_inputs(work, InputSet::first, InputSet::key_probe), (Names{"q", "v"}));
  EXPECT_EQ(changed_inputs(work, InputSet::key_probe, InputSet::second).size(), 3u);
  EXPECT_TRUE(changed_inputs(work, InputSet::first, InputSet::first).empty());
  work.pass = Pass::backward;
  EXPECT_EQ(changed_inputs(work, InputSet::second, InputSet::negated), Names{"d_o"});
  EXPECT_EQ(changed_inputs(work, InputSet::first, InputSet::key_probe).size(), 6u);
}

TEST(InputFiles, PutKeysWhereAnOrderStoresThem) {
  Case work = {.sequence_length = 3, .pattern = {{3, 1}}, .heads = 2, .kv_heads = 1, .head_dim = 8};
  work.batch = 2;
  const InputTensors inputs(work, {}, 7);
  InputFileSets sets = sets_of(work, inputs);
  const StoredOrder order = {.key = "turned", .slots = {2, 0, 1}};
  const InputFiles files = sets.of(InputSet::second, order), linear = sets.of(InputSet::second);
  EXPECT_EQ(files.q, linear.q) << "queries stay";
  const std::size_t row = 8 * sizeof(float);
  for (const auto& [stored, by_position] : {std::pair{files.k, linear.k}, {files.v, linear.v}}) {
    const std::string found = contents(*stored), wanted = contents(*by_position);
    ASSERT_EQ(found.size(), 6 * row);
    for (std::size_t batch = 0; batch < 2; ++batch)
      for (std::size_t position = 0; position < 3; ++position)
        EXPECT_EQ(found.substr((3 * batch + static_cast<std::size_t>(order.slots[position])) * row, row),
                  wanted.substr((3 * batch + position) * row, row));
  }
  EXPECT_EQ(sets.of(InputSet::negated, order).k, files.k);
  EXPECT_NE(contents(*sets.of(InputSet::negated, order).v), contents(*files.v));
}

TEST(InputFiles, HoldTheBlocksOfAMask) {
  Case work = {.sequence_length = 40, .pattern = {{40, 1}}, .heads = 1, .kv_heads = 1, .head_dim = 8};
  EXPECT_FALSE(sets_of(work, InputTensors(work, {}, 7)).of(InputSet::first).mask);
  BlockBits bits(4);
  bits.set(0, 3);
  bits.set(2, 1);
  work.mask_blocks = mask_of_bits(std::make_shared<const BlockBits>(bits), 10);
  const InputTensors inputs(work, {}, 7);
  const InputFiles files = sets_of(work, inputs).of(InputSet::first);
  ASSERT_EQ(files.mask->bytes(), 16u);
  std::ifstream in(files.mask->path(), std::ios::binary);
  std::string bytes(16, '?');
  in.read(bytes.data(), 16);
  for (std::size_t i = 0; i < 16; ++i) EXPECT_EQ(bytes[i], i == 3 || i == 9 ? 1 : 0) << i;
}

TEST(InputFiles, CannotBeChangedByAProgram) {
  const Case work = {.sequence_length = 8, .pattern = {{8, 1}}, .heads = 1, .kv_heads = 1, .head_dim = 8};
  const InputTensors inputs(work, {}, 7);
  const InputFiles files = sets_of(work, inputs).of(InputSet::first);
  for (const auto& file : {files.q, files.k, files.v})
    EXPECT_FALSE(std::ofstream(file->path(), std::ios::binary | std::ios::in).write("junk", 4).flush());
}

}  // namespace
}  // namespace hilbench
