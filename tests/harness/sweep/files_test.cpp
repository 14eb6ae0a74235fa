#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <sstream>

#include "kernels/base/files/npy.hpp"
#include "tests/harness/sweep/sweep_text.hpp"

namespace hilbench {
namespace {

namespace fs = std::filesystem;

// A folder of its own for a test's files.
class SweepFiles : public testing::Test {
 protected:
  void SetUp() override {
    const testing::TestInfo* info = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::path(testing::TempDir()) / (std::string("hilbench_sweep_") + info->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }
  std::string load_refusal(const fs::path& file) {
    try {
      load_sweep(file);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "(accepted)";
  }
  std::string text_refusal(const std::string& text) { return load_refusal(write("a.yaml", text)); }

  fs::path folder_;
};

TEST_F(SweepFiles, FilesThatAreNoSweeps) {
  EXPECT_SAYS(load_refusal(folder_ / "none.yaml"), "no such sweep file");
  EXPECT_SAYS(load_refusal(folder_), "not a sweep file");
  EXPECT_SAYS(load_refusal("/dev/zero"), "not a sweep file");
  EXPECT_SAYS(text_refusal(""), "the file is empty");
  EXPECT_SAYS(text_refusal(std::string("\x7f"
                                       "ELF\x02\x01\x01\0\0",
                                       9)),
              "not a text file");
  EXPECT_SAYS(text_refusal(std::string((16u << 20) + 1, ' ')), "sweep file too large");
  EXPECT_SAYS(text_refusal(std::string(16u << 20, ' ')), "the file is empty");
}

TEST_F(SweepFiles, APermutationFileIsCheckedAtLoad) {
  const std::string text =
      kHead + "cases: [{sequence_length: 8}]\nvariants: [{kernel: dilated, order: file, order_file: s.npy}]";
  EXPECT_SAYS(text_refusal(text), "order_file cannot be used");
  EXPECT_SAYS(text_refusal(text), "variants[0].order_file");
  std::vector<std::int64_t> slots = {7, 6, 5, 4, 3, 2, 1, 0};
  write_npy(folder_ / "s.npy", slots);
  const Sweep sweep = load_sweep(write("a.yaml", text));
  EXPECT_EQ(sweep.variants[0].kernel().order_file, folder_ / "s.npy");
  EXPECT_NE(sweep.variants[0].kernel().order_file_hash, 0u);
  EXPECT_EQ(variant_id(sweep.variants[0]).size(), std::string("dilated/file.01234567").size());
  slots[0] = 6;
  write_npy(folder_ / "s.npy", slots);
  EXPECT_SAYS(text_refusal(text), "order_file is no bijection");
  slots[0] = 8;
  write_npy(folder_ / "s.npy", slots);
  EXPECT_SAYS(text_refusal(text), "position 0 has slot 8");
  slots = {1, 0};
  write_npy(folder_ / "s.npy", slots);
  EXPECT_SAYS(text_refusal(text), "order_file has 2 positions");
  write("s.npy", "garbage");
  EXPECT_SAYS(text_refusal(text), "not a .npy file");
  EXPECT_SAYS(text_refusal(kHead + "cases: [{}]\nvariants: [{kernel: dilated, order: file}]"),
              "order_file missing");
  EXPECT_SAYS(
      text_refusal(kHead + "cases: [{sequence_length: 2}]\nvariants: [{kernel: dilated, order_file: s.npy}]"),
      "order_file");
}

TEST_F(SweepFiles, TwoPermutationFilesHaveTwoIds) {
  write_npy(folder_ / "a.npy", std::vector<std::int64_t>{1, 0});
  write_npy(folder_ / "b.npy", std::vector<std::int64_t>{0, 1});
  const Sweep sweep =
      load_sweep(write("a.yaml", kHead + "cases: [{sequence_length: 2}]\nvariants: [{kernel: dilated, "
                                         "order: [linear, file], order_file: [a.npy, b.npy]}]"),
                 {});
  const Ids ids = variant_ids(sweep);
  ASSERT_EQ(ids.size(), 3u);
  EXPECT_EQ(ids[0], "dilated/linear");
  EXPECT_NE(ids[1], ids[2]);
}

TEST(Sweep, InputsAreAnAxis) {
  const Sweep sweep =
      parse(kHead + "axes: {heads: [1, 2], score_scale: [1, 0.5, 4, 4.0], data: [normal, equal_rows]}\n" +
            "cases: [{score_scale: 20, data: heavy_tails}]\n" + kTail);
  ASSERT_EQ(sweep.cases.size(), 13u);
  EXPECT_EQ(sweep.cases[0].work.score_scale, 1);
  EXPECT_EQ(sweep.cases[3].work.score_scale, 0.5);
  EXPECT_EQ(sweep.cases[3].work.data, DataKind::equal_rows);
  EXPECT_EQ(sweep.cases[12].work.score_scale, 20);
  EXPECT_EQ(sweep.cases[12].work.data, DataKind::heavy_tails);
  EXPECT_SAYS(axes_refusal("{score_scale: 0}"), "expects a number above 0.001 and at most 1000");
  EXPECT_SAYS(axes_refusal("{score_scale: [1, -4]}"), "a.yaml:2, axes.score_scale");
  EXPECT_SAYS(axes_refusal("{score_scale: much}"), "expects a number");
  EXPECT_SAYS(axes_refusal("{score_scale: {pow2: [1, 2]}}"), "expects a number");
  EXPECT_SAYS(axes_refusal("{data: equal}"), "normal, heavy_tails, dominating_key, equal_rows");
}

TEST(Sweep, DropoutIsAnAxis) {
  const Sweep sweep = parse(kHead + "axes: {dropout: [0, 0.125, -0], dropout_seed: [0, 4k]}\n" + kTail);
  ASSERT_EQ(sweep.cases.size(), 4u) << "-0 is 0";
  EXPECT_EQ(sweep.cases[0].work.dropout, 0);
  EXPECT_EQ(sweep.cases[3].work.dropout, 0.125);
  EXPECT_EQ(sweep.cases[3].work.dropout_seed, 4096);
  EXPECT_TRUE(
      parse("skip_when: \"dropout > 0\"\n" + kHead + "axes: {dropout: 0.125}\n" + kTail).cases[0].skipped);
  for (const char* refused : {"1", "1.5", "-0.1", "half", "{pow2: [1, 2]}"})
    EXPECT_SAYS(axes_refusal(std::string("{dropout: ") + refused + "}"),
                "expects a number from 0 to below 1");
  EXPECT_SAYS(axes_refusal("{dropout_seed: -1}"), "axes.dropout_seed");
}

TEST(Sweep, InputsMayBeTheSameInAllCases) {
  const std::string text = kHead + "axes: {heads: [1, 2]}\ncases: [{heads: 3}]\n" + kTail +
                           "inputs: {score_scale: 4, data: dominating_key}\n";
  const auto expect_all = [](const Sweep& sweep, std::size_t count, double scale) {
    EXPECT_EQ(sweep.cases.size(), count);
    for (const SweepCase& each : sweep.cases) {
      EXPECT_EQ(each.work.score_scale, scale);
      EXPECT_EQ(each.work.data, DataKind::dominating_key);
    }
  };
  expect_all(parse(text), 3, 4);
  expect_all(parse(text, {.axes = {"score_scale=9"}}), 3, 9);
  EXPECT_EQ(parse(text, {.axes = {"data=normal,equal_rows"}}).cases.size(), 6u);
  EXPECT_TRUE(parse("skip_when: \"score_scale == 4\"\n" + text).cases[0].skipped);
}

TEST(Sweep, InputsStandInOnePlace) {
  const std::string inputs = "inputs: {score_scale: 4}\n";
  EXPECT_SAYS(
      refusal(kHead + "axes: {heads: 1, score_scale: [1, 2]}\n" + kTail + inputs),
      "'score_scale' stands under inputs too (a.yaml:2, axes.score_scale): inputs give one value to all "
      "cases, at a.yaml:4");
  EXPECT_SAYS(refusal(kHead + "cases: [{heads: 1}, {score_scale: 1}]\n" + kTail + inputs),
              "'score_scale' stands under inputs too (a.yaml:2, cases[1].score_scale)");
  EXPECT_SAYS(refusal(kHead + "axes: {heads: 1}\n" + kTail + "inputs: {score_scale: [1, 4]}\n"),
              "expects one value");
  EXPECT_SAYS(refusal(kHead + "axes: {heads: 1}\n" + kTail + "inputs: {data: odd}\n"),
              "a.yaml:4, inputs.data");
  EXPECT_SAYS(refusal(kHead + kTail + inputs), "no case to measure");
  EXPECT_SAYS(refusal(kHead + "axes: {data: heavy_tails}\n" + kTail +
                      "inputs: {source: npy, q: q.npy, k: k.npy, v: v.npy}\n"),
              "the files say what the inputs are (a.yaml:4, inputs.source)");
}

TEST_F(SweepFiles, TensorFilesAreCheckedAtLoad) {
  const std::string text = kHead +
                           "cases: [{sequence_length: 4, batch: 2, heads: 2, kv_heads: 1, head_dim: 3}]\n" +
                           kTail + "inputs: {source: npy, q: q.npy, k: k.npy, v: v.npy}\n";
  std::vector<float> q(2 * 4 * 2 * 3, 0.5f), kv(2 * 4 * 1 * 3, 0.5f);
  const std::vector<std::int64_t> q_shape = {2, 4, 2, 3}, kv_shape = {2, 4, 1, 3};
  write_npy(folder_ / "q.npy", q_shape, q);
  write_npy(folder_ / "k.npy", kv_shape, kv);
  EXPECT_SAYS(text_refusal(text), "tensor cannot be used (");
  EXPECT_SAYS(text_refusal(text), "inputs.v)");
  write_npy(folder_ / "v.npy", q_shape, q);
  EXPECT_SAYS(text_refusal(text), "tensor of another shape");
  write_npy(folder_ / "v.npy", kv_shape, kv);
  const Sweep sweep = load_sweep(write("a.yaml", text));
  EXPECT_EQ(sweep.inputs.source, InputSource::npy);
  EXPECT_EQ(sweep.inputs.v, folder_ / "v.npy");
  kv[5] = std::numeric_limits<float>::quiet_NaN();
  write_npy(folder_ / "v.npy", kv_shape, kv);
  EXPECT_SAYS(text_refusal(text), "NaN in the data");
  EXPECT_SAYS(text_refusal(kHead + "cases: [{}]\n" + kTail + "inputs: {source: npy, q: q.npy, k: k.npy}"),
              "v missing");
  EXPECT_SAYS(text_refusal(kHead + "cases: [{}]\n" + kTail + "inputs: {q: q.npy}"),
              "only `source: npy` reads files");
}

std::string read_text(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

TEST(SweepFilesOfTheTree, AllLoadAndAreNamedAfterTheirFile) {
  int count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(HILBENCH_SWEEPS)) {
    if (entry.path().extension() != ".yaml") continue;
    const Sweep sweep = load_sweep(entry.path());
    EXPECT_EQ(sweep.name, entry.path().stem().string());
    EXPECT_TRUE(sweep.reference.ends_with("/linear") || sweep.reference.ends_with("/linear/head_major") ||
                sweep.reference.ends_with("/linear.aligned") || !sweep.chain.steps.empty())
        << sweep.reference;
    EXPECT_FALSE(sweep.cases.empty());
    ++count;
  }
  EXPECT_GE(count, 14);
}

TEST(SweepFilesOfTheTree, QuickHoldsWhatTheClaimsLookFor) {
  const Sweep sweep = load_sweep(HILBENCH_SWEEPS "/quick.yaml", {.device = DeviceKind::cpu});
  Ids cases;
  for (const SweepCase& each : sweep.cases) {
    EXPECT_TRUE(each.work.dtype_by_device);
    cases.push_back(case_id(each.work));
  }
  EXPECT_EQ(cases, (Ids{"n8192-w2048-r1-h8-d64-fp32-p1-cpu", "n8192-w2048.4096-r1.2-h8-d64-fp32-p1-cpu",
                        "n16384-w4096-r2-h8-d64-fp32-p1-cpu"}));
  EXPECT_EQ(variant_ids(sweep), (Ids{"dilated/linear", "dilated/hilbert", "dilated/residue", "dilated/random",
                                     "dilated/hilbert@tokens", "gemm", "cudnn", "peak"}));
  EXPECT_TRUE(sweep.counters.empty()) << "a first look is short";
  EXPECT_EQ(sweep.variants[1].kernel().order_chunk, 4096);
  EXPECT_EQ(sweep.variants[4].kernel().order_chunk, 4096);
}

TEST(SweepFuzz, MutationsParseOrAreRefused) {
  const std::string whole = read_text(HILBENCH_SWEEPS "/example.yaml");
  const std::string pieces[] = {"[",    "]",        "{",     "}",
                                ": ",   "- ",       "\n",    "  ",
                                "&a ",  "*a",       "!!x ",  "'",
                                "\"",   "|",        ">",     "#",
                                "? ",   "0",        "-1",    "99999999999999999999",
                                ".nan", "~",        "---\n", "%",
                                "\t",   ",",        "\r",    "kv_heads: 3\n",
                                "pow2", "\xc3\xa9", "\xff"};
  std::mt19937 random(20240229);
  int accepted = 0, refused = 0;
  const auto start = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - start < std::chrono::seconds(3)) {
    std::string text = whole;
    for (std::uint32_t edits = 1 + random() % 4; edits > 0; --edits) {
      const std::size_t at = random() % text.size();
      const std::string& piece = pieces[random() % std::size(pieces)];
      switch (random() % 4) {
        case 0:
          text.insert(at, piece);
          break;
        case 1:
          text.erase(at, 1 + random() % 40);
          break;
        case 2:
          text[at] = static_cast<char>(random());
          break;
        default:
          text.insert(at, text.substr(random() % text.size(), random() % 200));
      }
    }
    const auto begin = std::chrono::steady_clock::now();
    try {
      parse(text);
      ++accepted;
    } catch (const UsageError&) {
      ++refused;
    }
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    ASSERT_LT(elapsed.count(), 5.0) << text;
  }
  EXPECT_GT(accepted, 10);
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace hilbench
