// `mask` and `mask_block` in sweep files.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "harness/sweep/embedded.hpp"
#include "kernels/case/mask_blocks.hpp"
#include "tests/harness/sweep/sweep_text.hpp"

namespace hilbench {
namespace {

namespace fs = std::filesystem;

std::string npy(const std::string& descr, const std::string& shape, const std::string& data,
                const std::string& fortran = "False") {
  const std::string dict =
      "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }\n";
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(dict.size()) + '\0' + dict + data;
}

// Rows of '#' and '.'.
std::string npy_of(const std::string& cells) {
  std::string data;
  for (const char cell : cells) data += cell == '#' ? '\x01' : '\x00';
  const auto side = static_cast<int>(std::lround(std::sqrt(static_cast<double>(cells.size()))));
  const std::string text = std::to_string(side);
  return npy("|b1", "(" + text + ", " + text + ")", data);
}

class SweepMasks : public testing::Test {
 protected:
  void SetUp() override {
    const testing::TestInfo* info = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::path(testing::TempDir()) / (std::string("hilbench_masks_") + info->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    write("a.npy", npy_of("##..###.#"));
    write("b.npy", npy_of("###.##..#"));
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& bytes) {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
  }
  Sweep sweep_of(const std::string& cases, const SweepOverrides& overrides = {}) {
    return parse_sweep(kHead + cases + "\n" + kTail, folder_ / "a.yaml", overrides);
  }
  std::string refusal_of(const std::string& cases, const SweepOverrides& overrides = {}) {
    try {
      sweep_of(cases, overrides);
    } catch (const UsageError& error) {
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
      return error.what();
    }
    return "(accepted)";
  }
  std::string axes_refusal(const std::string& axes) { return refusal_of("axes: {" + axes + "}"); }
  std::string mask_refusal(const std::string& bytes) {
    write("c.npy", bytes);
    return axes_refusal("mask: c.npy");
  }

  fs::path folder_;
};

TEST_F(SweepMasks, GiveTheLengthUnlessItIsGiven) {
  const Sweep sweep =
      sweep_of("cases: [{mask: a.npy}, {mask: a.npy, mask_block: 1k}, {mask: b.npy, sequence_length: 130}]");
  ASSERT_EQ(sweep.cases.size(), 3u);
  EXPECT_EQ(sweep.cases[0].work.sequence_length, 192);
  EXPECT_EQ(sweep.cases[0].work.mask_blocks.block, 64);
  EXPECT_TRUE(bits_of(sweep.cases[0].work).selects(0, 1));
  EXPECT_FALSE(bits_of(sweep.cases[0].work).selects(0, 2));
  EXPECT_EQ(sweep.cases[1].work.sequence_length, 3072);
  EXPECT_EQ(sweep.cases[2].work.sequence_length, 130);
  EXPECT_EQ(sweep.cases[2].work.pattern, (std::vector<Branch>{{130, 1}}));
}

TEST_F(SweepMasks, Multiply) {
  EXPECT_EQ(
      sweep_of("axes: {mask: [a.npy, b.npy], mask_block: [16, 32], causal: [false, true]}").cases.size(), 8u);
  EXPECT_EQ(sweep_of("axes: {mask: [a.npy, ./a.npy]}").cases.size(), 1u) << "the same blocks";
  EXPECT_EQ(sweep_of("axes: {mask: a.npy, grid: [[6, 32], [3, 64]]}").cases.size(), 2u);
  const Sweep grid = sweep_of("cases: [{mask: a.npy, grid: [12, 16]}]");
  EXPECT_EQ(grid.cases[0].work.sequence_length, 192);
  EXPECT_EQ(grid.cases[0].work.windows, (std::vector<WindowDimension>{{.extent = 12}, {.extent = 16}}));
}

TEST_F(SweepMasks, TheCommandLineReplacesThem) {
  const std::string cases = "cases: [{mask: a.npy, mask_block: 16}]";
  EXPECT_EQ(sweep_of(cases, {.axes = {"mask=a.npy,b.npy"}}).cases.size(), 2u);
  EXPECT_EQ(sweep_of(cases, {.axes = {"mask_block=8,32"}}).cases[1].work.sequence_length, 96);
  EXPECT_SAYS(refusal_of(cases, {.axes = {"segments=8.16"}}), "branches and windows do not mix in one case");
  EXPECT_SAYS(refusal_of(cases, {.axes = {"window=3x3"}}), "mask and window");
}

TEST_F(SweepMasks, AChangedFileIsAnotherCase) {
  const std::string before = case_id(sweep_of("axes: {mask: a.npy, device: cpu}").cases[0].work);
  write("a.npy", npy_of("##..####."));
  EXPECT_NE(case_id(sweep_of("axes: {mask: a.npy, device: cpu}").cases[0].work), before);
}

TEST_F(SweepMasks, RefuseWhatIsNoMask) {
  EXPECT_SAYS(axes_refusal("mask: none.npy"), "a.yaml:2, axes.mask): no such file");
  EXPECT_SAYS(axes_refusal("mask: none.npy"), "mask cannot be used");
  EXPECT_SAYS(mask_refusal("hello"), "not a .npy file");
  EXPECT_SAYS(mask_refusal(npy("<f4", "(1, 1)", "abcd")), "dtype '<f4' where booleans are wanted");
  EXPECT_SAYS(mask_refusal(npy("|u1", "(1, 1)", "a")), "save it with a.astype(bool)");
  EXPECT_SAYS(mask_refusal(npy("|b1", "(4,)", std::string(4, '\1'))), "two dimensions");
  EXPECT_SAYS(mask_refusal(npy("|b1", "(2, 3)", std::string(6, '\1'))), "mask of shape (2, 3)");
  EXPECT_SAYS(mask_refusal(npy("|b1", "(0, 0)", "")), "mask of shape (0, 0)");
  EXPECT_SAYS(mask_refusal(npy("|b1", "(2, 2)", "\1\1\1")), "truncated .npy file");
  EXPECT_SAYS(mask_refusal(npy("|b1", "(2, 2)", "\1\1\1\7")), "byte 7 in booleans");
  EXPECT_SAYS(mask_refusal(npy("|b1", "(40000, 40000)", "")), "truncated");
  EXPECT_SAYS(mask_refusal(npy_of("....")), "the mask leaves every query without a key");
  EXPECT_EQ(mask_refusal(npy("|b1", "(2, 2)", "\1\1\1\1", "True")), "(accepted)");
}

TEST_F(SweepMasks, RefuseWhatDoesNotFit) {
  EXPECT_SAYS(axes_refusal("mask_block: 64"), "mask missing");
  EXPECT_SAYS(axes_refusal("mask: a.npy, sequence_length: 193"), "193 positions in blocks of 64 have 4");
  EXPECT_SAYS(axes_refusal("mask: a.npy, sequence_length: 128"), "128 positions in blocks of 64 have 2");
  EXPECT_SAYS(axes_refusal("mask: a.npy, grid: [16, 16]"), "256 positions in blocks of 64 have 4");
  EXPECT_SAYS(axes_refusal("mask: a.npy, grid: [12, 16], sequence_length: 190"), "is not that of the grid");
  EXPECT_SAYS(axes_refusal("mask: a.npy, mask_block: 0"), "axes.mask_block");
  EXPECT_SAYS(axes_refusal("mask: a.npy, mask_block: 2M"), "axes.mask_block");
  EXPECT_SAYS(axes_refusal("mask: a.npy, grid: [12, 16], window: [3, 3]"), "mask and window");
  EXPECT_SAYS(axes_refusal("mask: a.npy, edges: cut"), "edges: cut is for windows on a grid");
  EXPECT_SAYS(axes_refusal("mask: a.npy, segments: [64]"), "branches and windows do not mix");
  EXPECT_SAYS(axes_refusal("mask: a.npy, queries: dense"), "the case has a mask");
  EXPECT_SAYS(refusal_of("cases: [{mask: [a.npy, b.npy]}]"), "mask expects one value");
}

TEST_F(SweepMasks, ConditionsKnowThem) {
  const std::string skipped = "\nskip_when: mask_block > 16 and grid == 12";
  EXPECT_TRUE(sweep_of("cases: [{mask: a.npy, grid: [12, 16]}]" + skipped).cases[0].skipped);
  EXPECT_FALSE(sweep_of("cases: [{mask: a.npy}]" + skipped).cases[0].skipped);
  EXPECT_FALSE(sweep_of("cases: [{mask: a.npy, grid: [12, 16]}]\nskip_when: window >= 0 or branches > 0")
                   .cases[0]
                   .skipped);
}

// A sweep of this program reads the masks that the program holds, in any folder.
TEST(EmbeddedMasks, AreThoseOfTheirSweeps) {
  const EmbeddedSweep* points = find_embedded_sweep("points");
  ASSERT_NE(points, nullptr);
  const Sweep held = parse_embedded(*points);
  EXPECT_EQ(held.file, "points");
  const Sweep file = load_sweep(HILBENCH_SWEEPS "/windows/points.yaml");
  ASSERT_EQ(held.cases.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(held.cases[i].work, file.cases[i].work);
  EXPECT_NE(held.cases[0].work, held.cases[1].work);
  const EmbeddedSweep elsewhere{.file = "sweeps/cache/points.yaml", .text = points->text};
  EXPECT_THROW(parse_embedded(elsewhere), UsageError);
  for (const EmbeddedMask& mask : embedded_masks()) EXPECT_EQ(mask.bytes.substr(1, 5), "NUMPY") << mask.file;
}

}  // namespace
}  // namespace hilbench
