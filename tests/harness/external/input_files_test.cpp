#include "harness/external/input_files.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "kernels/base/text/error.hpp"
#include "kernels/case/mask_blocks.hpp"

namespace hilbench {
namespace {

TEST(InputFiles, HoldTheTensorsInTheCasesDtype) {
  const Case work = {.sequence_length = 40, .pattern = {{40, 1}}, .heads = 4, .kv_heads = 2, .head_dim = 8};
  const InputTensors inputs(work, {}, 7);
  const InputFiles files(inputs, work, 1);
  const auto expect_tensor = [&](Tensor which, const SharedFile& file) {
    std::vector<float> wanted(static_cast<std::size_t>(inputs.size(which))), found(wanted.size());
    inputs.read(which, 0, wanted);
    ASSERT_EQ(file.bytes(), wanted.size() * sizeof(float));
    file.read(0, found);
    EXPECT_EQ(found, wanted);
  };
  expect_tensor(Tensor::q, files.q);
  expect_tensor(Tensor::k, files.k);
  expect_tensor(Tensor::v, files.v);
  Case half = work;
  half.dtype = Dtype::bf16;
  EXPECT_EQ(InputFiles(InputTensors(half, {}, 7), half, 1).k.bytes(), files.k.bytes() / 2);
}

TEST(InputFiles, HoldTheBlocksOfAMask) {
  Case work = {.sequence_length = 40, .pattern = {{40, 1}}, .heads = 1, .kv_heads = 1, .head_dim = 8};
  EXPECT_EQ(InputFiles(InputTensors(work, {}, 7), work, 1).mask.bytes(), 0u);
  BlockBits bits(4);
  bits.set(0, 3);
  bits.set(2, 1);
  work.mask_blocks = mask_of_bits(std::make_shared<const BlockBits>(bits), 10);
  const InputFiles files(InputTensors(work, {}, 7), work, 1);
  ASSERT_EQ(files.mask.bytes(), 16u);
  std::ifstream in(files.mask.path(), std::ios::binary);
  std::string bytes(16, '?');
  in.read(bytes.data(), 16);
  for (std::size_t i = 0; i < 16; ++i) EXPECT_EQ(bytes[i], i == 3 || i == 9 ? 1 : 0) << i;
}

TEST(InputFiles, CannotBeChangedByAProgram) {
  const Case work = {.sequence_length = 8, .pattern = {{8, 1}}, .heads = 1, .kv_heads = 1, .head_dim = 8};
  InputFiles files(InputTensors(work, {}, 7), work, 1);
  for (SharedFile* file : {&files.q, &files.k, &files.v})
    EXPECT_THROW(file->write("junk", 4), EnvironmentError);
}

}  // namespace
}  // namespace hilbench
